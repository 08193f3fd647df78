/** A request as a scripted model sees it. It knows nothing else: what a harness cut away is forgotten. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ScriptedRequest } from "deepwright/testing";

/** The result of a call of the last turn. */
export interface SeenResult {
  readonly id: string;
  readonly text: string;
  readonly failed: boolean;
}

export class RequestView {
  readonly tools: ReadonlySet<string>;
  private readonly messages: readonly BaseMessage[];

  constructor({ messages, tools }: Pick<ScriptedRequest, "messages" | "tools">) {
    this.messages = messages;
    this.tools = new Set(tools.map(nameOf));
  }

  /** All words of the request, newest message last. */
  get text(): string {
    return this.messages.map(textOf).join("\n");
  }

  /** The messages that a person wrote, and reminders of the harness. */
  get humanText(): string {
    return this.messages
      .filter((message) => HumanMessage.isInstance(message))
      .map(textOf)
      .join("\n");
  }

  /** Results after the last reply, by the id of their call. */
  results(): SeenResult[] {
    const last = this.messages.findLastIndex((message) => AIMessage.isInstance(message));
    return this.messages
      .slice(last + 1)
      .filter((message) => ToolMessage.isInstance(message))
      .map((message) => {
        const text = textOf(message);
        return {
          id: (message as ToolMessage).tool_call_id,
          text,
          failed: (message as ToolMessage).status === "error" || /^(Error|Failed)\b/.test(text),
        };
      });
  }

  /** Words that the harness put behind the last results: reminders and notices. */
  reminder(): string {
    const last = this.messages.findLastIndex((message) => AIMessage.isInstance(message));
    return this.messages
      .slice(last + 1)
      .filter((message) => !ToolMessage.isInstance(message))
      .map(textOf)
      .join("\n");
  }

  /** A request without tools asks for a summary of the conversation in it. */
  get asksForSummary(): boolean {
    return this.tools.size === 0 && /summar|conversation|context/i.test(this.text);
  }
}

function textOf(message: BaseMessage): string {
  return message.text;
}

function nameOf(tool: unknown): string {
  const { name, function: wrapped } = tool as { name?: string; function?: { name?: string } };
  return name ?? wrapped?.name ?? "";
}
