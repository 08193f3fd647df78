/** The thread of a run: an existing one, or one that is made for it. */
import type { Assistant } from "@deepwright/protocol";
import type { Owner, ServerRecords, ThreadRecord } from "../records/records.ts";
import { missing } from "./service-error.ts";
import type { StartRun } from "./start-request.ts";
import { clearLeftovers } from "./upkeep/remove-thread.ts";

/** A week: the time after which the thread of a run is removed if no process saw the end of the run. */
const ORPHANED_MS = 7 * 86_400_000;

/** Undefined: the thread has to be made. NOT_FOUND for a missing thread that must not be made. */
export async function knownThread(
  { threads }: ServerRecords,
  { owner, threadId, request }: StartRun,
): Promise<ThreadRecord | undefined> {
  const known = threadId === undefined ? undefined : await threads.get(owner, threadId);
  if (known === undefined && threadId !== undefined && request.if_not_exists !== "create")
    throw missing("thread");
  return known;
}

/** Marks the thread with agent and assistant, so that listings find it by them. */
export async function markThread(
  { threads }: ServerRecords,
  { owner, thread_id, metadata }: ThreadRecord,
  { assistant_id, graph_id }: Assistant,
): Promise<void> {
  const isMarked = metadata.graph_id === graph_id && metadata.assistant_id === assistant_id;
  if (!isMarked) await threads.patch(owner, thread_id, { metadata: { graph_id, assistant_id } });
}

/** NOT_FOUND for an id of another owner. */
export async function makeThread(
  parts: Parameters<typeof clearLeftovers>[0],
  threadId: string,
  { owner, threadId: asked, request }: StartRun,
  { assistant_id, graph_id }: Assistant,
): Promise<void> {
  const thread = newThread(owner, threadId, { ...request.metadata, graph_id, assistant_id });
  const goes = asked === undefined && (request.on_completion ?? "delete") === "delete";
  const expires = goes ? { expiresAt: Date.now() + ORPHANED_MS } : {};
  if (asked !== undefined) await clearLeftovers(parts, threadId);
  const put = await parts.records.threads.put(owner, thread, { ifExists: "do_nothing", ...expires });
  if (put === "exists") throw missing("thread");
}

export function newThread(owner: Owner, threadId: string, metadata: Record<string, unknown>): ThreadRecord {
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
