/** A stream of events that survives its connection: no event twice, none left out. */
import { parseEventId } from "../events/event-id.ts";
import { parseEventName } from "../events/event-name.ts";
import { HEADER } from "../headers.ts";
import { isIdentifier } from "../identifier.ts";
import { createSseDecoder, type SseEvent } from "../sse.ts";
import type { Connection } from "./connection.ts";
import { ProtocolError } from "./protocol-error.ts";

/** An event as a reader gets it. */
export interface StreamedEvent {
  /** Hand it back as `lastEventId` to go on behind it. */
  readonly id?: string;
  /** The run it belongs to, as soon as that is known. */
  readonly runId?: string;
  /** As it came, such as `updates|tools:1`. */
  readonly event: string;
  readonly kind: string;
  readonly namespace: readonly string[];
  readonly data: unknown;
}

export interface ReconnectOptions {
  /** Tries in a row that bring no event, before the stream is given up. Default 8; 0: never again. */
  readonly attempts?: number;
  /** Milliseconds before the first of them; each waits twice as long as the one before. Default 250. */
  readonly firstDelayMs?: number;
  /** Default 10,000. */
  readonly maxDelayMs?: number;
  /** Milliseconds without a byte after which a stream that can be resumed is taken for dead. Default 60,000; 0: never. */
  readonly idleMs?: number;
}

export interface FollowOptions {
  readonly connection: Connection;
  /** The first request. */
  readonly open: (signal: AbortSignal | undefined) => Promise<Response>;
  /** Where the stream is resumed with GET, if that is known before the first answer. */
  readonly path?: string;
  /** The run of the stream, if it is known before its first event. */
  readonly runId?: string;
  readonly lastEventId?: string;
  /** The first request may be made again when no answer came: it carries an idempotency key. */
  readonly repeatable?: boolean;
  /** The stream is over with the event `end`. False for streams that go on with the next run. */
  readonly untilEnd: boolean;
  readonly reconnect?: ReconnectOptions;
  readonly signal?: AbortSignal;
}

/** Throws the reason of the signal, and `ProtocolError` when the stream is lost for good. */
export async function* followStream(options: FollowOptions): AsyncGenerator<StreamedEvent, void, undefined> {
  const { connection, signal, untilEnd } = options;
  const { attempts = 8, idleMs = 60_000 } = options.reconnect ?? {};
  const seen = createSeen(options.lastEventId);
  let path = options.path;
  let failures = 0;
  let promised = false;
  let received = false;
  let runId = options.runId;
  let open = options.open;
  for (;;) {
    let failure: unknown;
    let news = 0;
    let silent = false;
    try {
      const response = await open(signal);
      path ??= connection.ownPath(response.headers.get(HEADER.location));
      promised ||= response.headers.get(HEADER.streamEnd) === "end";
      const idle = path === undefined ? 0 : idleMs;
      for await (const event of readBody(response, idle, signal)) {
        if (event === "silent") {
          silent = true;
          break;
        }
        if (!seen.isNew(event.id)) continue;
        news += 1;
        received = true;
        failures = 0;
        const streamed = readEvent(event, runId);
        runId = streamed.runId;
        yield streamed;
        if (untilEnd && streamed.kind === "end") return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      failure = error;
      if (error instanceof ProtocolError && !error.temporary) throw error;
    }
    const resumed = open !== options.open;
    // A server that promises no `end` has nothing more to say when a second look brings nothing; neither has one
    // that was asked for what comes behind its `end`.
    const owed = promised && (received || options.lastEventId === undefined);
    const over = seen.last === undefined || (resumed && news === 0);
    if (untilEnd && !owed && over && failure === undefined && !silent) return;
    if (!silent && news === 0) failures += 1;
    const again = path !== undefined || (options.repeatable === true && seen.last === undefined);
    if (!again || failures > attempts || attempts === 0) throw failure ?? lost();
    if (!silent) await pause(delayOf(failures, failure, options.reconnect), signal);
    if (path === undefined) continue;
    const resumePath = path;
    open = (abort) =>
      connection.resume(resumePath, {
        ...(seen.last === undefined ? {} : { headers: { [HEADER.lastEventId]: seen.last } }),
        ...(abort === undefined ? {} : { signal: abort }),
      });
  }
}

function lost(): ProtocolError {
  return new ProtocolError("The stream was cut and cannot be resumed.", { status: 0, code: "STREAM_LOST" });
}

/** Remembers the last event; numbers of ours say which come before it. */
function createSeen(first: string | undefined) {
  let last = first;
  return {
    get last() {
      return last;
    },
    isNew(id: string | undefined): boolean {
      if (id === undefined) return true;
      if (last !== undefined) {
        const [before, now] = [parseEventId(last), parseEventId(id)];
        if (id === last) return false;
        if (before && now && before.runId === now.runId && now.sequence <= before.sequence) return false;
      }
      last = id;
      return true;
    },
  };
}

/** `metadata` names the run of the events that follow; in the stream of a thread every id does. */
function readEvent({ id, event, data }: SseEvent, known: string | undefined): StreamedEvent {
  let value: unknown;
  try {
    value = data === "" ? null : JSON.parse(data);
  } catch (cause) {
    throw new ProtocolError(`The data of an event '${event}' are no JSON.`, {
      status: 200,
      code: "INVALID_ANSWER",
      cause,
    });
  }
  const name = parseEventName(event);
  const named = name.kind === "metadata" ? runIdIn(value) : undefined;
  const runId = (id === undefined ? undefined : parseEventId(id)?.runId) ?? named ?? known;
  return {
    ...(id === undefined ? {} : { id }),
    ...(runId === undefined ? {} : { runId }),
    event,
    ...name,
    data: value,
  };
}

function runIdIn(value: unknown): string | undefined {
  const { run_id: id } = (value ?? {}) as { readonly run_id?: unknown };
  return typeof id === "string" && isIdentifier(id) ? id : undefined;
}

/** Longer timers fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The events of one connection, then perhaps `silent`. The abort reaches a body that knows nothing of signals. */
async function* readBody(
  response: Response,
  idleMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<SseEvent | "silent", void, undefined> {
  if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream") || !response.body)
    throw new ProtocolError("The answer is no stream of events.", {
      status: response.status,
      code: "INVALID_ANSWER",
    });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = createSseDecoder();
  const letGo = () => void reader.cancel().catch(() => {});
  let silent = false;
  signal?.addEventListener("abort", letGo, { once: true });
  try {
    for (;;) {
      const timer =
        idleMs > 0
          ? setTimeout(
              () => {
                silent = true;
                letGo();
              },
              Math.min(idleMs, LONGEST_TIMER_MS),
            )
          : undefined;
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      signal?.throwIfAborted();
      if (silent) yield "silent";
      if (done) return;
      yield* decoder.push(value);
    }
  } finally {
    signal?.removeEventListener("abort", letGo);
    letGo();
  }
}

/** Milliseconds before the next try: what the server asked for, up to a minute, or twice the last one with some chance. */
function delayOf(failures: number, failure: unknown, options: ReconnectOptions = {}): number {
  const { firstDelayMs = 250, maxDelayMs = 10_000 } = options;
  const asked = failure instanceof ProtocolError ? failure.retryAfter : undefined;
  if (asked !== undefined) return Math.min(asked, 60) * 1000;
  const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.max(0, failures - 1));
  return delay * (0.5 + Math.random() / 2);
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish, { once: true });
  });
  signal?.throwIfAborted();
}
