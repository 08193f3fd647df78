/**
 * Events to one reader, as fast as it takes them.
 *
 * An event is fetched when the reader has taken those before it, a large one piece by piece: what a slow one has not
 * read waits in the log, not in memory. A reader that takes nothing for too long is cut off without an end, and goes on where it was.
 */
import { HEARTBEAT } from "@deepwright/protocol";
import { type StreamedEvent, textsOf } from "./event-texts.ts";
import type { Heartbeat } from "./heartbeat.ts";

export type { StreamedEvent };

export interface EventStreamOptions {
  readonly heartbeat: Heartbeat;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when the server goes: the answer breaks off, so that clients come back. */
  readonly closing: AbortSignal;
  /** How long something may wait for a reader that takes nothing: less than a piece of an event. */
  readonly stallMs: number;
  /** Breaks the connection off. Absent: the body fails. */
  readonly cut?: (() => void) | undefined;
  /** Hears why a source failed. */
  readonly onError?: (error: unknown) => void;
  /** Once: the reader has everything, or it is gone. */
  readonly onEnd?: (complete: boolean) => void;
}

/** `open` gets a signal that is aborted when the reader leaves; it must then stop waiting. */
export function eventResponse(
  open: (signal: AbortSignal) => AsyncIterable<StreamedEvent>,
  options: EventStreamOptions,
): Response {
  return new Response(eventBody(open, options), {
    headers: {
      ...options.headers,
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    },
  });
}

const encoder = new TextEncoder();
const BEAT = encoder.encode(HEARTBEAT);
/** Bytes a reader must take within `stallMs`, however large an event is. */
const PIECE_BYTES = 256 * 1024;

function eventBody(
  open: (signal: AbortSignal) => AsyncIterable<StreamedEvent>,
  options: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const texts = textsOf(open(gone.signal));
  let finish: (complete: boolean) => void = () => {};
  /** When a beat first found that the reader takes nothing; 0: it does. */
  let waitingSince = 0;
  /** The rest of a text that the reader has begun to take. */
  let rest: Uint8Array | undefined;
  /** The reader has a part of an event, and not all of it. */
  let isWithin = false;
  const sendPiece = (controller: ReadableStreamDefaultController, bytes: Uint8Array): void => {
    rest = bytes.length > PIECE_BYTES ? bytes.subarray(PIECE_BYTES) : undefined;
    controller.enqueue(bytes.subarray(0, PIECE_BYTES));
  };
  /** Without an end, so that the reader knows there is more. */
  const breakOff = (controller: ReadableStreamDefaultController, why: string): void => {
    finish(false);
    if (options.cut) options.cut();
    else controller.error(new Error(why));
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const stopBeat = options.heartbeat.add(() => {
          if ((controller.desiredSize ?? 0) > 0) {
            waitingSince = 0;
            // In the middle of an event it would be part of it.
            if (rest === undefined && !isWithin) controller.enqueue(BEAT);
          } else if (waitingSince === 0) waitingSince = performance.now();
          else if (performance.now() - waitingSince > options.stallMs)
            breakOff(controller, "The reader takes nothing.");
        });
        const onClosing = () => breakOff(controller, "The server closes.");
        options.closing.addEventListener("abort", onClosing, { once: true });
        finish = (complete) => {
          finish = () => {};
          stopBeat();
          options.closing.removeEventListener("abort", onClosing);
          gone.abort();
          // A source that waits ends by the signal, one that rests at an event by this.
          if (!complete) void texts.return().catch(() => {});
          options.onEnd?.(complete);
        };
        if (options.closing.aborted) onClosing();
      },
      async pull(controller) {
        waitingSince = 0;
        if (rest !== undefined) return sendPiece(controller, rest);
        try {
          const { done, value } = await texts.next();
          if (gone.signal.aborted) return;
          if (!done) {
            isWithin = !value.isLast;
            return sendPiece(controller, encoder.encode(value.text));
          }
          finish(true);
          controller.close();
        } catch (error) {
          if (gone.signal.aborted) return;
          options.onError?.(error);
          breakOff(controller, "The stream failed.");
        }
      },
      cancel() {
        finish(false);
      },
    },
    new CountQueuingStrategy({ highWaterMark: 1 }),
  );
}
