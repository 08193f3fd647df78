/** A thread as it happens: what a screen shows of it, kept up to date by its stream. Knows no framework. */
import type { Connection } from "../client/connection.ts";
import { followStream } from "../client/follow-stream.ts";
import { ProtocolError } from "../client/protocol-error.ts";
import { foldEvent, screenOfThread, type ThreadToShow } from "../fold/fold-event.ts";
import { emptyScreen, type Screen } from "../fold/screen.ts";
import { HEADER } from "../headers.ts";

export type SentContent = string | readonly Readonly<Record<string, unknown>>[];

/** A message that the agent has not read yet. */
export interface PendingMessage {
  readonly id: string;
  readonly kind: "steer" | "follow-up";
  readonly content: SentContent;
}

export interface ThreadSnapshot {
  readonly screen: Screen;
  /** `offline`: the connection is lost, and another one is tried. `gone`: the thread was deleted, or the caller signed out. */
  readonly connection: "loading" | "live" | "offline" | "gone";
  /** Why the last request or the stream failed; undefined: it did not. */
  readonly failure: ProtocolError | undefined;
  readonly pending: readonly PendingMessage[];
}

/** Fields of a run's request, such as `config` and `context`. */
export type RunSettings = Readonly<Record<string, unknown>>;

export interface ThreadStoreOptions {
  readonly connection: Connection;
  readonly threadId: string;
}

/** Fields of an answer beside its value, such as `allow`. */
export type AnswerExtras = Readonly<Record<string, unknown>>;

/** `getSnapshot` returns the same object until something changes, as `useSyncExternalStore` of React wants it. */
export interface ThreadStore {
  readonly threadId: string;
  getSnapshot(): ThreadSnapshot;
  /** Calls the listener after each change; returns a function that removes it. */
  subscribe(listener: () => void): () => void;
  /** Begins a run with a message. */
  send(assistantId: string, content: SentContent, settings?: RunSettings): Promise<void>;
  /** For the run at work (`steer`), or for a turn after it (`follow-up`). */
  post(kind: PendingMessage["kind"], content: SentContent): Promise<void>;
  /** Answers one interrupt. Throws `NOTHING_TO_RESUME` when somebody else was faster. */
  answer(interruptId: string, value: unknown, more?: AnswerExtras): Promise<void>;
  /** Ends the run at work. */
  stop(): Promise<void>;
  /** Reads the thread again. */
  refresh(): Promise<void>;
  /** Ends the stream; runs go on. */
  close(): void;
}

/** Events that runs of a page record. */
const STREAM = {
  stream_mode: ["messages-tuple", "updates", "custom", "tasks", "tools"],
  stream_subgraphs: true,
};

const FIRST: ThreadSnapshot = {
  screen: emptyScreen,
  connection: "loading",
  failure: undefined,
  pending: [],
};

export function openThread({ connection, threadId }: ThreadStoreOptions): ThreadStore {
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  const { signal } = closing;
  let snapshot = FIRST;
  const change = (next: Partial<ThreadSnapshot>): void => {
    const settled = { ...snapshot, ...next };
    snapshot = { ...settled, pending: unread(settled) };
    for (const listener of [...listeners]) listener();
  };
  const tell: Tell = { read: () => snapshot, change, sent: new Map(), runs: new Map() };
  const request = requests(connection, threadId, signal);
  void follow(connection, threadId, tell, signal);
  return {
    threadId,
    getSnapshot: () => snapshot,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send: (assistant, content, settings) => send(request, tell, { assistant, content, settings }),
    post: (kind, content) => post(request, tell, kind, content),
    answer: async (interruptId, value, more) => {
      await request("POST", `/interrupts/${encodeURIComponent(interruptId)}`, { value, ...more });
    },
    stop: () => stop(connection, threadId, snapshot.screen, signal),
    refresh: () => load(connection, threadId, tell, signal),
    close: () => closing.abort(),
  };
}

/** A page that came later may not know the id of the run: then everything at work on the thread ends. */
async function stop(
  connection: Connection,
  threadId: string,
  { run: { id, status } }: Screen,
  signal: AbortSignal,
): Promise<void> {
  if (status !== "running" && status !== "pending") return;
  const body = { thread_id: threadId, ...(id === undefined ? { status: "all" } : { run_ids: [id] }) };
  await connection.request({ method: "POST", path: "/runs/cancel" }, { body, signal });
}

interface Tell {
  read(): ThreadSnapshot;
  change(next: Partial<ThreadSnapshot>): void;
  /** Messages of this store that the stored thread did not have yet, by id. */
  readonly sent: Map<string, Readonly<Record<string, unknown>>>;
  /** Runs that this store began, each with the id of the message that started it. */
  readonly runs: Map<string, string>;
}

type ThreadRequest = (method: "POST", path: string, body: object, key?: string) => Promise<unknown>;

function requests(connection: Connection, threadId: string, signal: AbortSignal): ThreadRequest {
  return async (method, path, body, key) => {
    const place = { method, path: `/threads/:thread_id${path}` };
    const response = await connection.request(place, {
      parameters: { thread_id: threadId },
      body,
      signal,
      ...(key !== undefined && { headers: { [HEADER.idempotencyKey]: key } }),
    });
    const text = await response.text();
    return text === "" ? undefined : JSON.parse(text);
  };
}

/** Messages that no event has shown yet. */
function unread({ pending, screen }: ThreadSnapshot): readonly PendingMessage[] {
  if (pending.length === 0) return pending;
  const shown = new Set(screen.main.messages.map(({ id }) => id));
  const left = pending.filter(({ id }) => !shown.has(id));
  return left.length === pending.length ? pending : left;
}

/** The body of a request that begins a run with a message, with all events that a screen needs. */
export function runRequest(
  assistantId: string,
  message: Readonly<Record<string, unknown>>,
  settings: RunSettings = {},
): Readonly<Record<string, unknown>> {
  return { assistant_id: assistantId, input: { messages: [message] }, ...STREAM, ...settings };
}

interface Sent {
  readonly assistant: string;
  readonly content: SentContent;
  readonly settings: RunSettings | undefined;
}

/** The message is shown at once. A request without an answer is made again under the same key. */
async function send(
  request: ThreadRequest,
  tell: Tell,
  { assistant, content, settings }: Sent,
): Promise<void> {
  const id = crypto.randomUUID();
  const message = { type: "human", id, content };
  tell.sent.set(id, message);
  tell.change({ screen: withMessages(tell.read().screen, [message]), failure: undefined });
  const body = runRequest(assistant, message, settings);
  try {
    const run = (await repeated(() => request("POST", "/runs", body, id))) as { readonly run_id?: string };
    if (run.run_id !== undefined) tell.runs.set(run.run_id, id);
  } catch (error) {
    tell.sent.delete(id);
    const { screen } = tell.read();
    const messages = screen.main.messages.filter((one) => one.id !== id);
    tell.change({ screen: { ...screen, main: { ...screen.main, messages } } });
    throw error;
  }
}

async function post(
  request: ThreadRequest,
  tell: Tell,
  kind: PendingMessage["kind"],
  content: SentContent,
): Promise<void> {
  const id = crypto.randomUUID();
  tell.change({ pending: [...tell.read().pending, { id, kind, content }] });
  try {
    await repeated(() => request("POST", "/messages", { kind, id, content }));
  } catch (error) {
    tell.change({ pending: tell.read().pending.filter((one) => one.id !== id) });
    throw error;
  }
}

const TRIES = 4;

async function repeated(call: () => Promise<unknown>): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.status !== 0 || tries === TRIES) throw error;
      await new Promise((done) => setTimeout(done, 250 * 2 ** tries));
    }
  }
}

function withMessages(screen: Screen, messages: Iterable<Readonly<Record<string, unknown>>>): Screen {
  let next = screen;
  for (const message of messages) next = foldEvent(next, { event: "steer", data: { message } });
  return next;
}

/** The thread as it is stored. The events of a run at work are newer, so they stay. */
async function load(
  connection: Connection,
  threadId: string,
  tell: Tell,
  signal: AbortSignal,
): Promise<void> {
  const place = { method: "GET", path: "/threads/:thread_id" } as const;
  const response = await connection.request(place, { parameters: { thread_id: threadId }, signal });
  const stored = screenOfThread((await response.json()) as ThreadToShow);
  const { screen } = tell.read();
  if (screen.run.status === "running" && screen.notes.seen[screen.run.id ?? ""] !== undefined) return;
  for (const { id } of stored.main.messages) tell.sent.delete(id);
  const notes = { ...stored.notes, seen: screen.notes.seen };
  tell.change({ screen: withMessages({ ...stored, notes }, tell.sent.values()) });
}

/**
 * Loads the messages of a run that another client began, once it works and at its end. Its events do not repeat its
 * input.
 */
async function catchUp(
  connection: Connection,
  threadId: string,
  tell: Tell,
  signal: AbortSignal,
): Promise<void> {
  const place = { method: "GET", path: "/threads/:thread_id/state" } as const;
  const response = await connection.request(place, { parameters: { thread_id: threadId }, signal });
  const { values } = (await response.json()) as { readonly values?: unknown };
  const { messages, todos } = (values ?? {}) as { readonly messages?: unknown; readonly todos?: unknown };
  const data = { ...(messages !== undefined && { messages }), ...(todos !== undefined && { todos }) };
  tell.change({ screen: foldEvent(tell.read().screen, { event: "values", data }) });
}

/** Pages go on trying: a laptop may be closed for a night. */
const RECONNECT = { attempts: Number.POSITIVE_INFINITY, maxDelayMs: 5_000 };

/**
 * The stream is opened before the thread is read, so that no run falls between. Events that come meanwhile wait, and are
 * folded onto the thread: the same event twice changes nothing.
 */
async function follow(
  connection: Connection,
  threadId: string,
  tell: Tell,
  signal: AbortSignal,
): Promise<void> {
  const path = `/threads/${encodeURIComponent(threadId)}/stream`;
  const open = async (resume: () => Promise<Response>): Promise<Response> => {
    const response = await resume().catch((error: unknown) => {
      if (!signal.aborted) tell.change({ connection: "offline" });
      throw error;
    });
    await load(connection, threadId, tell, signal);
    tell.change({ connection: "live", failure: undefined });
    return response;
  };
  const watched: Connection = {
    ...connection,
    resume: (place, raw) => open(() => connection.resume(place, raw)),
  };
  try {
    const events = followStream({
      connection: watched,
      open: (abort) => watched.resume(path, { ...(abort && { signal: abort }) }),
      path,
      untilEnd: false,
      reconnect: RECONNECT,
      signal,
    });
    const frame = createFrame(tell, signal);
    let begun: string | undefined;
    for await (const event of events) {
      frame.add(event);
      if (event.kind === "metadata") begun = event.runId;
      // The thread has it now, unless it was taken back.
      if (event.kind === "end") tell.sent.delete(tell.runs.get(event.runId ?? "") ?? "");
      const isTime = event.kind === "end" || (begun !== undefined && event.kind === "updates");
      if (!isTime) continue;
      begun = undefined;
      if (!tell.runs.has(event.runId ?? ""))
        await catchUp(connection, threadId, tell, signal).catch(() => undefined);
    }
  } catch (error) {
    if (signal.aborted) return;
    const failure = error instanceof ProtocolError ? error : undefined;
    tell.change({ connection: "gone", failure });
    if (!failure) throw error;
  }
}

type Event = Parameters<typeof foldEvent>[1];

const FRAME_MS = 16;

/** Events of one frame become one change: a screen cannot show more. */
function createFrame(tell: Tell, signal: AbortSignal) {
  let waiting: Event[] = [];
  const flush = (): void => {
    const events = waiting;
    waiting = [];
    if (signal.aborted) return;
    const { screen } = tell.read();
    const next = events.reduce(foldEvent, screen);
    if (next !== screen) tell.change({ screen: next });
  };
  return {
    add(event: Event): void {
      if (waiting.push(event) === 1) setTimeout(flush, FRAME_MS);
    },
  };
}
