import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  type BaseCheckpointSaver,
  DeltaValue,
  END,
  MemorySaver,
  MessagesDeltaValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import type { CheckpointPendingWrite, CheckpointTuple, PendingWrite } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { describeTuple, describeValue } from "./describe-for-tests.ts";
import type { Subject } from "./saver-suite-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";

const CHANNELS = ["items", "messages", "plain", "never"];
const at = { configurable: { thread_id: "delta" } };

/** Two parallel nodes and one after them, on delta channels that snapshot often. */
function graphOn(checkpointer: BaseCheckpointSaver) {
  const items = new DeltaValue(
    z.array(z.string()).default(() => []),
    {
      reducer: (state: string[], writes: string[][]) => [...state, ...writes.flat()],
      snapshotFrequency: 3,
    },
  );
  const schema = new StateSchema({ items, messages: MessagesDeltaValue, plain: z.string().default("") });
  return new StateGraph(schema as any)
    .addNode("left", () => ({ items: ["left"], messages: [new AIMessage("left")] }))
    .addNode("right", () => ({ items: ["right"], plain: "right" }))
    .addNode("last", (state: any) => ({ items: [`after ${state.items.length}`] }))
    .addEdge(START, "left")
    .addEdge(START, "right")
    .addEdge("left", "last")
    .addEdge("right", "last")
    .addEdge("last", END)
    .compile({ checkpointer });
}

async function run(saver: BaseCheckpointSaver): Promise<any> {
  const graph = graphOn(saver);
  for (const word of ["a", "b", "c"])
    await graph.invoke(
      { items: [word], messages: [new HumanMessage({ id: word, content: word })] } as any,
      at,
    );
  return (await graph.getState(at)).values;
}

async function listed(saver: BaseCheckpointSaver): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  for await (const tuple of saver.list(at)) tuples.push(tuple);
  return tuples;
}

/** Writes everything one saver has into another. */
async function replay(from: BaseCheckpointSaver, to: BaseCheckpointSaver): Promise<void> {
  for (const { config, parentConfig, checkpoint, metadata, pendingWrites = [] } of (
    await listed(from)
  ).reverse()) {
    const place = { ...at.configurable, checkpoint_ns: "" };
    await to.put(parentConfig ?? { configurable: place }, checkpoint, metadata!, checkpoint.channel_versions);
    for (const [task, writes] of byTask(pendingWrites)) await to.putWrites(config, writes, task);
  }
}

function byTask(writes: readonly CheckpointPendingWrite[]): Map<string, PendingWrite[]> {
  const tasks = new Map<string, PendingWrite[]>();
  for (const [task, channel, value] of writes)
    tasks.set(task, [...(tasks.get(task) ?? []), [channel, value]]);
  return tasks;
}

/** LangGraph's delta channels, which need a thread's whole lineage. */
export function deltaSuite({ open }: Subject): void {
  describe("delta channels", () => {
    let saver: SharedSaver;
    beforeAll(async () => {
      saver = await open();
    });
    afterAll(() => saver.close());

    test("a graph on delta channels ends in the same state as on LangGraph's own saver", async () => {
      const [ours, theirs] = [await run(saver), await run(new MemorySaver())];
      // Within a step the order is that of the ids of tasks, which are as good as random.
      expect(ours.items.toSorted()).toEqual(theirs.items.toSorted());
      expect(ours.plain).toBe(theirs.plain);
      expect(ours.messages.map(({ text }: AIMessage) => text)).toEqual(
        theirs.messages.map(({ text }: AIMessage) => text),
      );
    });

    test("the history of each channel at each checkpoint is what LangGraph's own saver tells", async () => {
      await saver.deleteThread("delta");
      const stock = new MemorySaver();
      await run(stock);
      await replay(stock, saver);
      const tuples = await listed(stock);
      expect(tuples.length).toBeGreaterThan(9);
      expect((await listed(saver)).map(describeTuple)).toEqual(tuples.map(describeTuple));
      for (const { config } of tuples) {
        const ours = await saver.getDeltaChannelHistory({ config, channels: CHANNELS });
        const theirs = await stock.getDeltaChannelHistory({ config, channels: CHANNELS });
        expect(describeValue(ours)).toBe(describeValue(theirs));
      }
      expect(await saver.getDeltaChannelHistory({ config: at, channels: [] })).toEqual({});
    });

    test("pruning leaves a thread with delta channels readable", async () => {
      const before = (await graphOn(saver).getState(at)).values;
      await saver.prune({ keepLatest: 1 });
      expect(describeValue((await graphOn(saver).getState(at)).values)).toBe(describeValue(before));
    });
  });
}
