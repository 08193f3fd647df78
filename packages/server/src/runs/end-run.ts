/** Ends runs before they end by themselves. */
import type { RunStatus } from "@deepwright/protocol";
import type { Queue } from "../queue/queue.ts";
import type { NewEvent, ServerRecords } from "../records/records.ts";
import type { RunService } from "./run-service.ts";
import { missing } from "./service-error.ts";
import { isOpen, untilEnded } from "./watch-run.ts";
import type { Worker } from "./worker.ts";

export interface RunEnderParts {
  readonly records: ServerRecords;
  readonly queue: Queue;
  readonly worker: Pick<Worker, "active">;
  readonly endOfUnbegun: (status: RunStatus) => readonly NewEvent[];
}

export function createRunEnder(parts: RunEnderParts): Pick<RunService, "cancel" | "delete"> {
  const { records, queue, worker, endOfUnbegun } = parts;
  return {
    async cancel(owner, runId, { action = "interrupt", wait = false, signal } = {}) {
      if ((await records.runs.get(owner, runId)) === undefined) throw missing("run");
      const run = await records.runs.requestCancel(owner, runId, action, endOfUnbegun("interrupted"));
      if (run === undefined) return false;
      worker.active(runId)?.cancel(action);
      if (!isOpen(run)) {
        // It had not begun: nobody else will remove it, and others of its thread may have waited for it.
        if (action === "rollback") await records.runs.delete(owner, runId);
        await queue.wake(run.thread_id);
      }
      if (wait) await untilEnded(records, owner, runId, signal);
      return true;
    },
    async delete(owner, runId) {
      const run = await records.runs.get(owner, runId);
      if (run === undefined) return false;
      if (isOpen(run)) {
        await records.runs.requestCancel(owner, runId, "interrupt", endOfUnbegun("interrupted"));
        worker.active(runId)?.cancel("interrupt");
        await untilEnded(records, owner, runId);
      }
      await records.runs.delete(owner, runId);
      return true;
    },
  };
}
