/** Turns the return values of hooks, tools and callers into writes to channels. */
import { Command, END, isCommand, Overwrite, ParentCommand, Send } from "@langchain/langgraph";
import { branchTo, TASKS, type Write } from "../../engine/engine.ts";
import { APPROVALS } from "../approval-rules/approval-memory.ts";
import { APPROVAL_NODE, hasNode, type Loop, TOOLS_NODE } from "../contract/loop.ts";
import { coerceMessages } from "../messages/messages.ts";
import { overwritten } from "../messages/overwrite.ts";

/**
 * Writes only keys of the state, without the keys that hold decisions of people. Messages get ids before anything is
 * serialised.
 */
export function updateWrites(
  loop: Loop,
  update: Record<string, unknown> | readonly (readonly [string, unknown])[],
): Write[] {
  const entries = Array.isArray(update) ? update : Object.entries(update);
  const writes: Write[] = [];
  for (const [key, value] of entries as readonly (readonly [string, unknown])[]) {
    if (!Object.hasOwn(loop.state.channels, key) || value === undefined || key === APPROVALS) continue;
    writes.push([key, key === "messages" ? messagesUpdate(value) : value]);
  }
  return writes;
}

function messagesUpdate(value: unknown): unknown {
  const whole = overwritten(value);
  return whole ? new Overwrite(coerceMessages(whole.value)) : coerceMessages(value);
}

export interface CommandParts {
  readonly writes: Write[];
  /** Node names and sends the command asks for; END among them ends the run after this step. */
  readonly routes: Write[];
  readonly ends: boolean;
}

/** A command for the parent graph is thrown, as the engine expects; everything else becomes writes. */
export function commandParts(loop: Loop, command: Command): CommandParts {
  if (command.graph === Command.PARENT) throw new ParentCommand(command);
  const writes = updateWrites(loop, (command.update ?? {}) as Record<string, unknown>);
  const routes: Write[] = [];
  let ends = false;
  for (const target of targetsOf(command)) {
    if (target instanceof Send) routes.push(sendRoute(target));
    else if (target === END) ends = true;
    else routes.push([branchTo(String(target)), null]);
  }
  return { writes, routes, ends };
}

function sendRoute(send: Send): Write {
  const target = withoutDecisions(send);
  return target instanceof Send ? [TASKS, target] : [branchTo(target), null];
}

/** Drops decisions of people from a command: only the approval node writes those. */
export function withoutDecisions(send: Send): Send | string {
  if (send.node === APPROVAL_NODE) return APPROVAL_NODE;
  if (send.node !== TOOLS_NODE) return send;
  const { id, index } = (send.args ?? {}) as { id?: unknown; index?: unknown };
  return new Send(TOOLS_NODE, { id, index });
}

function targetsOf({ goto }: Command): readonly unknown[] {
  return goto === undefined ? [] : Array.isArray(goto) ? goto : [goto];
}

/** The first node a command for this graph names that is not there. */
export function unknownTarget(loop: Loop, command: Command): string | undefined {
  if (command.graph === Command.PARENT) return undefined;
  const names = targetsOf(command).map((target) => (target instanceof Send ? target.node : String(target)));
  return names.find((name) => name !== END && !hasNode(loop, name));
}

/** A command of any copy of LangGraph, known by a field. Plain data with that field is data. */
export function isAnyCommand(value: unknown): value is Command {
  return isCommand(value) && Object.getPrototypeOf(value) !== Object.prototype;
}
