/** Forks: going on from an old checkpoint, changed or not, leaves both branches right. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { interrupt, MemorySaver, type StateSnapshot } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { type Script, say, scriptedModel } from "../../testing/index.ts";
import { type AgentState, anyTool, ask, onThread, outline, resultsOf, scripted } from "../fixtures/agents.ts";

const T = onThread("t");

/** Writes a file named after the message it is sent ("write a" writes /a.txt), then says so. */
const writer: Script = ({ messages }) => {
  const last = messages.at(-1);
  const word = String(last?.content).replace("write ", "");
  if (last?.type === "tool") return say("written");
  return { toolCalls: [{ name: "write_file", args: { file_path: `/${word}.txt`, content: word } }] };
};

function deepAgent(script: Script = writer) {
  const model = scriptedModel(script, { check: { ids: true } });
  return { model, agent: createDeepAgent({ model, checkpointer: new MemorySaver() }) };
}

type Agent = ReturnType<typeof deepAgent>["agent"];

async function historyOf(agent: Pick<Agent, "getStateHistory">): Promise<StateSnapshot[]> {
  const snapshots: StateSnapshot[] = [];
  for await (const snapshot of agent.getStateHistory(T)) snapshots.push(snapshot);
  return snapshots;
}

const human = (values: AgentState): unknown[] =>
  values.messages.filter((message) => message.type === "human").map((message) => message.content);
const files = (values: AgentState): string[] => Object.keys(values.files ?? {}).sort();

/** A thread of three runs, and the snapshot after each. */
async function threeRuns() {
  const setup = deepAgent();
  const heads: StateSnapshot[] = [];
  for (const word of ["a", "b", "c"]) {
    await setup.agent.invoke(ask(`write ${word}`), T);
    heads.push(await setup.agent.getState(T));
  }
  return { ...setup, heads: heads as [StateSnapshot, StateSnapshot, StateSnapshot] };
}

describe("the history of a thread", () => {
  test("has a snapshot for each superstep, newest first, with what comes next", async () => {
    const { agent } = await threeRuns();
    const history = await historyOf(agent);
    expect(history.slice(0, 5).map((snapshot) => snapshot.next)).toEqual([
      [],
      ["model_request"],
      ["tools"],
      ["model_request"],
      ["__start__"],
    ]);
    expect(history).toHaveLength(15);
    expect(history.map((snapshot) => snapshot.metadata?.step)).toEqual(
      Array.from({ length: 15 }, (_, i) => 13 - i),
    );
    expect(files(history[0]?.values)).toEqual(["/a.txt", "/b.txt", "/c.txt"]);
    expect(history[0]?.values.messages).toHaveLength(12);
    expect(history[0]?.values.todos ?? []).toEqual([]);
  });

  test("a snapshot taken by its own config is the same", async () => {
    const { agent, heads } = await threeRuns();
    const again = await agent.getState(heads[0].config);
    expect(outline(again.values.messages)).toEqual(outline(heads[0].values.messages));
    expect(again.values.files).toEqual(heads[0].values.files);
    expect(again.next).toEqual([]);
  });
});

describe("a fork", () => {
  test("a new message on an old checkpoint begins a branch; both stay right", async () => {
    const { agent, heads, model } = await threeRuns();
    const forked = await agent.invoke(ask("write x"), heads[0].config);
    expect(human(forked)).toEqual(["write a", "write x"]);
    expect(files(forked)).toEqual(["/a.txt", "/x.txt"]);
    const newest = (await agent.getState(T)).values;
    expect([human(newest), files(newest)]).toEqual([human(forked), files(forked)]);
    const main = (await agent.getState(heads[2].config)).values;
    expect(human(main)).toEqual(["write a", "write b", "write c"]);
    expect(files(main)).toEqual(["/a.txt", "/b.txt", "/c.txt"]);
    const onMain = await agent.invoke(ask("write d"), heads[2].config);
    expect(files(onMain)).toEqual(["/a.txt", "/b.txt", "/c.txt", "/d.txt"]);
    const onFork = await agent.invoke(ask("write y"), (await leaf(agent, "write x")).config);
    expect(files(onFork)).toEqual(["/a.txt", "/x.txt", "/y.txt"]);
    expect(model.violations).toEqual([]);
  });

  test("re-running an old checkpoint asks the model again from there", async () => {
    let reply = "first";
    const { agent, model } = deepAgent(() => say(reply));
    await agent.invoke(ask("one"), T);
    await agent.invoke(ask("two"), T);
    const history = await historyOf(agent);
    const before = history.find((s) => s.next[0] === "model_request" && s.values.messages.length === 1);
    reply = "second";
    const state = await agent.invoke(null, (before as StateSnapshot).config);
    expect(outline(state.messages)).toEqual(["human one", "ai second"]);
    expect(outline((await agent.getState(history[0]?.config ?? T)).values.messages)).toEqual([
      ...["human one", "ai first", "human two", "ai first"],
    ]);
    expect(model.callCount).toBe(3);
  });

  test("re-running tools of an old checkpoint writes their files in that branch only", async () => {
    const { agent } = await threeRuns();
    const history = await historyOf(agent);
    const before = history.find((s) => s.next[0] === "tools" && s.values.messages.length === 6);
    const state = await agent.invoke(null, (before as StateSnapshot).config);
    expect(human(state)).toEqual(["write a", "write b"]);
    expect(files(state)).toEqual(["/a.txt", "/b.txt"]);
    expect(files((await agent.getState(history[0]?.config ?? T)).values)).toHaveLength(3);
  });

  test("updateState on an old checkpoint changes neither the head nor the checkpoint", async () => {
    const { agent, heads } = await threeRuns();
    const content = "changed";
    const config = await agent.updateState(heads[0].config, {
      messages: [{ role: "user", content: "by hand" }],
      files: { "/hand.txt": { content } },
    });
    const branch = (await agent.getState(config)).values;
    expect([human(branch), files(branch)]).toEqual([
      ["write a", "by hand"],
      ["/a.txt", "/hand.txt"],
    ]);
    expect(branch.messages.every((message: HumanMessage) => Boolean(message.id))).toBe(true);
    expect(files((await agent.getState(heads[0].config)).values)).toEqual(["/a.txt"]);
    expect(files((await agent.getState(heads[2].config)).values)).toHaveLength(3);
    const state = await agent.invoke(ask("write x"), config);
    expect(files(state)).toEqual(["/a.txt", "/hand.txt", "/x.txt"]);
  });

  test("a question asked anew: the message replaced by its id, and run from there", async () => {
    const { agent } = await threeRuns();
    const before = (await historyOf(agent)).findLast((s) => s.next[0] === "model_request") as StateSnapshot;
    const id = before.values.messages[0].id;
    const config = await agent.updateState(before.config, {
      messages: [new HumanMessage({ id, content: "write z" })],
    });
    const state = await agent.invoke(null, config);
    expect([human(state), files(state)]).toEqual([["write z"], ["/z.txt"]]);
  });

  async function leaf(agent: Agent, text: string): Promise<StateSnapshot> {
    const history = await historyOf(agent);
    return history.find((s) => s.next.length === 0 && human(s.values).at(-1) === text) as StateSnapshot;
  }
});

/** A saver whose checkpoints are stored late, as over a network. */
class SlowSaver extends MemorySaver {
  override async put(...args: Parameters<MemorySaver["put"]>): ReturnType<MemorySaver["put"]> {
    await new Promise((done) => setTimeout(done, 40));
    return super.put(...args);
  }
}

describe.each([
  ["a saver", () => new MemorySaver()],
  ["a slow saver", () => new SlowSaver()],
])("a new message on a checkpoint with open calls, with %s", (_, saver) => {
  test.each(["sync", "async"] as const)(
    "takes over the results of that step and no other, %s",
    async (durability) => {
      const config = { ...T, durability };
      const { agent, model } = scripted(
        ({ messages }) => {
          const last = messages.at(-1)?.content;
          if (last === "Go.") return { toolCalls: [{ name: "a" }, { name: "b" }] };
          return last === "More." ? { toolCalls: [{ name: "a" }, { name: "asks" }] } : say("done");
        },
        {
          tools: [anyTool("a", () => "A"), anyTool("b", () => "B"), anyTool("asks", () => interrupt("?"))],
          checkpointer: saver(),
        },
      );
      await agent.invoke(ask(), config);
      await agent.invoke(ask("More."), config);
      const open = (await historyOf(agent as never)).find(
        (s) => s.values.messages.length === 2,
      ) as StateSnapshot;
      const state = await agent.invoke(ask("Fork."), { ...open.config, durability });
      expect(outline(state.messages)).toEqual([
        ...["human Go.", "ai → a b", "tool a ok", "tool b ok", "human Fork.", "ai done"],
      ]);
      expect(resultsOf(state.messages).map((result) => result.content)).toEqual(["A", "B"]);
      expect(model.violations).toEqual([]);
    },
  );

  test("the calls of the newest step are repaired as well", async () => {
    const { agent, model } = scripted(
      ({ messages }) =>
        messages.length === 1 ? { toolCalls: [{ name: "a" }, { name: "asks" }] } : say("done"),
      { tools: [anyTool("a", () => "A"), anyTool("asks", () => interrupt("?"))], checkpointer: saver() },
    );
    await agent.invoke(ask(), T);
    const state = await agent.invoke(ask("Go on."), T);
    expect(outline(state.messages).slice(2)).toEqual([
      "tool a ok",
      "tool asks failed",
      "human Go on.",
      "ai done",
    ]);
    expect(model.violations).toEqual([]);
  });
});

describe("values that do not fit", () => {
  test("are refused by updateState, and the thread is as it was", async () => {
    const { agent, heads } = await threeRuns();
    await expect(agent.updateState(T, { files: { "/x": 1 } })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    await expect(agent.updateState(T, { messages: [{ nonsense: 1 }] })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    expect((await agent.getState(T)).config).toEqual(heads[2].config);
  });

  test("a key the state does not have is not stored", async () => {
    const { agent } = await threeRuns();
    await agent.updateState(T, { nonsense: 1, messages: [new AIMessage("by hand")] });
    const { values } = await agent.getState(T);
    expect(Object.keys(values)).not.toContain("nonsense");
    expect(values.messages.at(-1).content).toBe("by hand");
  });

  test("a result for a call stands behind it, wherever it is added", async () => {
    const { agent, heads } = await threeRuns();
    const id = heads[2].values.messages[1].tool_calls[0].id;
    await agent.updateState(T, { messages: [new ToolMessage({ content: "corrected", tool_call_id: id })] });
    const { messages } = (await agent.getState(T)).values;
    expect(messages).toHaveLength(12);
    expect(messages[2].content).toBe("corrected");
  });
});
