/** From the messages of a thread to a tape. Secrets are redacted here, before anything is played or written. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { withoutSecrets } from "deepwright/secrets";
import { EvalsError } from "../format/check-case.ts";
import type { RecordedReply, RecordedResult, Tape } from "./cassette.ts";

export function tapeOf(name: string, messages: readonly BaseMessage[]): Tape {
  const segments: { messages: string[]; replies: RecordedReply[] }[] = [];
  const results: Record<string, RecordedResult> = {};
  for (const message of messages) {
    const last = segments.at(-1);
    if (HumanMessage.isInstance(message)) {
      // Several messages in a row begin one run.
      if (last !== undefined && last.replies.length === 0) last.messages.push(clean(message.text));
      else segments.push({ messages: [clean(message.text)], replies: [] });
    } else if (AIMessage.isInstance(message)) last?.replies.push(replyOf(message));
    else if (ToolMessage.isInstance(message)) results[message.tool_call_id] = resultOf(message);
  }
  if (segments.length === 0) throw new EvalsError(`${name}: the thread has no message of a user.`);
  return { name, segments, results };
}

function replyOf(message: AIMessage): RecordedReply {
  const { finish_reason, stop_reason } = (message.response_metadata ?? {}) as Record<string, unknown>;
  const reason = finish_reason ?? stop_reason;
  const broken = new Map((message.invalid_tool_calls ?? []).map((call) => [call.id, call]));
  // The loop lists a call that does not parse among the others too.
  const calls = (message.tool_calls ?? []).map(({ name, args, id }) => {
    const raw = broken.get(id)?.args;
    broken.delete(id);
    return {
      name,
      id: id ?? "",
      ...(raw === undefined ? { args: cleanValue(args) } : { rawArgs: clean(raw) }),
    };
  });
  const others = [...broken.values()].map(({ name, args, id }) => ({
    name: name ?? "",
    id: id ?? "",
    rawArgs: clean(args ?? ""),
  }));
  return {
    ...(message.id === undefined ? {} : { id: message.id }),
    text: clean(message.text),
    calls: [...calls, ...others],
    ...(typeof reason === "string" ? { finishReason: reason } : {}),
  };
}

function resultOf(message: ToolMessage): RecordedResult {
  return { name: message.name ?? "", text: clean(message.text), failed: message.status === "error" };
}

function clean(text: string): string {
  return withoutSecrets(text);
}

function cleanValue(value: unknown): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map(cleanValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), cleanValue(inner)]));
}
