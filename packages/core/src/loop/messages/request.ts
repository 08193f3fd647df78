/**
 * Makes every request to a provider valid, also after crashes, edits and cuts of the thread.
 *
 * Each tool call has exactly one result, directly after the call and in call order. Results without a call, and
 * assistant messages without text and calls, are left out. A message without a role is the assistant's. Only messages
 * that were not checked before are read: finished turns of a thread are never read twice.
 */
import { AIMessage, type BaseMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";
import { lacksRole, withRole } from "../failures/missing-role.ts";
import { checkedLength, type Messages, markChecked, newId, turnStart } from "./messages.ts";

/** The result text for a call without a result when the reason is unknown. */
export const DID_NOT_COMPLETE = "Tool call was cancelled or did not complete.";

interface Scan {
  /** How many leading messages form complete, valid turns. */
  readonly valid: number;
  readonly sound: boolean;
}

/** The messages of a request: the same array when nothing needed repair. */
export function requestMessages(messages: Messages): Messages {
  const start = checkedLength(messages);
  const scan = scanTurns(messages, start);
  if (scan.valid > start) markChecked(messages, scan.valid);
  if (scan.sound) return messages;
  return [...messages.slice(0, scan.valid), ...mend(messages.slice(scan.valid))];
}

/**
 * Marks the part that a list edited by middleware still shares with the thread as checked, up to the last whole turn.
 * Compares references only.
 */
export function markUnchanged(thread: Messages, list: Messages): Messages {
  if (list === thread) return list;
  const checked = checkedLength(thread);
  let same = 0;
  while (same < checked && list[same] === thread[same]) same += 1;
  if (same < checked) same = turnStart(list, same);
  markChecked(list, same);
  return list;
}

/** Results for calls without one, oldest first: for a thread whose last run did not finish. */
export function missingResults(
  messages: Messages,
  words: (callId: string) => string = () => DID_NOT_COMPLETE,
): ToolMessage[] {
  const missing: ToolMessage[] = [];
  for (let i = checkedLength(messages); i < messages.length; i += 1) {
    const message = messages[i] as BaseMessage;
    if (!AIMessage.isInstance(message)) continue;
    const answered = new Set(resultsBehind(messages, i).map((result) => result.tool_call_id));
    for (const call of message.tool_calls ?? [])
      if (call.id && !answered.has(call.id)) missing.push(failedResult(call, words(call.id)));
  }
  return missing;
}

export function failedResult(call: { id?: string; name: string }, content: string): ToolMessage {
  return new ToolMessage({
    id: newId(),
    tool_call_id: call.id ?? "",
    name: call.name,
    content,
    status: "error",
  });
}

function resultsBehind(messages: Messages, position: number): ToolMessage[] {
  const results: ToolMessage[] = [];
  for (let i = position + 1; i < messages.length; i += 1) {
    const message = messages[i] as BaseMessage;
    if (!ToolMessage.isInstance(message)) break;
    results.push(message);
  }
  return results;
}

function scanTurns(messages: Messages, start: number): Scan {
  let position = start;
  while (position < messages.length) {
    const message = messages[position] as BaseMessage;
    if (ToolMessage.isInstance(message) || lacksRole(message)) return { valid: position, sound: false };
    if (!AIMessage.isInstance(message)) position += 1;
    else {
      if (isSilent(message)) return { valid: position, sound: false };
      const calls = message.tool_calls ?? [];
      if (!calls.every((call, index) => isAnsweredBy(messages[position + 1 + index], call.id)))
        return { valid: position, sound: false };
      position += 1 + calls.length;
    }
  }
  return { valid: position, sound: true };
}

function isAnsweredBy(message: BaseMessage | undefined, callId: string | undefined): boolean {
  return ToolMessage.isInstance(message) && message.tool_call_id === callId;
}

/** Whether the message has no text (thinking aside) and no calls: providers refuse it in a history. */
export function isSilent(message: AIMessage): boolean {
  if ((message.tool_calls ?? []).length > 0) return false;
  if (typeof message.content === "string") return message.content.trim() === "";
  return message.content.every(
    (block) => isReasoning(block) || (block.type === "text" && String(block.text ?? "").trim() === ""),
  );
}

const REASONING = new Set(["thinking", "redacted_thinking", "reasoning", "reasoning_content"]);

export function isReasoning(block: { type?: string }): boolean {
  return REASONING.has(block.type ?? "");
}

/** In one pass: each call waits for its result until that comes or its id is used again. */
function mend(messages: Messages): BaseMessage[] {
  const turns: { readonly message: BaseMessage; readonly results: Result[] }[] = [];
  const waiting = new Map<string, Result>();
  for (const given of messages) {
    const message = withRole(given);
    if (ToolMessage.isInstance(message)) {
      const result = waiting.get(message.tool_call_id);
      if (result !== undefined) result.found ??= message;
    } else if (!AIMessage.isInstance(message)) turns.push({ message, results: [] });
    else if (!isSilent(message)) {
      const results = (message.tool_calls ?? []).map((call): Result => ({ call, found: undefined }));
      for (const result of results) waiting.set(result.call.id ?? "", result);
      turns.push({ message, results });
    }
  }
  return turns.flatMap(({ message, results }) => [message, ...results.map(resultOf)]);
}

interface Result {
  readonly call: ToolCall;
  found: ToolMessage | undefined;
}

function resultOf({ call, found }: Result): ToolMessage {
  return found ?? failedResult(call, DID_NOT_COMPLETE);
}
