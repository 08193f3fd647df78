/** The state of a thread: as it is, as it was, and what a client may write into it. */

import { type Checkpoint, HEADER, type ThreadHistory, type ThreadState } from "@deepwright/protocol";
import type { AnyGraph } from "../agents/graph-types.ts";
import { HeldAnswer } from "../http/held-answer.ts";
import { invalid, notFound, Problem } from "../http/problems.ts";
import type { ThreadHead } from "../records/records.ts";
import { clientValues } from "../runs/input/client-messages.ts";
import { checkCheckpointIsThere } from "../runs/input/find-checkpoint.ts";
import { CLAIM_KEY } from "../runs/input/run-input.ts";
import { readState } from "../runs/state/read-state.ts";
import type { Call, Handlers } from "./call.ts";
import { checkCheckpoint, checkInputKeys, checkValues } from "./checked-request.ts";
import { PageText } from "./listing.ts";
import type { Services } from "./services.ts";
import {
  type CheckpointRef,
  configOf,
  emptyState,
  graphOfThread,
  hasCheckpoint,
  interruptsOf,
  readingConfig,
  readingThread,
  shownState,
  threadOf,
  writingThread,
} from "./thread-parts.ts";

type StateRoutes = Pick<
  Handlers<"threads">,
  | "threads.getState"
  | "threads.getStateAt"
  | "threads.getStateAtCheckpoint"
  | "threads.updateState"
  | "threads.patchState"
  | "threads.history"
>;

export const threadStateRoutes: StateRoutes = {
  "threads.getState": async (call) =>
    stateAt(call, { threadId: call.parameters.thread_id }, call.query.subgraphs),

  "threads.getStateAtCheckpoint": async (call) => {
    const { thread_id: threadId, checkpoint_id: checkpointId } = call.parameters;
    return stateAt(call, { threadId, checkpointId }, call.query.subgraphs);
  },

  "threads.getStateAt": async (call) => {
    const { checkpoint, subgraphs } = call.body;
    const threadId = call.parameters.thread_id;
    if (checkpoint.thread_id != null && checkpoint.thread_id !== threadId) throw notFound("checkpoint");
    const place = { threadId, checkpointId: checkpoint.checkpoint_id, namespace: checkpoint.checkpoint_ns };
    return stateAt(call, place, subgraphs ?? false);
  },

  "threads.updateState": updateState,

  "threads.patchState": async ({ owner, parameters, body, services }) => {
    const changed = await services.records.threads.patch(owner, parameters.thread_id, {
      metadata: body.metadata,
    });
    if (!changed) throw notFound("thread");
    return { configurable: { thread_id: changed.thread_id } };
  },

  "threads.history": async (call) =>
    readingThread(call.services, call.owner, call.parameters.thread_id, async (thread) => {
      const graph = await graphOfThread(call.services, thread);
      return graph ? historyOf(call, graph) : [];
    }),
};

type Reading = Pick<Call, "services" | "owner" | "held">;

async function stateAt(call: Reading, place: CheckpointRef, subgraphs: boolean): Promise<ThreadState> {
  const { services, owner } = call;
  return readingThread(services, owner, place.threadId, async (thread) => {
    const graph = await graphOfThread(services, thread);
    if (place.checkpointId != null && !(await hasCheckpoint(services, place))) throw notFound("checkpoint");
    if (!graph) return emptyState();
    return shownState(await readState(graph, readingConfig(call, place), { subgraphs }), graph);
  });
}

/** A page ends when it is full; its header names the checkpoint the next one lies before. */
async function historyOf(call: Call<"threads.history">, graph: AnyGraph): Promise<HeldAnswer> {
  const threadId = call.parameters.thread_id;
  const { limit = 10, before, metadata, checkpoint } = call.body ?? {};
  const beforeId = checkpointIdOf(before);
  const page = new PageText(call);
  let last: ThreadState | undefined;
  let isCut = false;
  const history = graph.getStateHistory(
    readingConfig(call, {
      threadId,
      namespace: checkpoint?.checkpoint_ns,
      checkpointId: checkpoint?.checkpoint_id,
    }),
    {
      limit,
      ...(beforeId != null && { before: configOf({ threadId, checkpointId: beforeId }) }),
      ...(metadata != null && { filter: metadata }),
    },
  );
  for await (const snapshot of history) {
    const state = shownState(snapshot, graph);
    isCut = !page.add(state);
    if (isCut) break;
    last = state;
  }
  const next = last?.checkpoint?.checkpoint_id;
  const hasMore = isCut || (page.count === limit && last?.parent_checkpoint != null);
  return new HeldAnswer(page.list, next != null && hasMore ? { [HEADER.paginationNext]: next } : {});
}

function checkpointIdOf(before: ThreadHistory["before"]): string | null | undefined {
  if (typeof before === "string" || before == null) return before;
  return "configurable" in before
    ? (before.configurable as Checkpoint).checkpoint_id
    : (before as Checkpoint).checkpoint_id;
}

async function updateState({ owner, parameters, body, services }: Call<"threads.updateState">) {
  const { values, as_node: asNode, checkpoint, checkpoint_id } = body;
  const threadId = parameters.thread_id;
  checkCheckpoint(checkpoint, threadId);
  checkValues(values);
  if (asNode != null && !services.engineCommands) throw invalid("as_node is not allowed on this server.");
  const thread = await threadOf(services, owner, threadId);
  const graph = await graphOfThread(services, thread);
  if (!graph) throw invalid("The thread has no agent yet: begin a run, or create it with metadata.graph_id.");
  checkInputKeys(values, inputKeysOf(graph));
  if (thread.status === "busy") throw new Problem("THREAD_BUSY", "The thread has a run that has not ended.");
  const place = { threadId, checkpointId: checkpoint?.checkpoint_id ?? checkpoint_id };
  return writingThread(services, thread, async (held) => {
    await checkCheckpointIsThere(graph, place);
    const { configurable } = await graph.updateState(
      configOf(place, held),
      clientValues(values) as never,
      asNode ?? undefined,
    );
    const { [CLAIM_KEY]: _, ...shown } = configurable ?? {};
    const state = await noteState(services, graph, thread);
    return { checkpoint: state.checkpoint ?? undefined, configurable: shown };
  });
}

export async function noteState(
  services: Services,
  graph: AnyGraph,
  thread: ThreadHead,
): Promise<ThreadState> {
  const state = shownState(await readState(graph, configOf({ threadId: thread.thread_id })), graph);
  const interrupts = interruptsOf(state);
  await services.records.threads.note(thread, {
    status: Object.keys(interrupts).length > 0 ? "interrupted" : "idle",
    values: JSON.parse(services.json(state.values)),
    interrupts: JSON.parse(services.json(interrupts)),
  });
  return state;
}

/** Input keys of the graph by its own schema. */
function inputKeysOf(graph: AnyGraph): string[] {
  const { builder, channels } = graph as unknown as {
    readonly builder?: { readonly _inputDefinition?: object };
    readonly channels: object;
  };
  return Object.keys(builder?._inputDefinition ?? channels).filter((key) => !/^(?:_|branch:)/.test(key));
}
