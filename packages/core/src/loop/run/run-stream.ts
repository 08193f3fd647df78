import { IterableReadableStream } from "@langchain/core/utils/stream";
import type { RunNote } from "./run-thread-claim.ts";

/**
 * The stream of a run for callers. Leaving it (a `break`, a cancelled reader, a closed connection) stops the run; the
 * engine alone would continue in the background.
 */
export class RunStream extends IterableReadableStream<unknown> {
  readonly #stop: AbortController;

  /** `stop` must abort the run that `chunks` come from; `note` tells of the claim it may have. */
  constructor(
    chunks: AsyncIterator<unknown>,
    stop: AbortController,
    map: (chunk: unknown) => unknown,
    note: RunNote,
  ) {
    super({
      async pull(controller) {
        const { done, value } = await chunks.next().catch((error) => endedBy(error, note));
        if (done) controller.close();
        else controller.enqueue(map(value));
      },
      async cancel(reason) {
        stop.abort(reason);
        void drain(chunks);
        await note.claim?.whenFree();
      },
    });
    this.#stop = stop;
  }

  /** Works while the stream is being read, too: the reader gets the abort as an error. */
  override async cancel(reason?: unknown): Promise<void> {
    if (this.locked) this.#stop.abort(reason);
    else await super.cancel(reason);
  }
}

/** Throws the error of a run once its thread is free. */
export async function endedBy(error: unknown, { claim }: RunNote): Promise<never> {
  await claim?.whenFree();
  throw claim ? claim.reason(error) : error;
}

/** A signal that fires with the run's own stop or the caller's. */
export function stopSignal(stop: AbortController, signal: AbortSignal | undefined): AbortSignal {
  return signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
}

/** Reads on until the run has ended, since its last error would otherwise have no reader. */
async function drain(chunks: AsyncIterator<unknown>): Promise<void> {
  try {
    while (!(await chunks.next()).done);
  } catch {
    // The abort we asked for.
  }
}
