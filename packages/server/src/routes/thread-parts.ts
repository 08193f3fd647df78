/** Shared by the routes of a thread: the thread itself, its agent, its state as clients see it. */
import { READ_LIMIT_KEY, type ReadLimit, type ThreadClaim } from "@deepwright/checkpoint";
import type { Checkpoint, Interrupt, Thread, ThreadState } from "@deepwright/protocol";
import type { StateSnapshot } from "@langchain/langgraph";
import type { AnyGraph } from "../agents/graph-types.ts";
import { notFound, Problem } from "../http/problems.ts";
import type { ThreadHead, ThreadRecord } from "../records/records.ts";
import { CLAIM_KEY } from "../runs/input/run-input.ts";
import { ServiceError } from "../runs/service-error.ts";
import { publicKeys } from "../runs/thread-view.ts";
import { removeThread } from "../runs/upkeep/remove-thread.ts";
import { errorText } from "../runs/wire/wire-error.ts";
import type { Call } from "./call.ts";
import type { Services } from "./services.ts";

/** Without values and interrupts. 404 also for a thread of somebody else. */
export async function threadOf({ records }: Services, owner: string, threadId: string): Promise<ThreadHead> {
  const thread = await records.threads.head(owner, threadId);
  if (!thread) throw notFound("thread");
  return thread;
}

/** TOO_LARGE for one that is larger than an answer may be. */
export async function wholeThread(
  { records, limits }: Services,
  owner: string,
  threadId: string,
): Promise<ThreadRecord> {
  const thread = await records.threads.get(owner, threadId, limits.answerBytes);
  if (!thread) throw notFound("thread");
  return thread;
}

export function shownThread({ owner: _, incarnation: __, ...thread }: ThreadRecord): Thread {
  return thread;
}

/** The agent of the thread's last run, or the one it was created for; undefined before both. */
export async function graphOfThread(
  { agents }: Services,
  thread: Pick<ThreadRecord, "metadata">,
): Promise<AnyGraph | undefined> {
  const { graph_id: graphId } = thread.metadata;
  return typeof graphId === "string" && agents.has(graphId) ? agents.load(graphId) : undefined;
}

export interface CheckpointRef {
  readonly threadId: string;
  readonly checkpointId?: string | null | undefined;
  readonly namespace?: string | undefined;
}

/** `claim` is the one under which is written. */
export function configOf({ threadId, checkpointId, namespace }: CheckpointRef, claim?: ThreadClaim) {
  return {
    configurable: {
      thread_id: threadId,
      checkpoint_ns: namespace ?? "",
      ...(checkpointId != null && { checkpoint_id: checkpointId }),
      ...(claim && { [CLAIM_KEY]: claim }),
    },
  };
}

/** For reading: states larger than `mostBytes` are refused, and what is read counts as held by the request. */
export function readingConfig(
  { held, services }: Pick<Call, "held" | "services">,
  place: CheckpointRef,
  mostBytes = services.limits.answerBytes,
) {
  const { configurable } = configOf(place);
  const limit: ReadLimit = { mostBytes, admit: (bytes) => held.add(bytes) };
  return { configurable: { ...configurable, [READ_LIMIT_KEY]: limit } };
}

/** Without reading its values. */
export async function hasCheckpoint({ saver }: Services, place: CheckpointRef): Promise<boolean> {
  const { threadId, namespace = "", checkpointId } = place;
  return (await saver.storage.readTuple(threadId, namespace, checkpointId ?? undefined)) !== undefined;
}

export function emptyState(): ThreadState {
  return {
    values: {},
    next: [],
    tasks: [],
    metadata: {},
    created_at: null,
    checkpoint: null,
    parent_checkpoint: null,
  };
}

/** As LangGraph's servers write it. Keys that are the agent's own business are left out. */
export function shownState(snapshot: StateSnapshot, graph: AnyGraph): ThreadState {
  const isPublic = publicKeys(graph);
  return snapshot.config.configurable?.checkpoint_ns
    ? stateOf(snapshot, (key) => isPublic(key) && isPublicInside(key))
    : stateOf(snapshot, isPublic);
}

/** Keys of a subgraph, whose own schema is not at hand: private ones begin with `_`. */
const isPublicInside: IsPublic = (key) => !key.startsWith("_");

type IsPublic = (key: string) => boolean;

function stateOf(snapshot: StateSnapshot, isPublic: IsPublic): ThreadState {
  return {
    values: publicPart(snapshot.values ?? {}, isPublic) as Record<string, unknown>,
    next: [...(snapshot.next ?? [])],
    tasks: (snapshot.tasks ?? []).map((task) => ({
      id: task.id,
      name: task.name,
      path: [...(task.path ?? [])],
      error: task.error === undefined ? null : wordsOf(task.error),
      interrupts: (task.interrupts ?? []) as Interrupt[],
      checkpoint: task.state && "configurable" in task.state ? checkpointIn(task.state) : null,
      state: task.state && "values" in task.state ? stateOf(task.state, isPublicInside) : null,
      result: publicPart((task as { result?: unknown }).result ?? null, isPublic),
    })),
    metadata: (snapshot.metadata ?? {}) as Record<string, unknown>,
    created_at: snapshot.createdAt ?? null,
    checkpoint:
      snapshot.config.configurable?.checkpoint_id === undefined ? null : checkpointIn(snapshot.config),
    parent_checkpoint: snapshot.parentConfig ? checkpointIn(snapshot.parentConfig) : null,
  };
}

export function interruptsOf(state: ThreadState): Record<string, Interrupt[]> {
  const waiting = state.tasks.filter(({ interrupts }) => interrupts.length > 0);
  return Object.fromEntries(waiting.map(({ id, interrupts }) => [id, interrupts]));
}

/** Public values of a state or of an update; other values have no keys to hide. */
function publicPart(value: unknown, isPublic: IsPublic): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => isPublic(key)));
}

function checkpointIn(config: { readonly configurable?: Record<string, unknown> }): Checkpoint {
  const { thread_id, checkpoint_id, checkpoint_ns, checkpoint_map } = config.configurable ?? {};
  return {
    thread_id: thread_id as string,
    checkpoint_ns: (checkpoint_ns as string | undefined) ?? "",
    checkpoint_id: (checkpoint_id as string | undefined) ?? null,
    checkpoint_map: (checkpoint_map as Record<string, unknown> | undefined) ?? null,
  };
}

function wordsOf(error: unknown): string {
  if (typeof error === "string") return errorText(error);
  const { name, message } = (error ?? {}) as { name?: string; message?: string };
  return errorText([name, message].filter(Boolean).join(": ")) || "failed";
}

/**
 * Makes sure that `read` saw the requested thread: meanwhile it may have been deleted, and its id given to
 * somebody else.
 */
export async function readingThread<T>(
  services: Services,
  owner: string,
  threadId: string,
  read: (thread: ThreadHead) => Promise<T>,
): Promise<T> {
  const thread = await threadOf(services, owner, threadId);
  const found = await read(thread);
  await checkIsThere(services, thread);
  return found;
}

/** Writes to the state under its claim, so that it is not removed meanwhile. THREAD_BUSY while another has it. */
export async function writingThread<T>(
  services: Services,
  thread: ThreadHead,
  write: (held: ThreadClaim) => Promise<T>,
): Promise<T> {
  const held = await services.saver.claimThread(thread.thread_id, { mode: "refuse" });
  try {
    await checkIsThere(services, thread);
    return await write(held);
  } finally {
    await held.release().catch(() => undefined);
  }
}

export async function checkIsThere({ records }: Services, thread: ThreadHead): Promise<void> {
  if (!(await records.threads.has(thread))) throw notFound("thread");
}

/** With everything that belongs to it; runs that go on are ended first. One whose removal broke off goes on from there. */
export async function deleteThread(services: Services, owner: string, threadId: string): Promise<void> {
  const { records, closing, saver, agents } = services;
  const signal = AbortSignal.any([closing, AbortSignal.timeout(PATIENCE_MS)]);
  const incarnation = (await records.threads.head(owner, threadId))?.incarnation;
  const parts = { records, saver, registry: agents };
  for (;;) {
    await endRuns(services, owner, threadId, signal);
    const how = await removeThread(parts, { owner, thread_id: threadId, incarnation }, signal).catch(
      (error) => {
        throw signal.aborted ? stillBusy() : error;
      },
    );
    if (how === "gone") throw notFound("thread");
    if (how === "removed") return;
    if (signal.aborted) throw stillBusy();
  }
}

/** Cancels the runs of a thread and waits for their end. */
export async function endRunsOf(services: Services, owner: string, threadId: string): Promise<void> {
  const signal = AbortSignal.any([services.closing, AbortSignal.timeout(PATIENCE_MS)]);
  await threadOf(services, owner, threadId);
  await endRuns(services, owner, threadId, signal);
}

const PATIENCE_MS = 30_000;

const stillBusy = () => new Problem("THREAD_BUSY", "A run of the thread does not end.");

/** Where no worker is left to end them, the thread stays busy. */
async function endRuns(
  { records, runs }: Services,
  owner: string,
  threadId: string,
  signal: AbortSignal,
): Promise<void> {
  for (const status of ["pending", "running"] as const)
    for (const run of await records.runs.heads(owner, threadId, { limit: 1000, offset: 0, status }))
      await runs.cancel(owner, run.run_id, { action: "interrupt", wait: true, signal }).catch((error) => {
        if (signal.aborted) throw stillBusy();
        // It went with the thread, which another request has removed.
        if (!(error instanceof ServiceError && error.code === "NOT_FOUND")) throw error;
      });
}
