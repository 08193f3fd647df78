/**
 * What clients may ask of an agent. Refused: commands of the engine, its own configurable keys, and messages in the
 * name of anyone but the people who talk: a system message is an instruction, a tool message a result nobody computed.
 */
import type { Checkpoint, CreateRun, RunConfig } from "@deepwright/protocol";
import { invalid } from "../http/problems.ts";

/** A run as it may begin. `threadId` absent: it gets a thread of its own. */
export function checkRun(
  request: Omit<CreateRun, "assistant_id">,
  { engineCommands, threadId }: { readonly engineCommands: boolean; readonly threadId?: string },
): void {
  const { command, input } = request;
  if (command != null) {
    if (!engineCommands && (command.update !== undefined || command.goto !== undefined))
      throw invalid("command.update and command.goto are not allowed on this server; command.resume is.");
    checkValues(command.update);
    refuseSerialized(command.resume);
  }
  checkValues(input);
  refuseSerialized(request.context);
  checkConfig(request.config, threadId);
  checkCheckpoint(request.checkpoint, threadId);
}

const OWN_KEYS = new Set([
  "checkpoint_ns",
  "checkpoint_map",
  "checkpoint_id",
  "checkpoint",
  "run_id",
  "fence",
]);

/** Also of assistants, whose configuration goes into their runs. */
export function checkConfig(config: RunConfig | null | undefined, threadId?: string): void {
  for (const [key, value] of Object.entries(config?.configurable ?? {})) {
    const isOwnThread = key === "thread_id" && threadId !== undefined && value === threadId;
    if (isOwnThread) continue;
    if (key === "thread_id" || OWN_KEYS.has(key) || /^(?:__|langgraph_|deepwright_)/.test(key))
      throw invalid(`config.configurable.${key.slice(0, 64)} is not for clients to set.`);
  }
}

/** Only the thread's own graph: places inside it belong to the engine. */
export function checkCheckpoint(checkpoint: Checkpoint | null | undefined, threadId?: string): void {
  if (checkpoint == null) return;
  if (checkpoint.thread_id != null && checkpoint.thread_id !== threadId)
    throw invalid("checkpoint.thread_id must be the thread of the request.");
  if (checkpoint.checkpoint_ns) throw invalid("checkpoint.checkpoint_ns is not for clients to set.");
  if (checkpoint.checkpoint_map != null && Object.keys(checkpoint.checkpoint_map).some((ns) => ns !== ""))
    throw invalid("checkpoint.checkpoint_map is not for clients to set.");
}

/** What a client writes into a state. */
export function checkValues(values: unknown): void {
  if (typeof values !== "object" || values === null) return;
  refuseSerialized(values);
  if (Array.isArray(values)) return;
  if (Object.hasOwn(values, "messages")) checkMessages((values as { messages: unknown }).messages);
}

/** Which keys of the state are input, in the words of the agent's own schema. */
export function checkInputKeys(values: unknown, inputKeys: readonly string[]): void {
  if (values === null || values === undefined) return;
  if (typeof values !== "object" || Array.isArray(values)) throw invalid("values: must be an object.");
  const foreign = Object.keys(values).find((key) => !inputKeys.includes(key));
  if (foreign !== undefined)
    throw invalid(`values.${foreign.slice(0, 64)} is not input of this agent: ${inputKeys.join(", ")} are.`);
}

const SPEAKERS = new Set(["human", "user", "ai", "assistant", "HumanMessage", "AIMessage"]);

export function checkMessages(messages: unknown): void {
  const list = isOneTuple(messages) || !Array.isArray(messages) ? [messages] : messages;
  list.forEach((message, index) => {
    if (typeof message === "string") return;
    const speaker = speakerOf(message);
    if (speaker === undefined || !SPEAKERS.has(speaker.replace(/Chunk$/, "")))
      throw invalid(
        `messages.${index}: clients send messages of the user (or of the assistant, quoted) only.`,
      );
    if (hasCalls(message)) throw invalid(`messages.${index}: clients cannot send tool calls.`);
  });
}

function speakerOf(message: unknown): string | undefined {
  if (isTuple(message)) return message[0];
  if (typeof message !== "object" || message === null || Array.isArray(message)) return undefined;
  const { role, type } = message as { role?: unknown; type?: unknown };
  // Two that differ would be read by whoever reads them in its own way.
  if (role !== undefined && type !== undefined && !SPEAKERS.has(String(role))) return undefined;
  const speaker = type ?? role;
  return typeof speaker === "string" ? speaker : undefined;
}

function isTuple(message: unknown): message is [string, unknown] {
  return Array.isArray(message) && message.length === 2 && typeof message[0] === "string";
}

const VOICES = /^(?:human|user|ai|assistant|system|developer|tool|function|generic|remove)$/i;

/** Two texts are two messages, unless the first says who speaks. */
function isOneTuple(messages: unknown): boolean {
  return isTuple(messages) && VOICES.test(messages[0]);
}

function hasCalls(message: unknown): boolean {
  if (typeof message !== "object" || message === null) return false;
  const { tool_calls, tool_call_chunks, invalid_tool_calls, additional_kwargs, content } = message as Record<
    string,
    unknown
  >;
  const more = (additional_kwargs ?? {}) as Record<string, unknown>;
  const blocks = Array.isArray(content) ? content : [];
  return (
    [tool_calls, tool_call_chunks, invalid_tool_calls, more.tool_calls, more.function_call].some(
      isSomething,
    ) || blocks.some((block) => /^(?:tool_use|tool_call|tool_result|server_tool)/.test(String(block?.type)))
  );
}

const isSomething = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;

/** `{lc: 1, type: "constructor"}` is how LangChain writes objects: no client has one to send. */
function refuseSerialized(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value) && "lc" in value && "id" in value && "type" in value)
    throw invalid("Serialized objects of LangChain are not taken from clients; send plain messages.");
  for (const part of Object.values(value)) refuseSerialized(part);
}
