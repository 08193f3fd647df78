/** A summary without a model: the requests, the tools and their files, the failures, the last text. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { clipText } from "./shorten.ts";
import { textOf } from "./transcript.ts";

const REQUESTS = 12;
const FILES = 40;
const FAILURES = 8;

/** At most about `characters` long. `earlier` is the summary of older messages. */
export function digestOf(messages: readonly BaseMessage[], earlier: string, characters: number): string {
  const own = [
    section("Requests", requests(messages)),
    section("Work done", work(messages)),
    section("Failures", failures(messages)),
    section("Last words of the assistant", lastWords(messages)),
  ].filter((part) => part !== "");
  const known = earlier === "" ? [] : [clipText(earlier, Math.floor(characters * 0.5))];
  return clipText([...known, ...own].join("\n\n"), characters);
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [`## ${title}`, ...lines].join("\n");
}

function requests(messages: readonly BaseMessage[]): string[] {
  const said = messages.filter(HumanMessage.isInstance).map((message) => oneLine(textOf(message), 240));
  return newest(said, REQUESTS).map((text) => `- ${text}`);
}

/** Each tool once for each file it was used on, newest last. */
function work(messages: readonly BaseMessage[]): string[] {
  const counts = new Map<string, number>();
  for (const message of messages) {
    if (!AIMessage.isInstance(message)) continue;
    for (const { name, args } of message.tool_calls ?? []) {
      const key = `${name} ${subjectOf(args as Record<string, unknown>)}`.trim();
      const count = (counts.get(key) ?? 0) + 1;
      counts.delete(key);
      counts.set(key, count);
    }
  }
  const lines = [...counts].map(([key, count]) => (count > 1 ? `- ${key} (${count} times)` : `- ${key}`));
  return newest(lines, FILES);
}

const SUBJECTS = ["file_path", "path", "pattern", "command", "description", "query", "url"];

function subjectOf(args: Record<string, unknown>): string {
  const key = SUBJECTS.find((name) => typeof args?.[name] === "string");
  return key === undefined ? "" : oneLine(String(args[key]), 120);
}

function failures(messages: readonly BaseMessage[]): string[] {
  const failed = messages.filter(
    (message): message is ToolMessage => ToolMessage.isInstance(message) && message.status === "error",
  );
  const lines = failed.map((message) => `- ${message.name ?? "a tool"}: ${oneLine(textOf(message), 200)}`);
  return newest(lines, FAILURES);
}

function lastWords(messages: readonly BaseMessage[]): string[] {
  const last = messages.findLast((message) => AIMessage.isInstance(message) && textOf(message).trim() !== "");
  return last === undefined ? [] : [clipText(textOf(last).trim(), 1200)];
}

function newest(lines: readonly string[], most: number): string[] {
  if (lines.length <= most) return [...lines];
  return [`- (${lines.length - most} earlier ones left out)`, ...lines.slice(-most)];
}

function oneLine(text: string, characters: number): string {
  const line = text
    .slice(0, characters * 4)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > characters ? `${line.slice(0, characters)}…` : line;
}
