/** The final words of a child, for any kind of runnable. */

import { AIMessage, type BaseMessage, isBaseMessage, ToolMessage } from "@langchain/core/messages";
import { isRecord } from "../check-options.ts";
import { TimedOut } from "../loop/calls/limits.ts";
import { failureWords } from "../loop/failures/failure-words.ts";
import type { Outcome } from "../loop/messages/outcome.ts";
import { SubagentStopped } from "../loop/task/subagent-control.ts";
import type { ChildEnd } from "./run-child.ts";
import { shortfall, TASK_TOOL } from "./words.ts";

export interface Result {
  readonly text: string;
  readonly failed: boolean;
  /** Why it did not finish, or might not have. */
  readonly reason?: string | undefined;
}

/** `taskId` is the id of the message that gave the task: earlier messages are not the child's. */
export function resultOf({ state, error }: ChildEnd, taskId: string, given: readonly string[]): Result {
  const said = wordsOf(state, taskId, given);
  if (error !== undefined) return { text: said.text, failed: true, reason: failure(error.thrown) };
  if (said.isStructured) return { text: said.text, failed: false };
  const outcome = isRecord(state) ? (state.outcome as Outcome | undefined) : undefined;
  const reason = shortfall(outcome);
  const failed = reason !== undefined && (outcome?.kind !== "length" || said.text === "");
  return { text: said.text, failed, reason };
}

function failure(thrown: unknown): string {
  if (thrown instanceof SubagentStopped) return thrown.message;
  if (thrown instanceof TimedOut) return `It ${thrown.message}.`;
  const words = failureWords(thrown, { name: TASK_TOOL }, {});
  return words.startsWith("Error: ") ? words.slice("Error: ".length) : words;
}

interface Words {
  readonly text: string;
  readonly isStructured?: boolean;
}

function wordsOf(state: unknown, taskId: string, given: readonly string[]): Words {
  if (typeof state === "string") return { text: state.trim() };
  if (isBaseMessage(state)) return { text: state.text.trim() };
  if (Array.isArray(state) && state.every(isBaseMessage)) return { text: lastText(state, taskId) };
  if (!isRecord(state)) return { text: state === undefined ? "" : JSON.stringify(state) };
  if (state.structuredResponse !== undefined)
    return { text: JSON.stringify(state.structuredResponse), isStructured: true };
  if (Array.isArray(state.messages)) return { text: lastText(state.messages as BaseMessage[], taskId) };
  const own = Object.entries(state).filter(([key]) => !given.includes(key) && key !== "files");
  return { text: own.length === 0 ? "" : JSON.stringify(Object.fromEntries(own)) };
}

/** The last text of the child itself. A turn with calls only has no text. */
function lastText(messages: readonly BaseMessage[], taskId: string): string {
  const start = messages.findLastIndex(({ id }) => id === taskId);
  const own = messages.slice(start + 1).filter(isBaseMessage);
  const spoken = own.findLast((message) => AIMessage.isInstance(message) && message.text.trim() !== "");
  const other =
    spoken ?? own.findLast((message) => !ToolMessage.isInstance(message) && message.type !== "human");
  return other?.text.trim() ?? "";
}
