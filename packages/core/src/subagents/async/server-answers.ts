/** Readers for answers of Agent Protocol servers. */
import type { AsyncTaskStatus } from "./async-task.ts";
import { failed } from "./server-requests.ts";

/** Ids become parts of paths and keys of the state. */
export function idIn(answer: unknown, key: "thread_id" | "run_id" | "contextId" | "id"): string {
  const id = (answer as Record<string, unknown> | undefined)?.[key];
  if (typeof id === "string" && /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(id)) return id;
  throw failed(`answered without a usable '${key}'`);
}

const STATUSES: ReadonlySet<string> = new Set([
  "pending",
  "running",
  "success",
  "error",
  "timeout",
  "interrupted",
]);

export function statusIn(answer: unknown): AsyncTaskStatus {
  const status = (answer as { status?: unknown } | undefined)?.status;
  if (typeof status === "string" && STATUSES.has(status)) return status as AsyncTaskStatus;
  if (status === "cancelled") return status;
  throw failed("answered without a usable 'status'");
}

export interface ThreadState {
  readonly values?: Readonly<Record<string, unknown>>;
  readonly tasks?: readonly { readonly error?: unknown }[];
}

/** The JSON of the structured response, or the last words. */
export function resultIn(state: ThreadState | undefined): string {
  const { values } = state ?? {};
  return values?.structuredResponse != null ? JSON.stringify(values.structuredResponse) : wordsIn(state);
}

/** Last words of the agent since its last input; "" for nothing. */
export function lastWordsIn(state: ThreadState | undefined): string {
  const messages = messagesIn(state);
  const order = messages.findLastIndex(({ type, role }) => type === "human" || role === "user");
  return spoken(messages.slice(order + 1));
}

function wordsIn(state: ThreadState | undefined): string {
  return spoken(messagesIn(state));
}

interface SentMessage {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
}

function messagesIn(state: ThreadState | undefined): readonly SentMessage[] {
  const messages = state?.values?.messages;
  return Array.isArray(messages) ? messages.filter((one) => typeof one === "object" && one !== null) : [];
}

function spoken(messages: readonly SentMessage[]): string {
  const own = messages.filter(({ type, role }) => type === "ai" || role === "assistant");
  return own.map(textOf).findLast((text) => text !== "") ?? "";
}

function textOf({ content }: SentMessage): string {
  if (typeof content === "string") return content.trim();
  if (!Array.isArray(content)) return "";
  const texts = content.filter((block) => block?.type === "text").map(({ text }) => String(text));
  return texts.join("").trim();
}

const REASON_LENGTH = 1_000;

export function errorIn(state: ThreadState | undefined): string | undefined {
  const error = state?.tasks?.find((task) => task.error != null)?.error;
  if (error === undefined) return undefined;
  const { message } = error as { message?: unknown };
  return String(message ?? (typeof error === "string" ? error : JSON.stringify(error))).slice(
    0,
    REASON_LENGTH,
  );
}
