/** Begins runs: finds whose work it is and where, checks answers to interrupts, and puts the run in line. */
import { createHash, randomUUID } from "node:crypto";
import type { Assistant, CreateRun, RunStatus } from "@deepwright/protocol";
import type { AgentRegistry } from "../agents/registry.ts";
import type { Queue } from "../queue/queue.ts";
import type { NewEvent, Owner, RunRecord, ServerRecords, ThreadRecord } from "../records/records.ts";
import { checkResume } from "./check-resume.ts";
import type { StartRun } from "./run-service.ts";
import { missing, ServiceError } from "./service-error.ts";
import type { Webhooks } from "./webhooks.ts";
import type { WireJson } from "./wire-json.ts";
import type { Worker } from "./worker.ts";

export interface StarterParts {
  readonly records: ServerRecords;
  readonly registry: AgentRegistry;
  readonly queue: Queue;
  readonly worker: Pick<Worker, "active">;
  readonly webhooks: Webhooks;
  readonly wireJson: WireJson;
}

export interface RunStarter {
  start(run: StartRun): Promise<RunRecord>;
  /** The events of a run that ended before it began. */
  endOfUnbegun(status: RunStatus): readonly NewEvent[];
}

/** The thread of a run without one, should nobody live to see the end of it: a week. */
const ORPHANED_MS = 7 * 86_400_000;

export function createRunStarter(parts: StarterParts): RunStarter {
  const { records, registry, queue, worker, webhooks, wireJson } = parts;
  const endOfUnbegun = (status: RunStatus) => [{ event: "end", data: wireJson({ status }) }];

  const start = async (given: StartRun): Promise<RunRecord> => {
    const { owner } = given;
    const request = settled(given);
    const assistant = await assistantFor(parts, owner, request);
    if (request.webhook) webhooks.check(request.webhook);
    const resume = request.command?.resume;
    const threadId = given.threadId ?? randomUUID();
    await threadFor(records, owner, threadId, given, assistant);
    const agent = resume === undefined ? undefined : await registry.load(assistant.graph_id);
    const key = given.idempotencyKey;
    // An answer that is sent again under its key is no second answer.
    if (agent && key === undefined) await checkResume(agent, threadId, resume);
    const strategy = given.strategy ?? (agent ? "reject" : (request.multitask_strategy ?? "enqueue"));
    const started = await records.runs.start({
      owner,
      runId: randomUUID(),
      threadId,
      assistantId: assistant.assistant_id,
      request,
      strategy,
      ...(key !== undefined && { idempotencyKey: key, requestHash: hashOf(given) }),
      ...(request.after_seconds ? { notBefore: Date.now() + request.after_seconds * 1_000 } : {}),
      endOfDisplaced: endOfUnbegun("interrupted"),
    });
    if (started.kind === "known") return started.run;
    if (started.kind !== "created") throw refusal(started.kind);
    const { run, displaced } = started;
    if (agent) await withdrawIfStale(run, () => checkResume(agent, threadId, resume));
    for (const other of displaced) {
      worker.active(other.run_id)?.cancel(strategy === "rollback" ? "rollback" : "interrupt");
      if (strategy === "rollback" && other.status === "interrupted")
        await records.runs.delete(owner, other.run_id);
    }
    await queue.wake(
      threadId,
      request.after_seconds ? Date.now() + request.after_seconds * 1_000 : undefined,
    );
    return run;
  };

  /** Now that nobody else can begin on the thread: two answers to one question may both have found it open. */
  const withdrawIfStale = async (run: RunRecord, check: () => Promise<void>): Promise<void> => {
    try {
      await check();
    } catch (error) {
      const now = await records.runs.get(run.owner, run.run_id);
      // A worker that searched for work has it already, and its end will tell.
      if (now?.status !== "pending") return;
      await records.runs.requestCancel(run.owner, run.run_id, "interrupt");
      await records.runs.delete(run.owner, run.run_id);
      throw error;
    }
  };

  return { start, endOfUnbegun };
}

/** What is stored of the request: what becomes of the thread is settled here. */
function settled({ threadId, request }: StartRun): CreateRun {
  const { on_completion, ...rest } = request;
  return threadId === undefined ? { ...rest, on_completion: on_completion ?? "delete" } : rest;
}

async function assistantFor(
  { records, registry }: StarterParts,
  owner: Owner,
  { assistant_id }: CreateRun,
): Promise<Assistant> {
  const found = registry.assistant(assistant_id) ?? (await records.assistants.get(owner, assistant_id));
  if (found === undefined || !registry.has(found.graph_id)) throw missing("assistant");
  return found;
}

async function threadFor(
  records: ServerRecords,
  owner: Owner,
  threadId: string,
  { threadId: asked, request }: StartRun,
  { assistant_id, graph_id }: Assistant,
): Promise<void> {
  const mark = { graph_id, assistant_id };
  const known = asked === undefined ? undefined : await records.threads.get(owner, asked);
  if (known) {
    const isMarked = known.metadata.graph_id === graph_id && known.metadata.assistant_id === assistant_id;
    if (!isMarked) await records.threads.patch(owner, threadId, { metadata: mark });
    return;
  }
  if (asked !== undefined && request.if_not_exists !== "create") throw missing("thread");
  const thread = newThread(owner, threadId, { ...request.metadata, ...mark });
  const expires = asked === undefined ? { expiresAt: Date.now() + ORPHANED_MS } : {};
  const put = await records.threads.put(owner, thread, { ifExists: "do_nothing", ...expires });
  if (put === "exists") throw missing("thread");
}

function newThread(owner: Owner, threadId: string, metadata: Record<string, unknown>): ThreadRecord {
  const now = new Date().toISOString();
  return {
    owner,
    thread_id: threadId,
    created_at: now,
    updated_at: now,
    state_updated_at: now,
    metadata,
    status: "idle",
    values: null,
    interrupts: {},
  };
}

function refusal(kind: "busy" | "key-reused" | "no-thread"): ServiceError {
  if (kind === "no-thread") return missing("thread");
  if (kind === "busy") return new ServiceError("THREAD_BUSY", "The thread has a run that has not ended.");
  return new ServiceError("KEY_REUSED", "The idempotency key was used with another request.");
}

function hashOf({ threadId, request }: StartRun): string {
  return createHash("sha256")
    .update(JSON.stringify([threadId ?? null, request]))
    .digest("hex");
}
