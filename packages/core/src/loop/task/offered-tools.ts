/** Tools that a middleware offered for one turn: only the calls of that turn know them. */
import type { AIMessage } from "@langchain/core/messages";
import type { TaskConfig } from "../../engine/engine.ts";
import type { Loop } from "../contract/loop.ts";
import type { AnyTool } from "../providers/any-tool.ts";

type Tools = ReadonlyMap<string, AnyTool>;

const byMessage = new WeakMap<AIMessage, Tools>();
/** For a message that was rewritten by a hook, or read back from a checkpoint to go on after a question. */
const byId = new WeakMap<Loop, Map<string, Tools>>();
const REMEMBERED_TURNS = 256;

export function rememberTools(
  loop: Loop,
  config: TaskConfig,
  message: AIMessage,
  tools: Tools | undefined,
): void {
  if (tools === undefined) return;
  byMessage.set(message, tools);
  const turns = byId.get(loop) ?? new Map<string, Tools>();
  byId.set(loop, turns);
  turns.set(turnKey(config, message), tools);
  if (turns.size > REMEMBERED_TURNS) turns.delete(turns.keys().next().value as string);
}

/** Undefined in a process that did not make the offer. */
export function offeredTools(loop: Loop, config: TaskConfig, message: AIMessage): Tools | undefined {
  return byMessage.get(message) ?? byId.get(loop)?.get(turnKey(config, message));
}

function turnKey(config: TaskConfig, message: AIMessage): string {
  return JSON.stringify([config.configurable?.thread_id, message.id]);
}
