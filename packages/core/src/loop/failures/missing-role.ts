/**
 * Messages without a role, read as the assistant's.
 *
 * A client makes a generic message of a reply whose server leaves the role out. Every provider refuses a history with
 * such a message. So none gets into a thread, and a stored one is read as an assistant message.
 */
import {
  AIMessage,
  type BaseMessage,
  ChatMessage,
  isBaseMessage,
  type ToolCall,
} from "@langchain/core/messages";
import { defaultToolCallParser } from "@langchain/core/messages/tool";

/** Roles of people, programs and tools. */
const OTHERS = new Set(["user", "human", "system", "developer", "tool", "function"]);
/** Names of the assistant. OpenAI's client writes `unknown` when there is no role. */
const ASSISTANT = new Set(["", "assistant", "ai", "model", "unknown"]);

/** A role of the caller's own, such as `control`, is the caller's business; only replies are made of chunks. */
export function lacksRole(message: BaseMessage): boolean {
  if (!ChatMessage.isInstance(message)) return false;
  const role = typeof message.role === "string" ? message.role.trim() : "";
  return ASSISTANT.has(role) || ("concat" in message && !OTHERS.has(role));
}

/** The same message, unless it has no role. */
export function withRole<Message extends BaseMessage>(message: Message): Message | AIMessage {
  return lacksRole(message) ? assistantMessage(message) : message;
}

/** The reply as an assistant message, also when the client gives it another type. */
export function asReply(reply: BaseMessage): AIMessage {
  return isBaseMessage(reply) && !AIMessage.isInstance(reply)
    ? assistantMessage(reply)
    : (reply as AIMessage);
}

/** With the calls that the client left as they came. */
function assistantMessage({
  id,
  name,
  content,
  additional_kwargs,
  response_metadata,
}: BaseMessage): AIMessage {
  const { tool_calls: raw, ...rest } = additional_kwargs ?? {};
  return new AIMessage({
    content: content ?? "",
    tool_calls: Array.isArray(raw) ? callsIn(raw) : [],
    additional_kwargs: rest,
    response_metadata: response_metadata ?? {},
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
  });
}

/** A call that cannot be read or answered is left out. */
function callsIn(raw: readonly object[]): ToolCall[] {
  const [calls] = defaultToolCallParser(raw.filter(Boolean) as never);
  return calls
    .filter(({ id, name, args }) => id && name && typeof args === "object" && !Array.isArray(args))
    .map((call) => ({ ...call, type: "tool_call" as const }));
}
