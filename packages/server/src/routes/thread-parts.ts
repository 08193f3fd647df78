/** What the routes of a thread share: the thread itself, its agent, its state as clients see it. */
import type { Checkpoint, Interrupt, Thread, ThreadState } from "@deepwright/protocol";
import type { StateSnapshot } from "@langchain/langgraph";
import type { AnyGraph } from "../agents/bind-agent.ts";
import { notFound, Problem } from "../http/problems.ts";
import type { ThreadRecord } from "../records/records.ts";
import { publicKeys } from "../runs/thread-view.ts";
import type { Services } from "./services.ts";

/** 404 also for a thread of somebody else. */
export async function threadOf(
  { records }: Services,
  owner: string,
  threadId: string,
): Promise<ThreadRecord> {
  const thread = await records.threads.get(owner, threadId);
  if (!thread) throw notFound("thread");
  return thread;
}

export function shownThread({ owner: _, ...thread }: ThreadRecord): Thread {
  return thread;
}

/** The agent of the thread's last run, or the one it was created for; undefined before both. */
export async function graphOfThread(
  { agents }: Services,
  thread: ThreadRecord,
): Promise<AnyGraph | undefined> {
  const { graph_id: graphId } = thread.metadata;
  return typeof graphId === "string" && agents.has(graphId) ? agents.load(graphId) : undefined;
}

export interface PlaceInThread {
  readonly threadId: string;
  readonly checkpointId?: string | null | undefined;
  readonly namespace?: string | undefined;
}

export function configOf({ threadId, checkpointId, namespace }: PlaceInThread) {
  return {
    configurable: {
      thread_id: threadId,
      checkpoint_ns: namespace ?? "",
      ...(checkpointId != null && { checkpoint_id: checkpointId }),
    },
  };
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

/** Of a graph inside, whose own schema is not at hand: private keys begin with a line. */
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
      checkpoint: task.state && "configurable" in task.state ? placeOf(task.state) : null,
      state: task.state && "values" in task.state ? stateOf(task.state, isPublicInside) : null,
      result: publicPart((task as { result?: unknown }).result ?? null, isPublic),
    })),
    metadata: (snapshot.metadata ?? {}) as Record<string, unknown>,
    created_at: snapshot.createdAt ?? null,
    checkpoint: snapshot.config.configurable?.checkpoint_id === undefined ? null : placeOf(snapshot.config),
    parent_checkpoint: snapshot.parentConfig ? placeOf(snapshot.parentConfig) : null,
  };
}

export function interruptsOf(state: ThreadState): Record<string, Interrupt[]> {
  const waiting = state.tasks.filter(({ interrupts }) => interrupts.length > 0);
  return Object.fromEntries(waiting.map(({ id, interrupts }) => [id, interrupts]));
}

/** Of a state, or of what a node wrote; anything else has no keys to hide. */
function publicPart(value: unknown, isPublic: IsPublic): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => isPublic(key)));
}

function placeOf(config: { readonly configurable?: Record<string, unknown> }): Checkpoint {
  const { thread_id, checkpoint_id, checkpoint_ns, checkpoint_map } = config.configurable ?? {};
  return {
    thread_id: thread_id as string,
    checkpoint_ns: (checkpoint_ns as string | undefined) ?? "",
    checkpoint_id: (checkpoint_id as string | undefined) ?? null,
    checkpoint_map: (checkpoint_map as Record<string, unknown> | undefined) ?? null,
  };
}

function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  const { name, message } = (error ?? {}) as { name?: string; message?: string };
  return [name, message].filter(Boolean).join(": ") || "failed";
}

/**
 * With everything that belongs to it; runs that go on are ended first. The record last: it is what leads to the rest, and
 * what keeps its id from others. Whatever happens in between, its owner can ask again.
 */
export async function deleteThread(services: Services, owner: string, threadId: string): Promise<void> {
  await endRuns(services, owner, threadId);
  await services.saver.deleteThread(threadId);
  if (!(await services.records.threads.delete(owner, threadId))) throw notFound("thread");
}

const PATIENCE_MS = 30_000;

/** Where no worker is left to end them, the thread stays busy. */
async function endRuns({ records, runs, closing }: Services, owner: string, threadId: string): Promise<void> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(PATIENCE_MS)]);
  for (const status of ["pending", "running"] as const)
    for (const run of await records.runs.list(owner, threadId, { limit: 1000, offset: 0, status }))
      await runs.cancel(owner, run.run_id, { action: "interrupt", wait: true, signal }).catch((error) => {
        throw signal.aborted ? new Problem("THREAD_BUSY", "A run of the thread does not end.") : error;
      });
}
