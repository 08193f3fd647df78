/** Threads: made, found, copied, removed. */
import { randomUUID } from "node:crypto";
import { openThreads, type ThreadClaim } from "@deepwright/checkpoint";
import type { CreateThread, Thread } from "@deepwright/protocol";
import type { AnyGraph } from "../agents/graph-types.ts";
import { invalid, notFound, Problem } from "../http/problems.ts";
import type { ThreadRecord } from "../records/records.ts";
import { titleOf } from "../records/thread-words.ts";
import { clientUpdate } from "../runs/input/client-messages.ts";
import { clearLeftovers } from "../runs/upkeep/remove-thread.ts";
import type { Call, Handlers } from "./call.ts";
import { checkUpdate } from "./checked-request.ts";
import { extractor } from "./extract.ts";
import { byteLimit, pageAnswer, pageHeaders, selected } from "./listing.ts";
import type { Services } from "./services.ts";
import { threadCommandRoutes } from "./thread-commands/thread-command-routes.ts";
import { threadFileRoutes } from "./thread-file-routes.ts";
import {
  checkIsThere,
  configOf,
  deleteThread,
  endRunsOf,
  graphOfThread,
  hasCheckpoint,
  shownThread,
  wholeThread,
  writingThread,
} from "./thread-parts.ts";
import { noteState, threadStateRoutes } from "./thread-state-routes.ts";
import { threadWorkRoutes } from "./thread-work-routes.ts";
import { threadComparisonRoutes } from "./undo/thread-comparison-routes.ts";
import { threadUndoRoutes } from "./undo/thread-undo-routes.ts";

export const threadRoutes: Handlers<"threads"> = {
  ...threadStateRoutes,
  ...threadWorkRoutes,
  ...threadCommandRoutes,
  ...threadFileRoutes,
  ...threadUndoRoutes,
  ...threadComparisonRoutes,

  "threads.create": async ({ owner, body, services }) => {
    const given: CreateThread = body ?? {};
    if (given.supersteps?.length && !services.engineCommands)
      throw invalid("supersteps are not allowed on this server.");
    const thread = newThread(owner, given);
    const options = { ifExists: given.if_exists ?? "raise", ...expiry(given.ttl) } as const;
    if (given.thread_id != null) await clearLeftovers(services, given.thread_id);
    if (given.supersteps?.length) return madeWith(given.supersteps, services, thread, options);
    return shownThread(await putThread(services, thread, options));
  },

  "threads.search": async (call) => {
    const { owner, body, services } = call;
    const query = { ...body, limit: body?.limit ?? 10, offset: body?.offset ?? 0 };
    const { threads } = services.records;
    const found = await threads.search(owner, query, byteLimit(services.limits));
    const total = await threads.count(owner, query);
    const extract = query.extract ? extractor(query.extract) : undefined;
    const shown = found.map((record): Thread => {
      const thread = shownThread(record);
      return extract ? { ...thread, extracted: extract(thread) } : thread;
    });
    const fields = query.select && query.extract ? [...query.select, "extracted"] : query.select;
    return pageAnswer(call, selected(shown, fields), pageHeaders(query, found.length, total));
  },

  "threads.count": async ({ owner, body, services }) => services.records.threads.count(owner, body ?? {}),

  "threads.prune": async ({ owner, body, services }) => {
    let pruned = 0;
    for (const threadId of new Set(body.thread_ids)) {
      const thread = await services.records.threads.head(owner, threadId);
      if (!thread) continue;
      // A run that is at work may be rolled back to what would be removed.
      if (body.strategy !== "delete" && thread.status === "busy") continue;
      if (body.strategy === "delete") await deleteThread(services, owner, threadId);
      else if (await hasCheckpoint(services, { threadId }))
        await writingThread(services, thread, () =>
          openThreads(services.saver).prune({ threadId, keepLatest: 1 }),
        );
      pruned++;
    }
    return { pruned_count: pruned };
  },

  "threads.get": async ({ owner, parameters: { thread_id }, services }) => {
    const [found, open] = await Promise.all([
      wholeThread(services, owner, thread_id),
      services.records.background.openOn(owner, thread_id),
    ]);
    return { ...shownThread(found), ...(open > 0 && { open_tasks: open }) };
  },

  "threads.update": async (call) => {
    const { owner, parameters, body, services, request } = call;
    if (body.trashed) await endRunsOf(services, owner, parameters.thread_id);
    const changed = await services.records.threads.patch(owner, parameters.thread_id, {
      ...(body.metadata && { metadata: body.metadata }),
      ...expiry(body.ttl),
      ...(body.title !== undefined && { title: body.title && titleOf(body.title) }),
      ...(body.archived != null && { archived: body.archived }),
      ...(body.trashed != null && { trashedUntil: body.trashed ? Date.now() + TRASH_MS : null }),
    });
    if (!changed) throw notFound("thread");
    const isMinimal = request.headers.get("prefer")?.includes("return=minimal");
    return isMinimal ? new Response(null, { status: 204 }) : shownThread(changed);
  },

  "threads.delete": async ({ owner, parameters, services }) => {
    await deleteThread(services, owner, parameters.thread_id);
    return undefined;
  },

  "threads.copy": copyThread,
};

function newThread(owner: string, given: CreateThread): ThreadRecord {
  const now = new Date().toISOString();
  return {
    owner,
    thread_id: given.thread_id ?? randomUUID(),
    created_at: now,
    updated_at: now,
    state_updated_at: now,
    metadata: given.metadata ?? {},
    status: "idle",
    values: null,
    interrupts: {},
  };
}

interface PutOptions {
  readonly ifExists: "raise" | "do_nothing";
  readonly expiresAt?: number;
}

async function putThread(
  { records }: Services,
  thread: ThreadRecord,
  options: PutOptions,
): Promise<ThreadRecord> {
  const put = await records.threads.put(thread.owner, thread, options);
  if (put === "exists") throw exists();
  return put;
}

const exists = () => new Problem("EXISTS", "There is a thread with this id.");

const MINUTE = 60_000;
/** How long a thread stays in the trash. */
const TRASH_MS = 30 * 24 * 60 * MINUTE;

function expiry(ttl: CreateThread["ttl"]): { readonly expiresAt?: number } {
  const minutes = typeof ttl === "object" ? ttl?.ttl : ttl;
  return minutes == null ? {} : { expiresAt: Date.now() + minutes * MINUTE };
}

async function copyThread({ owner, parameters, query, services }: Call<"threads.copy">): Promise<Thread> {
  const from = await wholeThread(services, owner, parameters.thread_id);
  const { checkpoint_id: checkpointId } = query;
  const hasState = await hasCheckpoint(services, { threadId: from.thread_id, checkpointId });
  if (checkpointId !== undefined && !hasState) throw notFound("checkpoint");
  const { thread_id: to, created_at } = newThread(owner, {});
  const status = from.status === "busy" ? "idle" : from.status;
  const copy = { ...from, thread_id: to, status, created_at, updated_at: created_at } as const;
  // The state first: a thread that is listed has its history.
  try {
    if (hasState) await services.saver.copyThread(from.thread_id, to);
    if (checkpointId !== undefined) await openThreads(services.saver).rewind(to, checkpointId, { roots: [] });
    await checkIsThere(services, from);
  } catch (error) {
    await services.saver.deleteThread(to);
    throw error;
  }
  const stored = await putThread(services, copy, { ifExists: "raise" });
  const graph = checkpointId === undefined ? undefined : await graphOfThread(services, from);
  if (graph) await noteState(services, graph, stored);
  return shownThread(await wholeThread(services, owner, to));
}

type Supersteps = NonNullable<CreateThread["supersteps"]>;

/** With a history as if the named nodes had made it. A thread that was there before keeps its own. */
async function madeWith(
  steps: Supersteps,
  services: Services,
  thread: ThreadRecord,
  options: PutOptions,
): Promise<Thread> {
  const graph = await graphOfThread(services, thread);
  if (!graph) throw invalid("supersteps need metadata.graph_id, the name of an agent.");
  for (const { updates } of steps) for (const { values } of updates) checkUpdate(values);
  const { records } = services;
  const { owner } = thread;
  const made = await records.threads.put(owner, thread, { ...options, ifExists: "raise" });
  if (made === "exists") {
    const known = options.ifExists === "do_nothing" && (await records.threads.get(owner, thread.thread_id));
    if (known) return shownThread(known);
    throw exists();
  }
  try {
    await writingThread(services, made, (held) => replay(graph, made.thread_id, steps, held));
  } catch (error) {
    // What does not fit the agent is only found out on the way.
    await deleteThread(services, owner, made.thread_id);
    throw error;
  }
  return shownThread(made);
}

async function replay(
  graph: AnyGraph,
  threadId: string,
  steps: Supersteps,
  held: ThreadClaim,
): Promise<void> {
  await graph.bulkUpdateState(
    configOf({ threadId }, held),
    steps.map(({ updates }) => ({
      updates: updates.map(({ values, as_node }) => ({
        values: clientUpdate(values) as never,
        asNode: as_node,
      })),
    })),
  );
}
