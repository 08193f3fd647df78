/** The provider whose form an assistant message has, and the one whose form a model reads. */
import type { AIMessage } from "@langchain/core/messages";
import { ownValue } from "../../text/own-value.ts";
import type { ChatModel } from "../providers/model-source.ts";

/**
 * The provider that made a message, by LangChain's name for it, or one of the forms below. All providers read `plain`.
 */
export type Origin = string;

export interface Target {
  /** Equal keys mean that the same messages can be read. */
  readonly key: string;
  /** Absent: an unknown provider. */
  readonly dialect: string | undefined;
  /** All that the model is called, as letters and digits. */
  readonly names: string;
}

/**
 * The providers that read each form of content; undefined stands for an unknown provider. A form that is not listed
 * belongs to an unknown provider.
 */
const READERS: Readonly<Record<Origin, readonly (string | undefined)[]>> = {
  anthropic: ["anthropic"],
  openai: ["openai", "openai-responses"],
  // OpenAI's newer API, whose messages the older one cannot read.
  "openai-responses": ["openai-responses"],
  "google-genai": ["google-genai"],
  google: ["google"],
  // LangChain's own form, of a maker that is not named.
  standard: ["anthropic", "openai", "openai-responses", undefined],
  // The same with thoughts that have no id: OpenAI's client sends them to the newer API, which requires one.
  "standard-thought": ["anthropic", "openai", undefined],
  "openai-thought": ["openai"],
  // The form that a client makes of a reply streamed as events, and cannot read itself.
  unreadable: [],
};

export function canRead({ dialect, names }: Target, origin: Origin): boolean {
  if (origin === "plain") return true;
  const readers = ownValue(READERS, origin);
  if (readers !== undefined) return readers.includes(dialect);
  return dialect === undefined || names.includes(letters(origin));
}

/** `options` are the options of the call: one client may speak several dialects. */
export function targetOf(given: ChatModel, options: Readonly<Record<string, unknown>>): Target {
  const { model, bound } = innermost(given, {});
  const names = namesOf(model);
  const dialect = dialectOf(model, names, { ...bound, ...options });
  return { key: `${dialect} ${names}`, dialect, names };
}

function dialectOf(
  model: ChatModel,
  names: string,
  options: Readonly<Record<string, unknown>>,
): string | undefined {
  if (names.includes("anthropic")) return "anthropic";
  if (names.includes("openai")) return usesResponses(model, names, options) ? "openai-responses" : "openai";
  if (/generativeai|googlegenai/.test(names)) return "google-genai";
  return /google|vertex|gemini/.test(names) ? "google" : undefined;
}

/** Asks LangChain's client itself, which decides by its settings and by the options of the call. */
function usesResponses(model: ChatModel, names: string, options: Readonly<Record<string, unknown>>): boolean {
  const client = model as { _useResponsesApi?: (options: object) => unknown; defaultOptions?: object };
  if (typeof client._useResponsesApi !== "function") return names.includes("responses");
  return Boolean(client._useResponsesApi({ ...client.defaultOptions, ...options }));
}

const knownNames = new WeakMap<ChatModel, string>();

/** Names of its class and of all base classes, so that a model made from a known one is known. */
function namesOf(model: ChatModel): string {
  const known = knownNames.get(model);
  if (known !== undefined) return known;
  const names = [model.getName(), model._llmType?.()];
  for (let type = Object.getPrototypeOf(model); type !== null; type = Object.getPrototypeOf(type))
    names.push(type.constructor?.lc_name?.());
  const joined = [...new Set(names.filter((name) => typeof name === "string").map(letters))].join(" ");
  knownNames.set(model, joined);
  return joined;
}

function letters(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

interface Inner {
  readonly model: ChatModel;
  readonly bound: Readonly<Record<string, unknown>>;
}

function innermost(model: ChatModel, outer: Inner["bound"]): Inner {
  const { bound, kwargs, config } = model as { bound?: ChatModel; kwargs?: object; config?: object };
  return bound === undefined ? { model, bound: outer } : innermost(bound, { ...config, ...kwargs, ...outer });
}

/** Keys that only one provider's client leaves in `additional_kwargs`. */
const KEYS: readonly (readonly [key: string, origin: Origin])[] = [
  ["__gemini_function_call_thought_signatures__", "google-genai"],
  ["__openai_function_call_ids__", "openai-responses"],
  ["__openai_custom_tool_call_ids__", "openai-responses"],
  ["tool_outputs", "openai-responses"],
  ["reasoning", "openai-responses"],
];

/** Kinds of content that only one provider has. */
const KINDS: Readonly<Record<string, Origin>> = {
  tool_use: "anthropic",
  input_json_delta: "anthropic",
  server_tool_use: "anthropic",
  thinking: "anthropic",
  redacted_thinking: "anthropic",
  compaction: "anthropic",
  output_text: "openai-responses",
  refusal: "openai-responses",
  function_call: "openai-responses",
  functionCall: "google-genai",
  functionResponse: "google-genai",
  executableCode: "google-genai",
  codeExecutionResult: "google-genai",
  inlineData: "google-genai",
  fileData: "google-genai",
};

/** Kinds of content that every client reads, in a message of any role or where its model can. */
const PLAIN = new Set(["text", "image", "image_url", "audio", "video", "file", "media", "text-plain"]);

/** The message's own statement comes first; then keys that only one provider writes. */
export function originOf(message: AIMessage): Origin {
  const metadata = (message.response_metadata ?? {}) as Record<string, unknown>;
  const { model_provider: provider, output_version: version } = metadata;
  if (typeof provider === "string" && provider !== "") {
    if (provider === "google-vertexai") return "google";
    if (provider === "google-genai" && version === "v1") return "unreadable";
    return provider === "openai" ? originOfOpenAi(message, metadata) : provider;
  }
  const kwargs = message.additional_kwargs ?? {};
  for (const [key, origin] of KEYS) if (kwargs[key] !== undefined) return origin;
  return originOfContent(message);
}

function originOfOpenAi(message: AIMessage, metadata: Record<string, unknown>): Origin {
  const isLost = metadata.output_version === "v1" && hasUnnamedThought(message);
  if (isOfResponses(message, metadata)) return isLost ? "unreadable" : "openai-responses";
  return isLost ? "openai-thought" : "openai";
}

function hasUnnamedThought({ content }: AIMessage): boolean {
  return typeof content !== "string" && content.some(({ type, id }) => type === "reasoning" && !id);
}

function isOfResponses(
  { id, additional_kwargs = {} }: AIMessage,
  metadata: Record<string, unknown>,
): boolean {
  if (metadata.object === "response" || [id, metadata.id].some(isResponseId)) return true;
  return KEYS.some(([key, origin]) => origin === "openai-responses" && additional_kwargs[key] !== undefined);
}

function isResponseId(id: unknown): boolean {
  return typeof id === "string" && id.startsWith("resp_");
}

function originOfContent(message: AIMessage): Origin {
  const { content } = message;
  if (typeof content === "string") return "plain";
  const kinds = content.map(({ type }) => type ?? "");
  for (const kind of kinds) {
    const origin = ownValue(KINDS, kind) ?? (kind.endsWith("_tool_result") ? "anthropic" : undefined);
    if (origin !== undefined) return origin;
  }
  if (kinds.every((kind) => PLAIN.has(kind))) return "plain";
  return hasUnnamedThought(message) ? "standard-thought" : "standard";
}
