/** Runs the hooks of one phase in one node: later hooks see the changes of earlier ones. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { END, Overwrite } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { sendWrites, type TaskConfig, type Write } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import { endRun, routePending, routeTurn } from "../approval/turn.ts";
import { harnessCalls } from "../calls/gateway.ts";
import { isTurnReturned } from "../calls/return-direct.ts";
import { FilesChannel } from "../contract/files-channel.ts";
import { giveHarnessCalls, type HarnessCalls } from "../contract/harness-calls.ts";
import {
  goTo,
  type HookGroup,
  type HookPhase,
  type Loop,
  MODEL_NODE,
  readMessages,
  turnNode,
} from "../contract/loop.ts";
import { lastTurn, type Messages } from "../messages/messages.ts";
import { keepProblems } from "../messages/reply.ts";
import { missingResults } from "../messages/request.ts";
import { withFinalOutcome } from "../task/final-outcome.ts";
import { runtimeFor } from "../task/runtime.ts";
import { StateDraft } from "../task/state-draft.ts";
import { updateWrites } from "../task/updates.ts";

type Hook = (state: Record<string, unknown>, runtime: unknown) => unknown;
type JumpTarget = "model" | "tools" | "end";

/** Returns the updates for listeners of the node. Nothing is written unless all hooks succeed. */
export async function runHookGroup(
  loop: Loop,
  group: HookGroup,
  config: TaskConfig,
): Promise<Record<string, unknown>> {
  if (group.phase === "afterAgent" && !isTurnReturned(loop, readMessages(config))) return {};
  const draft = new StateDraft(loop, config);
  const seen: Record<string, unknown> = {};
  let route: Write[] | undefined;
  for (const middleware of group.middleware) {
    const state = draft.snapshot();
    const result = await callHook(loop, group.phase, middleware, state, config);
    if (result === undefined) continue;
    const { jumpTo, ...update } = changesIn(result, state);
    const writes = updateWrites(loop, { ...update, ...givenBack(loop, result, state) });
    if (group.phase === "afterModel") keepReasons(draft.messages(), writes);
    draft.apply(writes);
    Object.assign(seen, update);
    if (jumpTo === undefined || jumpTo === null) continue;
    route = jump(loop, group.phase, middleware, jumpTo, draft);
    break;
  }
  const writes = [...draft.writes, ...(route ?? nextAfterHooks(loop, group, draft))];
  sendWrites(config, withFinalOutcome(loop, config, writes));
  return seen;
}

async function callHook(
  loop: Loop,
  phase: HookPhase,
  middleware: AgentMiddleware,
  state: Record<string, unknown>,
  config: TaskConfig,
): Promise<Record<string, unknown> | undefined> {
  const definition = middleware[phase] as Hook | { hook: Hook };
  const hook = typeof definition === "function" ? definition : definition.hook;
  const runtime = runtimeFor(middleware, config);
  if (phase === "afterAgent") giveHarnessCalls(runtime, callsAtEnd(loop, config));
  const result = await hook(state, runtime);
  if (result === undefined || result === null) return undefined;
  if (typeof result === "object" && !Array.isArray(result)) return result as Record<string, unknown>;
  throw new DeepwrightError(
    "INVALID_MIDDLEWARE_RESULT",
    `The hook '${phase}' of middleware '${middleware.name}' must return an object of updates or nothing.`,
  );
}

/** Nothing of the run is under way any more: these calls belong to no call of the model. */
function callsAtEnd(loop: Loop, config: TaskConfig): HarnessCalls {
  const turn = lastTurn(readMessages(config))?.message ?? new AIMessage("");
  const call = { name: "", args: {}, id: `end-${turn.id}` };
  return harnessCalls({ loop, config, call, turn, extraTools: undefined }, config, false);
}

/** A hook that rewrites the reply must not make a call runnable that is not. */
function keepReasons(messages: Messages, writes: readonly Write[]): void {
  const reply = lastTurn(messages)?.message;
  if (reply === undefined) return;
  for (const [key, value] of writes)
    if (key === "messages" && Array.isArray(value))
      for (const message of value as BaseMessage[])
        if (message !== reply && message.id === reply.id && AIMessage.isInstance(message))
          keepProblems(reply, message);
}

/**
 * A hook may return the whole state with its changes. Unchanged values are left out, because a reducer would add them
 * again.
 */
function changesIn(result: Record<string, unknown>, state: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(state);
  const same = (key: string): boolean => Object.hasOwn(result, key) && result[key] === state[key];
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
  const spread =
    keys.every((key) => Object.hasOwn(result, key)) && keys.some((key) => isObject(state[key]) && same(key));
  return Object.fromEntries(
    Object.entries(result).filter(([key, value]) => !same(key) || !(spread || isObject(value))),
  );
}

/**
 * Handles a hook that returns the messages or the files of the state itself, after editing them in place. They replace
 * the stored value, because a reducer would not see the difference.
 */
function givenBack(
  loop: Loop,
  result: Record<string, unknown>,
  state: Record<string, unknown>,
): Record<string, unknown> {
  const keys = Object.keys(state);
  if (result === state || (keys.length > 1 && keys.every((key) => Object.hasOwn(result, key)))) return {};
  const ours = keys.filter((key) => key === "messages" || loop.state.channels[key] instanceof FilesChannel);
  const same = ours.filter((key) => Object.hasOwn(result, key) && result[key] === state[key]);
  return Object.fromEntries(same.map((key) => [key, new Overwrite(result[key])]));
}

export function nextAfterHooks(loop: Loop, group: HookGroup, draft: StateDraft): Write[] {
  const groups = loop.hooks[group.phase];
  const following = groups[groups.indexOf(group) + 1];
  if (following) return goTo(following.node);
  if (group.phase === "beforeAgent") return goTo(turnNode(loop));
  if (group.phase === "beforeModel") return goTo(MODEL_NODE);
  if (group.phase === "afterModel")
    return routeTurn(loop, draft.messages(), draft.read("structuredResponse"));
  return [];
}

/** `model` begins a new turn (with its beforeModel hooks), `tools` runs the unanswered calls, `end` ends the run. */
function jump(
  loop: Loop,
  phase: HookPhase,
  middleware: AgentMiddleware,
  target: unknown,
  draft: StateDraft,
): Write[] {
  const place = jumpTarget(target);
  const definition = middleware[phase] as { canJumpTo?: unknown[] } | Hook;
  const allowed = (typeof definition === "function" ? [] : (definition.canJumpTo ?? [])).map(jumpTarget);
  if (place === undefined || !allowed.includes(place))
    throw new DeepwrightError(
      "INVALID_JUMP",
      `The hook '${phase}' of middleware '${middleware.name}' may not jump to '${String(target)}'.`,
      { hint: `It declares canJumpTo: [${allowed.join(", ")}].` },
    );
  const messages = draft.messages();
  if (place === "tools") return routePending(loop, messages);
  if (place === "end") return phase === "afterAgent" ? [] : endRun(loop, lastTurn(messages)?.message);
  const closed = missingResults(messages, () => PASSED_OVER);
  const next = goTo(phase === "beforeModel" ? MODEL_NODE : turnNode(loop));
  return closed.length > 0 ? [["messages", closed], ...next] : next;
}

const PASSED_OVER = "Tool call was cancelled: the turn was ended before it. It did not run.";

function jumpTarget(target: unknown): JumpTarget | undefined {
  if (target === "model" || target === MODEL_NODE) return "model";
  if (target === "tools") return "tools";
  if (target === "end" || target === END) return "end";
  return undefined;
}

/**
 * Hooks of a phase share a node. A middleware whose hook may interrupt gets a node of its own: a resume runs a node
 * again from its start, and the hooks before it must not run twice.
 */
export function hookGroups(
  phase: HookPhase,
  node: string,
  middleware: readonly AgentMiddleware[],
): readonly HookGroup[] {
  const ordered = middleware.filter((m) => m[phase] !== undefined);
  if (phase === "afterModel" || phase === "afterAgent") ordered.reverse();
  const groups: AgentMiddleware[][] = [];
  let open = false;
  for (const m of ordered) {
    const alone = mayInterrupt(m);
    if (alone || !open) groups.push([]);
    groups.at(-1)?.push(m);
    open = !alone;
  }
  return groups.map((members, i) => ({
    node: i === 0 ? node : `${node}_${i + 1}`,
    phase,
    middleware: members,
  }));
}

function mayInterrupt(middleware: AgentMiddleware): boolean {
  return (
    /human.?in.?the.?loop/i.test(middleware.name) ||
    (middleware as { interrupts?: boolean }).interrupts === true
  );
}
