/** A request read once: which calls stand where, and which results follow them. */
import type { AIMessage, BaseMessage, ToolCall, ToolMessage } from "@langchain/core/messages";

/** A tool result and its place in the request. */
export interface IndexedResult {
  readonly index: number;
  readonly message: ToolMessage;
}

/** An assistant message with the results that follow it directly. */
export interface AssistantTurn {
  readonly index: number;
  readonly message: AIMessage;
  readonly calls: readonly ToolCall[];
  readonly results: readonly IndexedResult[];
}

export interface RequestOutline {
  readonly messages: readonly BaseMessage[];
  readonly turns: readonly AssistantTurn[];
  /** Results that follow no assistant message. */
  readonly strays: readonly IndexedResult[];
}

export function outlineOf(messages: readonly BaseMessage[]): RequestOutline {
  const turns: AssistantTurn[] = [];
  const strays: IndexedResult[] = [];
  let results: IndexedResult[] | undefined;
  messages.forEach((message, index) => {
    if (message.type === "tool") (results ?? strays).push({ index, message: message as ToolMessage });
    else if (message.type === "ai") {
      const assistant = message as AIMessage;
      results = [];
      turns.push({ index, message: assistant, calls: assistant.tool_calls ?? [], results });
    } else results = undefined;
  });
  return { messages, turns, strays };
}
