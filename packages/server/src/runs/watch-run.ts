/** Waits for the end of runs, wherever they are worked on. */
import type { RunOutcome } from "@deepwright/protocol";
import type { Owner, RunRecord, ServerRecords } from "../records/records.ts";

const VALUES_TOO_LARGE = {
  error: "TOO_LARGE",
  message: "The run has ended, and its values are larger than an answer may be: read the thread in parts.",
};

/** Milliseconds between looks without a notification, because notifications may be lost. */
const LOOK_AGAIN_MS = 5_000;

/** Whether it has not ended. */
export function isOpen(run: RunRecord | undefined): boolean {
  return run?.status === "pending" || run?.status === "running";
}

/** The run as it ended; undefined when it is gone. */
export async function untilEnded(
  records: ServerRecords,
  owner: Owner,
  runId: string,
  signal?: AbortSignal,
): Promise<RunRecord | undefined> {
  let wake: () => void = () => {};
  let changed = false;
  const stop = records.events.watch(runId, () => {
    changed = true;
    wake();
  });
  const onAbort = () => wake();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal?.throwIfAborted();
      changed = false;
      const run = await records.runs.get(owner, runId);
      if (!isOpen(run)) return run;
      await new Promise<void>((done) => {
        const timer = setTimeout(done, LOOK_AGAIN_MS);
        wake = () => {
          clearTimeout(timer);
          done();
        };
        if (changed || signal?.aborted) wake();
      });
    }
  } finally {
    stop();
    signal?.removeEventListener("abort", onAbort);
  }
}

/** The answer of `wait`. Values of more than `mostBytes` are an `__error__`: the headers of the answer are sent already. */
export async function outcomeOf(
  records: ServerRecords,
  begun: RunRecord,
  ended: RunRecord | undefined,
  mostBytes?: number,
): Promise<RunOutcome> {
  const thread = await records.threads.get(begun.owner, begun.thread_id, mostBytes).catch((error) => {
    if (error.code === "VALUE_TOO_LARGE") return null;
    throw error;
  });
  if (thread === null) return { __error__: ended?.error ?? VALUES_TOO_LARGE };
  if (ended?.error) return { ...thread?.values, __error__: ended.error };
  if (thread === undefined) return null;
  const interrupts = Object.values(thread.interrupts).flat();
  if (interrupts.length === 0) return thread.values;
  return { ...thread.values, __interrupt__: interrupts };
}
