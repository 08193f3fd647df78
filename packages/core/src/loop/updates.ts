/** Turning what hooks, tools and callers return into writes to channels. */
import { Command, END, isCommand, Overwrite, ParentCommand, Send } from "@langchain/langgraph";
import { branchTo, TASKS, type Write } from "../engine.ts";
import { hasNode, type Loop } from "./loop.ts";
import { coerceMessages } from "./messages.ts";
import { overwritten } from "./overwrite.ts";

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
    if (target instanceof Send) routes.push([TASKS, target]);
    else if (target === END) ends = true;
    else routes.push([branchTo(String(target)), null]);
  }
  return { writes, routes, ends };
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

export function isAnyCommand(value: unknown): value is Command {
  return isCommand(value);
}
