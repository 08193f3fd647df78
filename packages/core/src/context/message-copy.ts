/** Messages that differ from another in a few fields. */
import type { BaseMessage } from "@langchain/core/messages";
import { MARKS } from "../loop/messages/messages.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A copy of the same class, with all other fields unchanged, also fields we do not know. */
export function copyMessage<Message extends BaseMessage>(message: Message, changes: Fields): Message {
  const fields = Object.getOwnPropertyDescriptors(message);
  const copy = Object.create(Object.getPrototypeOf(message), fields) as Message;
  return Object.assign(copy, changes, { lc_kwargs: { ...message.lc_kwargs, ...changes } });
}

/** Marks that stages keep in a message. */
export function marksOf(message: BaseMessage): Fields | undefined {
  const marks = message.additional_kwargs?.[MARKS];
  return typeof marks === "object" && marks !== null ? (marks as Fields) : undefined;
}

/** The changes that add marks of stages to a message. */
export function withMarks(message: BaseMessage, marks: Fields): Fields {
  const known = marksOf(message);
  return { additional_kwargs: { ...message.additional_kwargs, [MARKS]: { ...known, ...marks } } };
}
