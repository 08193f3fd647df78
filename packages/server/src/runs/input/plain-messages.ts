/**
 * Messages of LangChain's classes reach the server in serialized form, because their JSON is that form. The two kinds
 * that clients may send are turned into plain data; every other object stays as it is, and is refused.
 */
import { isRecord } from "deepwright/check-options";

const TYPES: Readonly<Record<string, "human" | "ai">> = {
  ...{ HumanMessage: "human", HumanMessageChunk: "human" },
  ...{ AIMessage: "ai", AIMessageChunk: "ai" },
};
const KEYS = "id,kwargs,lc,type";

/** The message as `{type, content, …}`; any other value is returned unchanged. */
export function plainMessage(message: unknown): unknown {
  if (!isRecord(message) || Object.keys(message).sort().join() !== KEYS) return message;
  const { lc, type, id, kwargs } = message;
  if (lc !== 1 || type !== "constructor" || !Array.isArray(id) || !isRecord(kwargs)) return message;
  const [place, folder, name, ...more] = id as readonly unknown[];
  if (place !== "langchain_core" || folder !== "messages" || more.length > 0) return message;
  if (typeof name !== "string" || !Object.hasOwn(TYPES, name)) return message;
  return { ...kwargs, type: TYPES[name] };
}

/** The same for `messages` among the values of a state update. */
export function withPlainMessages(values: unknown): unknown {
  if (!isRecord(values) || !Object.hasOwn(values, "messages")) return values;
  const { messages } = values;
  return {
    ...values,
    messages: Array.isArray(messages) ? messages.map(plainMessage) : plainMessage(messages),
  };
}

/** Whether a serialized object is a message in a role that clients may not use. */
export function isForeignInstance({ id }: Readonly<Record<string, unknown>>): boolean {
  const name: unknown = Array.isArray(id) ? id.at(-1) : undefined;
  return typeof name === "string" && /Message(?:Chunk)?$/.test(name) && !Object.hasOwn(TYPES, name);
}
