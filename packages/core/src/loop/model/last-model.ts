/**
 * The model that answered last in a thread, if it is not the agent's own: room is measured for the model that will
 * most likely be asked again.
 */
import type { BaseMessage } from "@langchain/core/messages";
import type { Loop } from "../contract/loop.ts";
import type { Messages } from "../messages/messages.ts";
import type { ChatModel } from "../providers/model-source.ts";

interface Asked {
  readonly loop: Loop;
  readonly model: ChatModel;
}

/** By the first message, which all requests of a thread share. */
const askedFor = new WeakMap<BaseMessage, Asked>();

/** Undefined: the agent's own model, or no longer known. */
export function lastModelOf(loop: Loop, [first]: Messages): ChatModel | undefined {
  const asked = first && askedFor.get(first);
  return asked?.loop === loop ? asked.model : undefined;
}

/** Without a model: it was the agent's own. */
export function rememberLastModel(loop: Loop, [first]: Messages, model: ChatModel | undefined): void {
  if (first === undefined) return;
  if (model !== undefined) askedFor.set(first, { loop, model });
  else askedFor.delete(first);
}
