/**
 * Messages of clients, rebuilt from the fields that clients may set: role, content, id and name.
 *
 * LangChain makes messages of plain data and trusts each field: more content in `contentBlocks`, items of a provider in
 * `response_metadata`, calls of tools. So unknown fields are not passed on.
 */

import { ServiceError } from "../service-error.ts";
import { hasCalls } from "./message-calls.ts";
import { checkContent, type Speaker } from "./message-content.ts";
import { plainMessage } from "./plain-messages.ts";

const SPEAKERS: Readonly<Record<string, Speaker>> = {
  ...{ human: "human", user: "human", HumanMessage: "human", HumanMessageChunk: "human" },
  ...{ ai: "ai", assistant: "ai", AIMessage: "ai", AIMessageChunk: "ai" },
};

/** Roles that every reader knows; other names of a speaker are written as its type. */
const ROLES = new Set<unknown>(["human", "user", "ai", "assistant"]);

/** A list of messages for an agent. Throws INVALID_REQUEST for a forbidden part, with its position. */
export function clientMessages(messages: unknown, where = "messages"): unknown[] {
  const list = isOneTuple(messages) || !Array.isArray(messages) ? [messages] : messages;
  return list.map((message, index) => clientMessage(plainMessage(message), `${where}.${index}`));
}

/** A client's update of a state, with its messages rebuilt. */
export function clientValues(values: unknown): unknown {
  if (typeof values !== "object" || values === null || Array.isArray(values)) return values;
  return Object.hasOwn(values, "messages")
    ? { ...values, messages: clientMessages((values as { messages: unknown }).messages) }
    : values;
}

/** The same for an update by the engine, whose keys and values may also be pairs. */
export function clientUpdate(update: unknown): unknown {
  if (!Array.isArray(update)) return clientValues(update);
  return update.map((part) =>
    isTuple(part) && part[0] === "messages" ? [part[0], clientMessages(part[1])] : clientValues(part),
  );
}

/** The same for the states that nodes are to begin with. */
export function clientGoto(goto: unknown): unknown {
  if (Array.isArray(goto)) return goto.map(clientGoto);
  if (typeof goto !== "object" || goto === null) return goto;
  return Object.fromEntries(Object.entries(goto).map(([key, given]) => [key, clientValues(given)]));
}

function clientMessage(message: unknown, where: string): unknown {
  if (typeof message === "string") {
    checkContent(message, "human", where);
    return message;
  }
  const [role, type] = rolesOf(message);
  const speaker = speakerOf(role, type);
  if (speaker === undefined)
    throw refusal(where, "clients send messages of the user (or of the assistant, quoted) only.");
  if (hasCalls(message)) throw refusal(where, "clients cannot send tool calls.");
  const fields = Array.isArray(message) ? { content: message[1] } : (message as Record<string, unknown>);
  checkContent(fields.content, speaker, `${where}.content`);
  return {
    ...(ROLES.has(role) ? { role } : { type: speaker }),
    content: fields.content,
    ...textField(fields, "id", where),
    ...textField(fields, "name", where),
    ...moreOf(fields, speaker, where),
  };
}

function rolesOf(message: unknown): readonly [role: unknown, type: unknown] {
  if (isTuple(message)) return [undefined, message[0]];
  if (typeof message !== "object" || message === null || Array.isArray(message))
    return [undefined, undefined];
  const { role, type } = message as { role?: unknown; type?: unknown };
  return [role ?? undefined, type ?? undefined];
}

/** Two names that differ would be read differently by different readers. */
function speakerOf(role: unknown, type: unknown): Speaker | undefined {
  const speakers = [role, type]
    .filter((role) => role !== undefined)
    .map((role) => (typeof role === "string" && Object.hasOwn(SPEAKERS, role) ? SPEAKERS[role] : undefined));
  return speakers.every((speaker) => speaker === speakers[0]) ? speakers[0] : undefined;
}

function textField(fields: Record<string, unknown>, key: "id" | "name", where: string): object {
  const value = fields[key] ?? undefined;
  if (value === undefined) return {};
  if (typeof value !== "string") throw refusal(where, `${key} must be text.`);
  return { [key]: value };
}

/**
 * Metadata of a message. Of a quoted message of the assistant only plain values are kept: providers
 * find items of their own in the others. Marks of the harness are judged by the loop, which knows the thread.
 */
function moreOf(
  { additional_kwargs: given }: Record<string, unknown>,
  speaker: Speaker,
  where: string,
): object {
  if (given === undefined || given === null) return {};
  if (typeof given !== "object" || Array.isArray(given))
    throw refusal(where, "additional_kwargs must be an object.");
  const kept = Object.entries(given).filter(
    ([key, value]) =>
      !key.startsWith("__") && (speaker === "human" || typeof value !== "object" || key === "deepwright"),
  );
  return { additional_kwargs: Object.fromEntries(kept) };
}

export function isTuple(message: unknown): message is [string, unknown] {
  return Array.isArray(message) && message.length === 2 && typeof message[0] === "string";
}

const VOICES = /^(?:human|user|ai|assistant|system|developer|tool|function|generic|remove)$/i;

/** Two texts are two messages, unless the first is a role. */
function isOneTuple(messages: unknown): boolean {
  return isTuple(messages) && VOICES.test(messages[0]);
}

function refusal(where: string, words: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `${where}: ${words}`);
}
