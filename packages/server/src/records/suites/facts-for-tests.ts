/** Records for tests. */
import { randomUUID } from "node:crypto";
import type { Assistant, Cron } from "@deepwright/protocol";
import type { NewRun, RunClaim, ServerRecords, ThreadRecord } from "../records.ts";

export const TTL = 600_000;

export function thread(owner: string, more: Partial<ThreadRecord> = {}): ThreadRecord {
  const now = new Date().toISOString();
  return {
    thread_id: randomUUID(),
    owner,
    created_at: now,
    updated_at: now,
    state_updated_at: now,
    metadata: {},
    status: "idle",
    values: null,
    interrupts: {},
    ...more,
  };
}

export function assistant(more: Partial<Assistant> = {}): Assistant {
  const now = new Date().toISOString();
  return {
    assistant_id: randomUUID(),
    graph_id: "agent",
    name: "Agent",
    config: {},
    context: {},
    metadata: {},
    version: 1,
    created_at: now,
    updated_at: now,
    ...more,
  };
}

export function cron(more: Partial<Cron> = {}): Cron {
  const now = new Date().toISOString();
  return {
    cron_id: randomUUID(),
    assistant_id: "agent",
    thread_id: null,
    schedule: "0 */6 * * *",
    timezone: null,
    end_time: null,
    enabled: true,
    on_run_completed: "keep",
    payload: {},
    user_id: null,
    next_run_date: now,
    metadata: {},
    created_at: now,
    updated_at: now,
    ...more,
  };
}

export function newRun(owner: string, threadId: string, more: Partial<NewRun> = {}): NewRun {
  return {
    owner,
    runId: randomUUID(),
    threadId,
    assistantId: "agent",
    request: { assistant_id: "agent", input: { messages: [] } },
    strategy: "enqueue",
    ...more,
  };
}

export async function newThread(records: ServerRecords, owner: string): Promise<string> {
  const { thread_id: threadId } = thread(owner);
  await records.threads.put(owner, thread(owner, { thread_id: threadId }), { ifExists: "raise" });
  return threadId;
}

/** Starts a run and returns its id. */
export async function started(
  records: ServerRecords,
  owner: string,
  threadId: string,
  more: Partial<NewRun> = {},
): Promise<string> {
  const result = await records.runs.start(newRun(owner, threadId, more));
  if (result.kind !== "created") throw new Error(`The run was not created: ${result.kind}.`);
  return result.run.run_id;
}

export async function claimed(
  records: ServerRecords,
  threadId: string,
  worker = "worker",
  ttlMs = TTL,
): Promise<RunClaim> {
  const claim = await records.runs.claimNext(threadId, worker, ttlMs);
  if (claim === undefined) throw new Error("There was nothing to claim.");
  return claim;
}

export function finished(records: ServerRecords, claim: RunClaim): Promise<boolean> {
  return records.runs.finish(claim, { status: "success", threadStatus: "idle" }, []);
}

export const said = (text: string) => ({ event: "values", data: JSON.stringify({ text }) });
