/**
 * Marks of the harness in messages from outside. Marks name files that belong to the thread, and servers pass on
 * messages of their users. So only marks that the thread itself has are trusted.
 */
import type { BaseMessage } from "@langchain/core/messages";
import { Overwrite } from "@langchain/langgraph";
import type { Write } from "../../engine/engine.ts";
import { coerceMessages, MARKS, type Messages, positionOfId } from "./messages.ts";
import { overwritten } from "./overwrite.ts";

/** The messages without marks that `known` does not have. Marks that it has, as in a history sent back, stay. */
export function withoutUntrustedMarks(incoming: BaseMessage[], known: Messages): BaseMessage[] {
  if (!incoming.some(isMarked)) return incoming;
  return incoming.map((message) => (isKnown(message, known) ? message : unmarked(message)));
}

/** The same for the writes of `updateState`. */
export function trustedWrites(writes: readonly Write[], known: Messages): Write[] {
  return writes.map(([channel, value]) => {
    if (channel !== "messages") return [channel, value];
    const whole = overwritten(value);
    const believed = withoutUntrustedMarks(coerceMessages(whole ? whole.value : value), known);
    return [channel, whole ? new Overwrite(believed) : believed];
  });
}

function isMarked(message: BaseMessage): boolean {
  return message.additional_kwargs?.[MARKS] !== undefined;
}

function isKnown(message: BaseMessage, known: Messages): boolean {
  const own = known[positionOfId(known, message.id ?? "")];
  if (own === undefined) return false;
  return own === message || marksText(own) === marksText(message);
}

function marksText(message: BaseMessage): string | undefined {
  return JSON.stringify(message.additional_kwargs?.[MARKS]);
}

/** A copy of the message without marks, or the message itself if it has none. The original may still be in use. */
export function unmarked<Message extends BaseMessage>(message: Message): Message {
  if (!isMarked(message)) return message;
  const { [MARKS]: _, ...rest } = message.additional_kwargs;
  const copy = Object.create(Object.getPrototypeOf(message), Object.getOwnPropertyDescriptors(message));
  const lc_kwargs = { ...message.lc_kwargs, additional_kwargs: rest };
  return Object.assign(copy as Message, { additional_kwargs: rest, lc_kwargs });
}
