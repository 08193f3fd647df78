/** The threads of the caller, newest first, looked at again every few seconds while the page is visible. */
import { signal } from "@preact/signals";
import { call, session } from "./connection.ts";

export type ThreadStatus = "idle" | "busy" | "interrupted" | "error";

export interface ThreadItem {
  readonly thread_id: string;
  readonly updated_at: string;
  readonly created_at: string;
  readonly status: ThreadStatus;
  /** Null: nobody wrote anything yet. */
  readonly title?: string | null;
  readonly archived?: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface AssistantItem {
  readonly assistant_id: string;
  readonly graph_id: string;
  readonly name: string;
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

export const threads = signal<readonly ThreadItem[]>([]);
export const threadsRead = signal(false);
/** Threads that were begun here just now, or that are too old for the list. */
const others = signal<ReadonlyMap<string, ThreadItem>>(new Map());
export const assistants = signal<readonly AssistantItem[]>([]);

const FIELDS = ["thread_id", "updated_at", "created_at", "status", "title", "archived", "metadata"];
const MOST = 200;
const MOST_FOUND = 50;
const PAUSE_MS = 3_000;

export async function readThreads(): Promise<void> {
  const body = { limit: MOST, sort_by: "updated_at", sort_order: "desc", select: FIELDS };
  const found = await call<readonly ThreadItem[]>("POST", "/threads/search", { body });
  if (JSON.stringify(found) !== JSON.stringify(threads.peek())) threads.value = found;
  threadsRead.value = true;
}

/** Threads with all of the words in their title or messages. */
export async function findThreads(text: string): Promise<readonly ThreadItem[]> {
  const body = { text, limit: MOST_FOUND, sort_by: "updated_at", sort_order: "desc", select: FIELDS };
  return await call("POST", "/threads/search", { body });
}

const MOST_ASSISTANTS = 100;

/** In the order of the server: its first agent is the usual one. */
export async function readAssistants(): Promise<void> {
  assistants.value = await call<readonly AssistantItem[]>("POST", "/assistants/search", {
    body: { limit: MOST_ASSISTANTS, sort_order: "asc" },
  });
}

/** False: the server is known not to have the assistant. */
export function isServed(assistantId: string): boolean {
  const { value: known } = assistants;
  if (assistantId === "" || known.length === 0 || known.length === MOST_ASSISTANTS) return true;
  return known.some(({ assistant_id: id, graph_id: agent }) => id === assistantId || agent === assistantId);
}

/** Looks again and again; a failed look is repeated with the next. */
export function watchThreads(): void {
  const look = async (): Promise<void> => {
    if (document.visibilityState === "visible" && session.peek() !== "out")
      await readThreads().catch(() => undefined);
    setTimeout(look, PAUSE_MS);
  };
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && session.peek() === "in")
      readThreads().catch(() => undefined);
  });
  void look();
}

/** The name that somebody gave the thread, else the first line of its first message. */
export function titleOf({ title }: Pick<ThreadItem, "title">): string | undefined {
  return title || undefined;
}

export async function createThread(assistantId: string, choices: object): Promise<string> {
  const body = { metadata: { assistant_id: assistantId, source: "page", choices } };
  const thread = await call<ThreadItem>("POST", "/threads", { body });
  others.value = new Map([...others.peek(), [thread.thread_id, thread]]);
  return thread.thread_id;
}

/** Undefined: the list does not have it, and it was not asked for alone. */
export function threadItem(threadId: string): ThreadItem | undefined {
  return threads.value.find((thread) => thread.thread_id === threadId) ?? others.value.get(threadId);
}

/** Asks for a thread that the list does not have. */
export async function readThread(threadId: string): Promise<void> {
  if (threadItem(threadId)) return;
  const body = { ids: [threadId], limit: 1, select: FIELDS };
  const [found] = await call<readonly ThreadItem[]>("POST", "/threads/search", { body });
  if (found) others.value = new Map([...others.peek(), [threadId, found]]);
}

const onThread = (threadId: string) => ({ parameters: { thread_id: threadId } });

interface ThreadChange {
  readonly title?: string | null;
  readonly archived?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export async function changeThread(threadId: string, change: ThreadChange): Promise<void> {
  await call("PATCH", "/threads/:thread_id", { ...onThread(threadId), body: change });
  await readThreads();
}

/** Into the trash, where the server keeps the thread for 30 days, or back. */
export async function trashThread(threadId: string, trashed: boolean): Promise<void> {
  await call("PATCH", "/threads/:thread_id", { ...onThread(threadId), body: { trashed } });
  await readThreads();
}

/** The agent of a thread; of one that names none, the first of the server. Empty: the thread is not known yet. */
export function assistantOf(threadId: string): string {
  const thread = threadItem(threadId);
  if (thread === undefined && threadId !== "") return "";
  const { assistant_id: id, graph_id: agent } = thread?.metadata ?? {};
  if (typeof id === "string") return id;
  return (assistants.value.find((one) => one.graph_id === agent) ?? assistants.value[0])?.assistant_id ?? "";
}
