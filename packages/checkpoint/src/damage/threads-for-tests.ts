/** Three threads, of which one is damaged by hand, and everything that can be asked of a thread. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { DeepwrightError } from "deepwright/errors";
import { describeTuple } from "../saver/describe-for-tests.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "../saver/states-for-tests.ts";
import { openThreads } from "../threads/open-threads.ts";

/** Content that all have in common belongs to the first. */
export const THREADS = ["first", "hit", "last"] as const;
/** More than a page of an export. */
const STEPS = 22;
/** No thread here has as many lines. */
const MOST_LINES = 5_000;

const configOf = (thread_id: string, checkpoint_ns = "", checkpoint_id?: string) => ({
  configurable: { thread_id, checkpoint_ns, ...(checkpoint_id && { checkpoint_id }) },
});

/** Messages, calls, files short and in pieces, namespaces, writes, metadata and before-images. */
export async function fill(saver: SharedSaver, threadId: string): Promise<void> {
  const messages = [];
  let parent: string | undefined;
  for (let step = 0; step < STEPS; step += 1) {
    const id = `${threadId}-${step}`;
    if (step % 7 === 0)
      messages.push(
        new HumanMessage({ id, content: `${id} ${"word ".repeat(step * 20)}` }),
        new AIMessage({ id: `${id}-a`, content: "", tool_calls: [{ id, name: "ls", args: { path: id } }] }),
        new ToolMessage({ id: `${id}-t`, content: id, tool_call_id: id, artifact: { id } }),
      );
    const files = {
      "/a.txt": { content: id },
      "/long.txt": { content: `${id}\n${`${threadId}\n`.repeat(3_000)}` },
    };
    const checkpoint = checkpointOf({ ...EMPTY, messages: [...messages], files }, step);
    const config = { ...configOf(threadId, "", parent), metadata: { title: threadId, cwd: `/${threadId}` } };
    await saver.put(config, checkpoint, metadataOf(step, { thread: threadId }));
    parent = checkpoint.id;
    const at = configOf(threadId, "", parent);
    await saver.putWrites(
      at,
      [["messages", [new HumanMessage({ id: `${id}-w`, content: id.repeat(50) })]]],
      "task",
    );
    await saver.recordImage(at, {
      checkpointId: parent,
      place: "/root",
      path: "/x",
      before: id,
      after: undefined,
    });
  }
  const child = checkpointOf({ ...EMPTY, messages: messages.slice(0, 1) });
  await saver.put(configOf(threadId, "tools:1"), child, metadataOf(0, { parents: { "": parent } }));
}

/** By name: what a caller asks of a thread. */
export const READS: Readonly<Record<string, (saver: SharedSaver, id: string) => Promise<unknown>>> = {
  get: async (saver, id) => {
    const found = await saver.getTuple(configOf(id));
    if (!found) throw new DeepwrightError("THREAD_NOT_FOUND", "There is nothing.");
    return describeTuple(found);
  },
  history: async (saver, id) => {
    const found: CheckpointTuple[] = [];
    for await (const tuple of saver.list({ configurable: { thread_id: id } }))
      found.push(bounded(found, tuple));
    return found.map((tuple) => describeTuple(tuple));
  },
  show: (saver, id) => openThreads(saver).show(id),
  diff: (saver, id) => openThreads(saver).diff(id, 3, { to: 5 }),
  export: async (saver, id) => {
    const lines: string[] = [];
    for await (const line of openThreads(saver).export(id)) lines.push(bounded(lines, line));
    return lines;
  },
  delta: (saver, id) => saver.getDeltaChannelHistory({ config: configOf(id), channels: ["nothing"] }),
};

export const CHANGES: typeof READS = {
  put: async (saver, id) => {
    const checkpoint = checkpointOf({ ...EMPTY, notes: "more" }, 100);
    await saver.put(configOf(id), checkpoint, metadataOf(100));
  },
  claim: async (saver, id) => (await saver.claimThread(id, { mode: "refuse" })).release(),
  prune: (saver, id) => openThreads(saver).prune({ threadId: id, keepLatest: 2, olderThan: 3_600 }),
  delete: (saver, id) => saver.deleteThread(id),
};

function bounded<T>(found: readonly T[], next: T): T {
  if (found.length >= MOST_LINES) throw new Error("There is no end of it.");
  return next;
}

/** The code of a typed error, the words of any other, or "ok". */
export async function outcome(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "ok";
  } catch (error) {
    return error instanceof DeepwrightError ? error.code : `raw ${error}`;
  }
}

export async function outcomes(
  acts: typeof READS,
  saver: SharedSaver,
  id: string,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, act] of Object.entries(acts)) found[name] = await outcome(() => act(saver, id));
  return found;
}

/** All that is read of the threads nobody touched. */
export async function others(saver: SharedSaver): Promise<unknown> {
  const { threads } = await openThreads(saver).list();
  const found: unknown[] = [];
  for (const id of THREADS) {
    if (id === "hit") continue;
    found.push(threads.find(({ threadId }) => threadId === id));
    for (const name of ["get", "show", "export"]) found.push(await READS[name]?.(saver, id));
  }
  return found;
}
