/** An answer that takes its time: line ends keep the connection alive until the JSON is there. */
import type { Heartbeat } from "./heartbeat.ts";

export interface WaitOptions {
  readonly heartbeat: Heartbeat;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when the server goes. */
  readonly closing: AbortSignal;
  /** Breaks the connection off. Absent: the body fails. */
  readonly cut?: (() => void) | undefined;
  /** Hears why the work failed. */
  readonly onError?: (error: unknown) => void;
  /** Once: the answer is complete, or the client is gone. */
  readonly onEnd?: (complete: boolean) => void;
}

/** `work` resolves with JSON text. Its signal is aborted when the client leaves. */
export function waitResponse(
  work: (signal: AbortSignal) => Promise<string>,
  { heartbeat, headers, closing, cut, onError, onEnd }: WaitOptions,
): Response {
  const gone = new AbortController();
  let finish: (complete: boolean) => void = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      const stopBeat = heartbeat.add(() => controller.enqueue(encoder.encode("\n")));
      const onClosing = () => breakOff("The server closes.");
      const breakOff = (why: string) => {
        if (gone.signal.aborted) return;
        finish(false);
        if (cut) cut();
        else controller.error(new Error(why));
      };
      closing.addEventListener("abort", onClosing, { once: true });
      finish = (complete) => {
        finish = () => {};
        stopBeat();
        closing.removeEventListener("abort", onClosing);
        gone.abort();
        onEnd?.(complete);
      };
      if (closing.aborted) return onClosing();
      work(gone.signal).then(
        (json) => {
          if (gone.signal.aborted) return;
          finish(true);
          controller.enqueue(encoder.encode(json));
          controller.close();
        },
        (error) => {
          if (!gone.signal.aborted) onError?.(error);
          breakOff("The work failed.");
        },
      );
    },
    cancel() {
      finish(false);
    },
  });
  return new Response(body, { headers: { ...headers, "content-type": "application/json" } });
}
