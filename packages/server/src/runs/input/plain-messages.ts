/**
 * Messages a program made with LangChain's classes reach the server serialized, because that is what their JSON is. Of
 * the two kinds clients may send they are plain data in another form, and become it; every other object stays
 * what it is, and is refused.
 */
import { isRecord } from "deepwright/check-options";

const TYPES: Readonly<Record<string, "human" | "ai">> = {
  ...{ HumanMessage: "human", HumanMessageChunk: "human" },
  ...{ AIMessage: "ai", AIMessageChunk: "ai" },
};
const KEYS = "id,kwargs,lc,type";

/** The message as `{type, content, …}`; what is no such instance is returned as it came. */
export function plainMessage(message: unknown): unknown {
  if (!isRecord(message) || Object.keys(message).sort().join() !== KEYS) return message;
  const { lc, type, id, kwargs } = message;
  if (lc !== 1 || type !== "constructor" || !Array.isArray(id) || !isRecord(kwargs)) return message;
  const [place, folder, name, ...more] = id as readonly unknown[];
  if (place !== "langchain_core" || folder !== "messages" || more.length > 0) return message;
  if (typeof name !== "string" || !Object.hasOwn(TYPES, name)) return message;
  return { ...kwargs, type: TYPES[name] };
}

/** The same for `messages` of what a client writes into a state. */
export function withPlainMessages(values: unknown): unknown {
  if (!isRecord(values) || !Object.hasOwn(values, "messages")) return values;
  const { messages } = values;
  return {
    ...values,
    messages: Array.isArray(messages) ? messages.map(plainMessage) : plainMessage(messages),
  };
}

/** Whether a serialized object is a message in the name of somebody clients cannot speak for. */
export function isForeignInstance({ id }: Readonly<Record<string, unknown>>): boolean {
  const name: unknown = Array.isArray(id) ? id.at(-1) : undefined;
  return typeof name === "string" && /Message(?:Chunk)?$/.test(name) && !Object.hasOwn(TYPES, name);
}
