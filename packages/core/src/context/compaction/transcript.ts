/** A conversation as text: for the record of removed messages, and for the summariser. */
import { AIMessage, type BaseMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";
import { isReasoning } from "../../loop/messages/request.ts";
import { isMedia, mediaWords } from "./shorten.ts";

/** Text of a message, without reasoning; media by reference. */
export function textOf(message: BaseMessage): string {
  const { content } = message;
  if (typeof content === "string") return content;
  const parts: string[] = [];
  for (const block of content as { type?: string; text?: unknown }[]) {
    if (isReasoning(block)) continue;
    if (typeof block.text === "string") parts.push(block.text);
    else if (isMedia(block)) parts.push(mediaWords(block));
  }
  return parts.join("\n");
}

/** One message as markdown: its role, its words, its calls. */
export function messageText(message: BaseMessage): string {
  // Text of a message must not look like the start of another turn.
  const words = textOf(message)
    .trimEnd()
    .replace(HEADING, (line) => `\\${line}`);
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []).map(callText) : [];
  return [`### ${headingOf(message)}`, ...(words === "" ? [] : [words]), ...calls].join("\n\n");
}

const HEADING = /^### (?=User|Assistant|System|Result of )/gm;
const ROLES: Readonly<Record<string, string>> = { human: "User", ai: "Assistant", system: "System" };

function headingOf(message: BaseMessage): string {
  if (!ToolMessage.isInstance(message)) return ROLES[message.type] ?? message.type;
  const failed = message.status === "error" ? ", failed" : "";
  return `Result of ${message.name ?? "a tool"} (${message.tool_call_id})${failed}`;
}

function callText({ id, name, args }: ToolCall): string {
  const json = JSON.stringify(args, undefined, 1) ?? "{}";
  const fence = fenceFor(json);
  return `Calls ${name} (${id ?? "no id"}):\n${fence}json\n${json}\n${fence}`;
}

/** Longer than any fence in the text. */
function fenceFor(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  return "`".repeat(longest + 1);
}
