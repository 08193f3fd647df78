import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
  type StateSnapshot,
} from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { callTool, type Script, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { describeValue } from "./describe-for-tests.ts";
import type { Subject } from "./saver-suite-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";

const onThread = (thread_id: string) => ({ configurable: { thread_id } });
const human = (id: string) => new HumanMessage({ id, content: id });

/** Two nodes in a row; each adds a message whose id tells what came before. */
function chain(checkpointer: BaseCheckpointSaver) {
  const add = (name: string) => (state: { messages: BaseMessage[] }) => {
    const id = `${name}<${state.messages.at(-1)?.id}>`;
    return { messages: [new AIMessage({ id, content: `I am ${id}` })] };
  };
  return new StateGraph(new StateSchema({ messages: MessagesValue }))
    .addNode("one", add("one"))
    .addNode("two", add("two"))
    .addEdge(START, "one")
    .addEdge("one", "two")
    .addEdge("two", END)
    .compile({ checkpointer });
}

type Chain = ReturnType<typeof chain>;

async function history(graph: Pick<Chain, "getStateHistory">, thread: string): Promise<StateSnapshot[]> {
  const snapshots: StateSnapshot[] = [];
  for await (const snapshot of graph.getStateHistory(onThread(thread))) snapshots.push(snapshot);
  return snapshots;
}

/** Snapshots in a form in which those of two threads can be compared: ids of checkpoints are places. */
function outline(snapshots: readonly StateSnapshot[]): unknown[] {
  const ids = snapshots.map(({ config }) => config.configurable?.checkpoint_id);
  return snapshots.map(({ values, next, metadata, parentConfig, tasks }) => ({
    values: describeValue(values),
    next,
    source: metadata?.source,
    step: metadata?.step,
    parent: ids.indexOf(parentConfig?.configurable?.checkpoint_id),
    tasks: tasks.map(({ name, interrupts }) => [name, interrupts.map(({ value }) => value)]),
  }));
}

const idsOf = (values: any): (string | undefined)[] => values.messages.map(({ id }: BaseMessage) => id);

/** The same forks on any saver: what comes of them is what LangGraph's own saver gives. */
async function forks(graph: Chain, thread: string): Promise<unknown[]> {
  await graph.invoke({ messages: [human("a")] }, onThread(thread));
  await graph.invoke({ messages: [human("b")] }, onThread(thread));
  const before = await history(graph, thread);
  const old = before.find(({ next, values }) => next[0] === "two" && values.messages.length === 2)!;
  await graph.invoke(null, old.config);
  const branch = await graph.updateState(old.config, { messages: [human("changed")] }, "one");
  await graph.invoke(null, branch);
  await graph.updateState(before[0]!.config, { messages: [human("again")] }, "two");
  await graph.invoke({ messages: [human("c")] }, onThread(thread));
  return outline(await history(graph, thread));
}

/** Writes a file named after the message it is sent ("write a" writes /a.txt), then says so. */
const writer: Script = ({ messages }) => {
  const last = messages.at(-1);
  const word = String(last?.content).replace("write ", "");
  if (last?.type === "tool") return say("written");
  return callTool("write_file", { file_path: `/${word}.txt`, content: `${word}\n`.repeat(500) });
};

/** Forks, time travel and interrupts through real graphs and a real agent. */
export function graphsSuite({ open, reopen }: Subject): void {
  describe("graphs and agents", () => {
    let saver: SharedSaver;
    beforeAll(async () => {
      saver = await open();
    });
    afterAll(() => saver.close());

    test("forks and time travel of a graph are what LangGraph's own saver gives", async () => {
      expect(await forks(chain(saver), "forks")).toEqual(await forks(chain(new MemorySaver()), "forks"));
    });

    test("both branches of a fork stay as they were", async () => {
      const graph = chain(saver);
      const at = onThread("branches");
      await graph.invoke({ messages: [human("a")] }, at);
      const first = await graph.getState(at);
      await graph.invoke({ messages: [human("b")] }, at);
      const second = await graph.getState(at);
      await graph.invoke({ messages: [human("c")] }, first.config);
      expect(idsOf((await graph.getState(at)).values)).toEqual([
        "a",
        "one<a>",
        "two<one<a>>",
        "c",
        "one<c>",
        "two<one<c>>",
      ]);
      for (const snapshot of [first, second])
        expect(describeValue((await graph.getState(snapshot.config)).values)).toBe(
          describeValue(snapshot.values),
        );
    });

    test("parallel branches of a graph write in one step", async () => {
      const State = Annotation.Root({
        seen: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
      });
      const graph = (checkpointer: BaseCheckpointSaver) => {
        const build = new StateGraph(State).addNode("join", () => ({ seen: ["join"] }));
        for (const name of ["x", "y", "z"] as const)
          (build as any)
            .addNode(name, () => ({ seen: [name] }))
            .addEdge(START, name)
            .addEdge(name, "join");
        return build.compile({ checkpointer });
      };
      for (const checkpointer of [saver, new MemorySaver()]) {
        const result = await graph(checkpointer).invoke({ seen: ["in"] }, onThread("parallel"));
        expect(result.seen).toEqual(["in", "x", "y", "z", "join"]);
      }
    });

    test("an agent goes on from an old checkpoint, with its files as they were", async () => {
      const agent = createDeepAgent({ model: scriptedModel(writer), checkpointer: saver });
      const at = onThread("agent");
      const heads: StateSnapshot[] = [];
      for (const word of ["a", "b", "c"]) {
        await agent.invoke({ messages: [new HumanMessage(`write ${word}`)] }, at);
        heads.push(await agent.getState(at));
      }
      const old = heads[0]!;
      await agent.invoke({ messages: [new HumanMessage("write d")] }, old.config);
      const forked = await agent.getState(at);
      expect(Object.keys(forked.values.files)).toEqual(["/a.txt", "/d.txt"]);
      expect(forked.values.messages).toHaveLength(8);
      for (const head of heads)
        expect(describeValue((await agent.getState(head.config)).values)).toBe(describeValue(head.values));
      const edited = await agent.updateState(old.config, {
        files: { "/a.txt": null, "/e.txt": { content: "e" } },
      });
      expect(Object.keys((await agent.getState(edited)).values.files)).toEqual(["/e.txt"]);
      expect(describeValue((await agent.getState(old.config)).values)).toBe(describeValue(old.values));
    });

    test("an interrupt is answered through a saver that has never seen the thread", async () => {
      const first = asking(saver);
      const state: any = await first.invoke({ messages: [new HumanMessage("go")] }, onThread("asks"));
      expect(state.__interrupt__).toHaveLength(1);
      saver = await reopen(saver);
      const result: any = await asking(saver).invoke(new Command({ resume: "blue" }), onThread("asks"));
      expect(result.messages.map(({ text }: BaseMessage) => text)).toContain("You said blue");
      expect((await asking(saver).getState(onThread("asks"))).next).toEqual([]);
    });

    test("R-42 a pending interrupt outlives ten restarts", async () => {
      const at = onThread("R-42");
      const state: any = await asking(saver).invoke({ messages: [new HumanMessage("go")] }, at);
      for (let i = 0; i < 10; i += 1) {
        saver = await reopen(saver);
        const { tasks } = await asking(saver).getState(at);
        expect(tasks.flatMap(({ interrupts }) => interrupts)).toEqual(state.__interrupt__);
      }
      const result: any = await asking(saver).invoke(new Command({ resume: "green" }), at);
      expect(result.messages.map(({ text }: BaseMessage) => text)).toContain("You said green");
    });
  });
}

/** An agent whose only tool asks a person. */
function asking(checkpointer: BaseCheckpointSaver) {
  const ask = tool(() => `You said ${interrupt({ question: "Which colour?\0", options: [{ lc: 1 }] })}`, {
    name: "ask",
    description: "Asks.",
    schema: z.object({}),
  });
  const script: Script = ({ messages }) =>
    messages.at(-1)?.type === "tool" ? say("done") : callTool("ask", {}, "call-1");
  return createDeepAgent({ model: scriptedModel(script), tools: [ask], checkpointer });
}
