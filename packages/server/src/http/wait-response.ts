/** An answer that takes its time: line ends keep the connection alive until the JSON is there. */
import type { Heartbeat } from "./heartbeat.ts";

export interface WaitOptions {
  readonly heartbeat: Heartbeat;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when the server goes. */
  readonly closing: AbortSignal;
  /** Once: the answer is complete, or the client is gone. */
  readonly onEnd?: (complete: boolean) => void;
}

/** `work` resolves with JSON text; it is told when the client leaves. */
export function waitResponse(
  work: (signal: AbortSignal) => Promise<string>,
  { heartbeat, headers, closing, onEnd }: WaitOptions,
): Response {
  const gone = new AbortController();
  let finish: (complete: boolean) => void = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      const stopBeat = heartbeat.add(() => controller.enqueue(encoder.encode("\n")));
      const onClosing = () => fail(new Error("The server closes."));
      const fail = (error: unknown) => {
        if (gone.signal.aborted) return;
        finish(false);
        controller.error(error);
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
      work(gone.signal).then((json) => {
        if (gone.signal.aborted) return;
        finish(true);
        controller.enqueue(encoder.encode(json));
        controller.close();
      }, fail);
    },
    cancel() {
      finish(false);
    },
  });
  return new Response(body, { headers: { ...headers, "content-type": "application/json" } });
}
