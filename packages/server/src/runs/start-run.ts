/** Begins runs: finds assistant and thread, checks the request, and puts the run in line. */
import { createHash, randomUUID } from "node:crypto";
import type { Assistant, CreateRun, MultitaskStrategy, RunStatus } from "@deepwright/protocol";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { AnyGraph } from "../agents/graph-types.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import type { Queue } from "../queue/queue.ts";
import type { NewEvent, Owner, RunRecord, RunRequest, ServerRecords } from "../records/records.ts";
import type { ActiveRuns } from "./execution/active-runs.ts";
import { checkInput } from "./input/check-input.ts";
import { checkResume } from "./input/check-resume.ts";
import { checkCheckpointIsThere } from "./input/find-checkpoint.ts";
import { chosenCheckpoint, givesAnswer } from "./input/run-input.ts";
import { missing, ServiceError } from "./service-error.ts";
import type { StartRun } from "./start-request.ts";
import { knownThread, makeThread, markThread } from "./thread-of-run.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";
import type { WireJson } from "./wire/wire-json.ts";

export interface StarterParts {
  readonly records: ServerRecords;
  readonly registry: AgentRegistry;
  readonly saver: BaseCheckpointSaver;
  readonly queue: Queue;
  readonly active: ActiveRuns;
  readonly webhooks: Webhooks;
  readonly wireJson: WireJson;
}

export interface RunStarter {
  /**
   * Begins a run, or puts it in line. THREAD_BUSY with the strategy `reject`, KEY_REUSED, NOT_FOUND for a thread, an
   * assistant or a checkpoint, NOTHING_TO_RESUME and INVALID_REQUEST for an answer without a question. The same key
   * gives the same run.
   */
  start(run: StartRun): Promise<RunRecord>;
  /** Begins all runs, or none: after a failure the earlier ones are taken back. For runs without a thread. */
  startAll(runs: readonly StartRun[]): Promise<RunRecord[]>;
  /** The events of a run that ended before it began. */
  endOfUnbegun(status: RunStatus): readonly NewEvent[];
}

export function createRunStarter(parts: StarterParts): RunStarter {
  const endOfUnbegun = (status: RunStatus) => [{ event: "end", data: parts.wireJson({ status }) }];
  return {
    async start(given) {
      const prepared = await knownOrPrepared(parts, given);
      if ("run" in prepared) return prepared.run;
      const begun = await begin(parts, prepared, endOfUnbegun("interrupted"));
      await begun.wake();
      return begun.run;
    },
    async startAll(all) {
      const prepared: (PreparedRun | { readonly run: RunRecord })[] = [];
      for (const given of all) prepared.push(await knownOrPrepared(parts, given));
      const begun: BegunRun[] = [];
      try {
        for (const one of prepared)
          begun.push(
            "run" in one ? { ...one, isNew: false, wake: async () => {} } : await begin(parts, one, []),
          );
      } catch (error) {
        for (const { run, isNew } of begun)
          if (isNew) await takeBack(parts, run, endOfUnbegun("interrupted"));
        throw error;
      }
      for (const { wake } of begun) await wake();
      return begun.map(({ run }) => run);
    },
    endOfUnbegun,
  };
}

/** Everything that can be refused was looked at; nothing is written. */
interface PreparedRun {
  readonly given: StartRun;
  readonly request: RunRequest;
  readonly assistant: Assistant;
  readonly threadId: string;
  readonly strategy: MultitaskStrategy;
  /** Puts the thread there, with its mark. */
  readonly settleThread: () => Promise<void>;
  /** Throws when the question that the run answers is no longer open. */
  readonly checkAnswer?: () => Promise<void>;
}

/** Looks the key up first: a repeated request is neither refused nor executed again. */
async function knownOrPrepared(
  parts: StarterParts,
  given: StartRun,
): Promise<PreparedRun | { readonly run: RunRecord }> {
  const known = await knownRun(parts.records, given);
  if (known) return { run: known };
  try {
    return await prepare(parts, given);
  } catch (error) {
    // The same request may have come in between, and have changed the facts for this one.
    const meanwhile = await knownRun(parts.records, given);
    if (meanwhile) return { run: meanwhile };
    throw error;
  }
}

async function knownRun({ runs }: ServerRecords, given: StartRun): Promise<RunRecord | undefined> {
  const { owner, idempotencyKey } = given;
  if (idempotencyKey === undefined) return undefined;
  const found = await runs.keyed({ owner, idempotencyKey, requestHash: hashOf(given) });
  if (found === undefined || found.kind === "known") return found?.run;
  throw refusal("key-reused");
}

async function prepare(parts: StarterParts, given: StartRun): Promise<PreparedRun> {
  const { records, registry, webhooks } = parts;
  const { owner } = given;
  const request = settled(given);
  const assistant = await assistantFor(parts, owner, request);
  if (request.webhook) webhooks.check(request.webhook);
  if (request.push) webhooks.check(request.push.url);
  const known = await knownThread(records, given);
  const threadId = given.threadId ?? randomUUID();
  const { checkpoint_id: checkpointId } = chosenCheckpoint(request);
  const isAnswer = givesAnswer(request);
  const needsAgent = isAnswer || (checkpointId !== undefined && known !== undefined);
  const agent = needsAgent ? await registry.load(assistant.graph_id) : undefined;
  await checkInput(request, () => agent ?? registry.load(assistant.graph_id));
  if (checkpointId !== undefined) {
    if (!known) throw missing("checkpoint");
    await checkCheckpointIsThere(agent as AnyGraph, { threadId, checkpointId });
  }
  await given.check?.();
  const checkAnswer = () => checkResume(agent as AnyGraph, threadId, request.command?.resume);
  if (isAnswer) await checkAnswer();
  return {
    given,
    request,
    assistant,
    threadId,
    strategy: given.strategy ?? (isAnswer ? "reject" : (request.multitask_strategy ?? "enqueue")),
    settleThread: () =>
      known ? markThread(records, known, assistant) : makeThread(parts, threadId, given, assistant),
    ...(isAnswer && { checkAnswer }),
  };
}

interface BegunRun {
  readonly run: RunRecord;
  /** False: the same was asked for before. */
  readonly isNew: boolean;
  /** Wakes a worker, and ends the runs that were displaced. */
  readonly wake: () => Promise<void>;
}

async function begin(
  parts: StarterParts,
  { given, request, assistant, threadId, strategy, settleThread, checkAnswer }: PreparedRun,
  endOfDisplaced: readonly NewEvent[],
): Promise<BegunRun> {
  const { records, queue } = parts;
  const { owner, idempotencyKey } = given;
  const runId = randomUUID();
  const notBefore = request.after_seconds ? Date.now() + request.after_seconds * 1_000 : undefined;
  await settleThread();
  const started = await records.runs.start({
    owner,
    runId,
    threadId,
    assistantId: assistant.assistant_id,
    request,
    ...(given.user && { user: given.user }),
    strategy,
    ...(idempotencyKey !== undefined && { idempotencyKey, requestHash: hashOf(given) }),
    ...(notBefore !== undefined && { notBefore }),
    endOfDisplaced: [{ event: "replaced", data: parts.wireJson({ by: runId, strategy }) }, ...endOfDisplaced],
  });
  // The thread was made for this run, which does not exist.
  if (started.kind !== "created" && given.threadId === undefined)
    await records.threads.delete(owner, threadId);
  if (started.kind === "known") return { run: started.run, isNew: false, wake: async () => {} };
  if (started.kind !== "created") throw refusal(started.kind);
  const { run, displaced } = started;
  if (checkAnswer) await withdrawIfStale(records, run, checkAnswer);
  return {
    run,
    isNew: true,
    wake: async () => {
      await endDisplaced(parts, displaced, strategy);
      await queue.wake(threadId, notBefore);
    },
  };
}

async function endDisplaced(
  { records, active }: StarterParts,
  displaced: readonly RunRecord[],
  strategy: MultitaskStrategy,
): Promise<void> {
  for (const other of displaced) {
    active.run(other.run_id)?.cancel(strategy === "rollback" ? "rollback" : "interrupt");
    if (strategy === "rollback" && other.status === "interrupted")
      await records.runs.delete(other.owner, other.run_id);
  }
}

/** Now no other run can begin on the thread. Two answers to one question may both have found it open. */
async function withdrawIfStale(
  { runs }: ServerRecords,
  { owner, run_id }: RunRecord,
  checkAnswer: () => Promise<void>,
): Promise<void> {
  try {
    await checkAnswer();
  } catch (error) {
    if (await runs.withdraw(owner, run_id)) throw error;
    // A worker that searched for work has it already, and its end will tell.
    if ((await runs.get(owner, run_id)) === undefined) throw error;
  }
}

/** A run that a worker has begun meanwhile is ended. */
async function takeBack(
  { records, active }: StarterParts,
  { owner, run_id, thread_id }: RunRecord,
  lastEvents: readonly NewEvent[],
): Promise<void> {
  if (await records.runs.withdraw(owner, run_id)) {
    await records.threads.delete(owner, thread_id);
    return;
  }
  await records.runs.requestCancel(owner, run_id, "interrupt", lastEvents);
  active.run(run_id)?.cancel("interrupt");
}

/** The stored part of the request, with the decision about the thread after the run. */
function settled({ threadId, request }: StartRun): RunRequest {
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

function refusal(kind: "busy" | "key-reused" | "no-thread"): ServiceError {
  if (kind === "no-thread") return missing("thread");
  if (kind === "busy") return new ServiceError("THREAD_BUSY", "The thread has a run that has not ended.");
  return new ServiceError("KEY_REUSED", "The idempotency key was used with another request.");
}

function hashOf({ threadId, request, keyStandsFor }: StartRun): string {
  return createHash("sha256")
    .update(JSON.stringify(keyStandsFor ?? [threadId ?? null, request]))
    .digest("hex");
}
