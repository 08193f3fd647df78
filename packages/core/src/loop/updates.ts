/** Turning what hooks, tools and callers return into writes to channels. */
import { Command, END, isCommand, Overwrite, ParentCommand, Send } from "@langchain/langgraph";
import { branchTo, TASKS, type Write } from "../engine.ts";
import type { Loop } from "./loop.ts";
import { coerceMessages } from "./messages.ts";

/** Only keys of the state are written; messages get ids before anything is serialised. */
export function updateWrites(
  loop: Loop,
  update: Record<string, unknown> | readonly (readonly [string, unknown])[],
): Write[] {
  const entries = Array.isArray(update) ? update : Object.entries(update);
  const writes: Write[] = [];
  for (const [key, value] of entries as readonly (readonly [string, unknown])[]) {
    if (!Object.hasOwn(loop.state.channels, key) || value === undefined) continue;
    writes.push([key, key === "messages" ? messagesUpdate(value) : value]);
  }
  return writes;
}

function messagesUpdate(value: unknown): unknown {
  const whole = overwritten(value);
  return whole ? new Overwrite(coerceMessages(whole.value)) : coerceMessages(value);
}

/** The value of an `Overwrite`, in either of its forms; undefined for anything else. */
export function overwritten(value: unknown): { readonly value: unknown } | undefined {
  if (value instanceof Overwrite) return { value: (value as { value?: unknown }).value };
  if (typeof value !== "object" || value === null || !("__overwrite__" in value)) return undefined;
  return { value: (value as { __overwrite__: unknown }).__overwrite__ };
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
  const targets =
    command.goto === undefined ? [] : Array.isArray(command.goto) ? command.goto : [command.goto];
  const routes: Write[] = [];
  let ends = false;
  for (const target of targets) {
    if (target instanceof Send) routes.push([TASKS, target]);
    else if (target === END) ends = true;
    else routes.push([branchTo(String(target)), null]);
  }
  return { writes, routes, ends };
}

export function isAnyCommand(value: unknown): value is Command {
  return isCommand(value);
}
