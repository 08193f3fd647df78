/** LangChain's messages and documents as plain fields and back: the only classes loading ever builds. */
import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  isBaseMessage,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { setOwn } from "./set-own.ts";

type Fields = Record<string, unknown>;
type Build = (fields: never) => object;

/** By tag; a tag is stored, so never rename one. A chunk has a `+`. */
const CLASSES: Readonly<Record<string, Build>> = {
  human: (fields) => new HumanMessage(fields),
  "human+": (fields) => new HumanMessageChunk(fields),
  ai: (fields) => new AIMessage(fields),
  "ai+": (fields) => new AIMessageChunk(fields),
  system: (fields) => new SystemMessage(fields),
  "system+": (fields) => new SystemMessageChunk(fields),
  tool: (fields) => new ToolMessage(fields),
  "tool+": (fields) => new ToolMessageChunk(fields),
  generic: (fields) => new ChatMessage(fields),
  "generic+": (fields) => new ChatMessageChunk(fields),
  function: (fields) => new FunctionMessage(fields),
  "function+": (fields) => new FunctionMessageChunk(fields),
  remove: (fields) => new RemoveMessage(fields),
};

const DOCUMENT = "document";

/** Fields that a constructor sets itself or LangChain keeps for its own use. */
const NOT_FIELDS = new Set(["lc_serializable", "lc_kwargs", "lc_namespace", "lc_direct_tool_output", "type"]);
/** Left out when empty, and there again after loading. */
const USUALLY_EMPTY = new Set(["additional_kwargs", "response_metadata", "tool_calls", "invalid_tool_calls"]);

export function isMessage(value: object): value is BaseMessage {
  return isBaseMessage(value as BaseMessage);
}

/** The tag of a message or document; `undefined` for anything else. */
export function classTag(value: object): string | undefined {
  if (isMessage(value)) {
    const { type } = value;
    const tag = isChunk(value) ? `${type}+` : type;
    return Object.hasOwn(CLASSES, tag) ? tag : undefined;
  }
  return value instanceof Document ? DOCUMENT : undefined;
}

/** By its own word, so that messages of another copy of LangChain count; system messages have a `concat`, too. */
function isChunk(message: BaseMessage): boolean {
  if (!("concat" in message)) return false;
  const { lc_name: name } = message.constructor as { lc_name?: () => string };
  return name?.call(message.constructor).endsWith("Chunk") ?? false;
}

export function fieldsOf(value: object): Fields {
  const fields: Fields = {};
  for (const key of Object.keys(value)) {
    const field = (value as Fields)[key];
    if (NOT_FIELDS.has(key) || field === undefined) continue;
    if (USUALLY_EMPTY.has(key) && isEmpty(field)) continue;
    setOwn(fields, key, field);
  }
  return fields;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Builds the class that `classTag` named; `undefined` for an unknown tag. */
export function buildClass(tag: string, fields: Fields): object | undefined {
  if (tag === DOCUMENT) return new Document(fields as never);
  const build = Object.hasOwn(CLASSES, tag) ? CLASSES[tag] : undefined;
  if (!build) return undefined;
  const whole: Fields = { additional_kwargs: {}, response_metadata: {}, ...fields };
  if (tag === "ai" || tag === "ai+") {
    whole.tool_calls ??= [];
    whole.invalid_tool_calls ??= [];
  }
  // Constructors interpret some fields (v1 content, chunks of calls); their result is stored.
  const plain = tag === "ai" || tag === "ai+" ? { ...whole, content: "", response_metadata: {} } : whole;
  const message = build({ ...plain, additional_kwargs: {}, tool_call_chunks: [] } as never) as Fields;
  for (const key of Object.keys(whole)) setOwn(message, key, whole[key]);
  message.lc_kwargs = whole;
  return message;
}
