/**
 * The one gate that every tool call passes: abort → slot → deadline → middleware → permit → claim → execute → one
 * result.
 *
 * Each call gets exactly one ToolMessage. Only five things leave as errors: a request to stop (abort), control flow of
 * the graph (interrupts, commands to a parent), a lost claim on the thread, a fault of a middleware itself, and a
 * mistake of the caller that shows in a child.
 */
import { type AIMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";
import type { ClientTool } from "@langchain/core/tools";
import { type Command, isGraphBubbleUp } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { approvedConfig, withoutApproval } from "../../backends/approved-call.ts";
import { holdWrites, sendWrites, setTaskInput, type TaskConfig, type Write } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import { asksEveryTime } from "../approval/approval-need.ts";
import { permitCall } from "../approval/call-permit.ts";
import { holdWorkspace } from "../approval/hold-workspace.ts";
import type { CallPass } from "../approval/turn.ts";
import { APPROVALS, agentPathOf, sharingApprovals } from "../approval-rules/approval-memory.ts";
import { callShape } from "../approval-rules/call-shape.ts";
import { giveHarnessCalls, type HarnessCalls } from "../contract/harness-calls.ts";
import { asksPeople, type Loop, stateView } from "../contract/loop.ts";
import { isExcluded } from "../contract/tool-shape.ts";
import { isCallersMistake } from "../failures/caller-mistake.ts";
import { failureWords } from "../failures/failure-words.ts";
import { failedResult } from "../messages/request.ts";
import { isRunnable } from "../model/model-call.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import { argumentsWithoutNulls } from "../providers/strict-tools.ts";
import { checkClaim, throwIfClaimLost } from "../task/claim.ts";
import { observedCall } from "../task/run-observer.ts";
import { runtimeFor } from "../task/runtime.ts";
import { isAnyCommand } from "../task/updates.ts";
import { Semaphore, TimedOut, withDeadline } from "./limits.ts";

export interface GateCall {
  readonly loop: Loop;
  readonly config: TaskConfig;
  readonly call: ToolCall & { readonly id: string };
  readonly turn: AIMessage;
  /** The word of the approval node, if the call came by it. */
  readonly pass?: CallPass | undefined;
  /** Tools offered for this turn only. */
  readonly extraTools: ReadonlyMap<string, AnyTool> | undefined;
  /** The call runs inside another one, which holds the workspace for it. */
  readonly isInside?: boolean;
}

export type GateResult = ToolMessage | Command;

interface ToolRequest {
  toolCall: ToolCall;
  tool: AnyTool | undefined;
  state: Record<string, unknown>;
  runtime: unknown;
}

type Handler = (request: ToolRequest) => Promise<GateResult>;

/** Errors thrown by the tool itself, not by the middleware around it. */
class ToolFailures {
  private readonly thrown: { readonly error: unknown; readonly tool: ToolLike; readonly args: unknown }[] =
    [];

  add(error: unknown, tool: ToolLike, args: unknown): void {
    this.thrown.push({ error, tool, args });
  }

  /** Also found when a middleware wrapped the tool's error into one of its own. */
  find(error: unknown): (typeof this.thrown)[number] | undefined {
    for (let candidate: unknown = error, depth = 0; depth < 8; depth += 1) {
      const match = this.thrown.findLast((entry) => Object.is(entry.error, candidate));
      if (match) return match;
      if (!(candidate instanceof Error) || candidate.cause === undefined) return undefined;
      candidate = candidate.cause;
    }
    return undefined;
  }
}

interface ToolLike {
  readonly name: string;
  readonly schema?: unknown;
}

export async function passGate(gate: GateCall): Promise<GateResult> {
  const { loop, config, call, turn } = gate;
  config.signal?.throwIfAborted();
  const slots = slotsOf(turn, loop.concurrencyOf(call.name));
  return slots.run(() => passWithSlot(gate));
}

async function passWithSlot(gate: GateCall): Promise<GateResult> {
  const { loop, config, call, turn } = gate;
  config.signal?.throwIfAborted();
  await checkClaim(config);
  const effects = new HeldWrites();
  const shared = asksPeople(loop)
    ? sharingApprovals(config, asksEveryTime(loop, call.name, config))
    : undefined;
  const failures = new ToolFailures();
  const isKnown = findTool(gate) !== undefined;
  const result = await observedCall({ call, isKnown }, shared?.config ?? config, (own) => {
    // The enclosing approval covers the call that started this run, not the calls inside it.
    const scoped = holdWrites(withoutApproval(own), (writes) => effects.add(writes));
    return withDeadline(loop.timeoutOf(call.name), signalFor(config, turn), (signal) =>
      throughMiddleware(gate, { ...scoped, signal } as TaskConfig, failures),
    );
  }).catch((error) => recover(error, gate, failures));
  throwIfClaimLost(config);
  const approvals = shared?.added() ?? [];
  if (approvals.length > 0) sendWrites(config, [[APPROVALS, { remembered: approvals }]]);
  sendWrites(config, effects.close());
  return result;
}

/** Calls of the harness for a call of the model: in its slot, one after the other. */
export function harnessCalls(gate: GateCall, config: TaskConfig, isApproved: boolean): HarnessCalls {
  const { loop, extraTools } = gate;
  const toolNamed = (name: string): AnyTool | undefined =>
    extraTools?.get(name) ?? loop.clientTools.get(name);
  let count = 0;
  return {
    isApproved,
    toolNamed,
    call: async (name, args) => {
      count += 1;
      const call = { name, args, id: `${gate.call.id}-${count}`, type: "tool_call" as const };
      const shape = callShape(agentPathOf(config), call, toolNamed(name)).id;
      const pass = isApproved ? { shape, approved: true } : undefined;
      const result = await passWithSlot({ ...gate, config, call, pass });
      if (ToolMessage.isInstance(result)) return result;
      return failedResult(call, `Error: ${name} gave no result that can be read here.`);
    },
  };
}

/**
 * State changes of a tool while it runs. They reach the state together with the result, and not at all when the run
 * stops here. Changes after the end of the call are dropped.
 */
class HeldWrites {
  private readonly writes: Write[] = [];
  private open = true;

  add(writes: readonly Write[]): void {
    if (this.open) this.writes.push(...writes);
  }

  close(): readonly Write[] {
    this.open = false;
    return this.writes;
  }
}

const MANY_CALLS = 8;

/** Many tools listening to one signal make Node warn of a leak; in a large turn each gets its own. */
function signalFor(config: TaskConfig, turn: AIMessage): AbortSignal | undefined {
  if (config.signal === undefined || (turn.tool_calls ?? []).length <= MANY_CALLS) return config.signal;
  return AbortSignal.any([config.signal]);
}

const slots = new WeakMap<AIMessage, Map<string, Semaphore>>();

function slotsOf(turn: AIMessage, { group, limit }: ReturnType<Loop["concurrencyOf"]>): Semaphore {
  const byGroup = slots.get(turn) ?? new Map<string, Semaphore>();
  slots.set(turn, byGroup);
  const semaphore = byGroup.get(group) ?? new Semaphore(limit);
  byGroup.set(group, semaphore);
  return semaphore;
}

function recover(error: unknown, gate: GateCall, failures: ToolFailures): ToolMessage {
  // LangGraph's own test fails on null, which a tool may throw.
  if ((error !== null && isGraphBubbleUp(error)) || gate.config.signal?.aborted) throw error;
  if (error instanceof TimedOut)
    return failedResult(gate.call, `Error: Tool '${gate.call.name}' ${error.message} and was stopped.`);
  const failure = failures.find(error);
  if (failure === undefined || isCallersMistake(failure.error)) throw error;
  return failedResult(gate.call, failureWords(failure.error, failure.tool, failure.args));
}

async function throughMiddleware(
  gate: GateCall,
  config: TaskConfig,
  failures: ToolFailures,
): Promise<GateResult> {
  const { loop, call } = gate;
  const state = stateView(loop, config);
  setTaskInput(config, state);
  const request: ToolRequest = { toolCall: call, tool: findTool(gate), state, runtime: undefined };
  let handler: Handler = (final) => execute(gate, config, final, failures);
  for (const middleware of loop.toolWrappers.toReversed()) handler = wrap(middleware, config, handler);
  return handler(request);
}

function wrap(middleware: AgentMiddleware, config: TaskConfig, inner: Handler): Handler {
  const hook = middleware.wrapToolCall as unknown as (request: ToolRequest, handler: Handler) => unknown;
  return async (request) => {
    const result = await hook({ ...request, runtime: runtimeFor(middleware, config) }, inner);
    if (ToolMessage.isInstance(result) || isAnyCommand(result)) return result as GateResult;
    throw new DeepwrightError(
      "INVALID_MIDDLEWARE_RESULT",
      `The wrapToolCall of middleware '${middleware.name}' must return a ToolMessage or a Command.`,
    );
  };
}

function findTool({ loop, call, extraTools }: GateCall): ClientTool | undefined {
  return (extraTools?.get(call.name) ?? loop.clientTools.get(call.name)) as ClientTool | undefined;
}

async function execute(
  gate: GateCall,
  config: TaskConfig,
  request: ToolRequest,
  failures: ToolFailures,
): Promise<GateResult> {
  const { name } = request.toolCall;
  const tool = request.tool ?? findTool({ ...gate, call: request.toolCall as GateCall["call"] });
  if (tool === undefined || !isRunnable(tool) || isHidden(gate, tool, name))
    return failedResult(request.toolCall, unknownTool(gate, name));
  const runnable = tool as ClientTool & ToolLike;
  const permit = asksPeople(gate.loop)
    ? await permitCall({ ...gate, config, toolCall: request.toolCall, tool })
    : { toolCall: request.toolCall, approved: false as const };
  if ("refusal" in permit) return failedResult(gate.call, permit.refusal);
  const { toolCall } = permit;
  const own = permit.approved ? approved(config, gate.call.id, permit.places) : config;
  await checkClaim(config);
  const held = gate.isInside
    ? { release: () => {} }
    : await holdWorkspace(gate.loop, runnable, permit, config);
  if ("refusal" in held) return failedResult(gate.call, held.refusal);
  giveHarnessCalls(own, harnessCalls({ ...gate, isInside: true }, own, permit.approved));
  try {
    const args = argumentsWithoutNulls(runnable, toolCall.args);
    const output = await runnable.invoke(
      { ...toolCall, args, type: "tool_call" } as never,
      {
        ...own,
        // Inside LangChain's tools `getWriter()` finds the writer here and nowhere else.
        configurable: { ...own.configurable, writer: own.writer },
        runName: undefined,
        config: own,
        toolCallId: toolCall.id,
        state: request.state,
      } as never,
    );
    return asResult(output, runnable.name, toolCall);
  } catch (error) {
    failures.add(error, runnable, toolCall.args);
    throw error;
  } finally {
    held.release();
  }
}

/** Also from a middleware that brings the tool itself. */
function isHidden({ loop: { toolShape } }: GateCall, tool: unknown, calledAs: string): boolean {
  return toolShape.excluded.has(calledAs) || isExcluded(tool, toolShape);
}

/** A config with a scope of its own. Code that looks up the whole config inside the call finds the approval mark. */
function approved(config: TaskConfig, callId: string, places?: readonly string[]): TaskConfig {
  return holdWrites(approvedConfig(config, callId, places), (writes) => sendWrites(config, writes));
}

function asResult(output: unknown, name: string, call: ToolCall): GateResult {
  if (ToolMessage.isInstance(output) || isAnyCommand(output)) return output as GateResult;
  const content = typeof output === "string" ? output : (JSON.stringify(output) ?? "");
  return new ToolMessage({ content, name, tool_call_id: call.id ?? "" });
}

function unknownTool({ loop, extraTools }: GateCall, name: string): string {
  const names = [...loop.clientTools.keys(), ...(extraTools?.keys() ?? [])];
  const close = names.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  const hint = close ? ` Did you mean '${close}'?` : "";
  return `Error: There is no tool '${name}'.${hint} The tools are: ${names.join(", ") || "none"}.`;
}
