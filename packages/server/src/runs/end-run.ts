/** Ends runs before they end by themselves. */
import type { RunStatus } from "@deepwright/protocol";
import type { Queue } from "../queue/queue.ts";
import type { NewEvent, Owner, ServerRecords } from "../records/records.ts";
import type { ActiveRuns } from "./execution/active-runs.ts";
import type { Mailbox } from "./mail/mailbox.ts";
import { missing } from "./service-error.ts";
import type { DueWork } from "./upkeep/due-work.ts";
import { isOpen, untilEnded } from "./watch-run.ts";

export interface RunEnder {
  /** False: the run has ended already. With `wait`, resolves when it has ended. NOT_FOUND for an unknown run. */
  cancel(
    owner: Owner,
    runId: string,
    options?: {
      readonly action?: "interrupt" | "rollback";
      readonly wait?: boolean;
      /** Also everything that its thread has at work in the background, whether the run has ended or not. */
      readonly tasks?: boolean;
      readonly signal?: AbortSignal;
    },
  ): Promise<boolean>;
  /** Deletes the run with its events; an open run is ended first. False: there is no such run. */
  delete(owner: Owner, runId: string): Promise<boolean>;
}

export interface RunEnderParts {
  readonly records: ServerRecords;
  readonly queue: Queue;
  readonly active: ActiveRuns;
  readonly endOfUnbegun: (status: RunStatus) => readonly NewEvent[];
  readonly mailbox: Pick<Mailbox, "attendParent">;
  readonly follower: Pick<DueWork, "kick">;
  readonly completions: Pick<DueWork, "kick">;
}

export function createRunEnder(parts: RunEnderParts): RunEnder {
  const { records, queue, active, endOfUnbegun, mailbox } = parts;
  /** Ends all runs of the thread and of tasks below it: waiting ones at once, running ones soon. Returns the runs. */
  const stopThread = async (owner: Owner, threadId: string): Promise<readonly string[]> => {
    const ids = (await records.background.stop(owner, threadId)).map(({ run_id }) => run_id);
    for (const id of ids) active.run(id)?.cancel("interrupt");
    parts.follower.kick();
    parts.completions.kick();
    await queue.wake(threadId);
    await mailbox.attendParent(owner, threadId);
    return ids;
  };
  return {
    async cancel(owner, runId, { action = "interrupt", wait = false, tasks = false, signal } = {}) {
      const known = await records.runs.get(owner, runId);
      if (known === undefined) throw missing("run");
      const stopped = tasks ? await stopThread(owner, known.thread_id) : [];
      const run = await records.runs.requestCancel(owner, runId, action, endOfUnbegun("interrupted"));
      if (wait) await Promise.all(stopped.map((id) => untilEnded(records, owner, id, signal)));
      if (run === undefined) return stopped.length > 0;
      active.run(runId)?.cancel(action);
      parts.completions.kick();
      const isOver = !isOpen(run);
      // The run had not begun, so no worker will remove it.
      if (isOver && action === "rollback") await records.runs.delete(owner, runId);
      // Others of its thread may have waited for it; or it was given back, and a worker is to end it.
      if (run.status !== "running") await queue.wake(run.thread_id);
      if (isOver) await mailbox.attendParent(owner, run.thread_id);
      if (wait) await untilEnded(records, owner, runId, signal);
      return true;
    },
    async delete(owner, runId) {
      const run = await records.runs.get(owner, runId);
      if (run === undefined) return false;
      if (isOpen(run)) {
        await records.runs.requestCancel(owner, runId, "interrupt", endOfUnbegun("interrupted"));
        active.run(runId)?.cancel("interrupt");
        await untilEnded(records, owner, runId);
      }
      await records.runs.delete(owner, runId);
      return true;
    },
  };
}
