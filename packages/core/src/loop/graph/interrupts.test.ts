/** Tools that ask: several at once, answered in any order, one at a time, from a new process. */
import { Command, type Interrupt, interrupt, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { callTool, say } from "../../testing/index.ts";
import {
  type AgentState,
  anyTool,
  ask,
  lastText,
  onThread,
  outline,
  resultsOf,
  scripted,
} from "../fixtures/agents.ts";
import { logOf, runAgent, scratchDirectory } from "../fixtures/processes.ts";
import type { AgentGraph } from "./agent-graph.ts";

const T = onThread("t");
const answer = (resume: unknown): Command => new Command({ resume });

/** Four calls, of which the second and the third ask. */
function fourCalls() {
  const ended: string[] = [];
  const step = (name: string, body: () => unknown) =>
    anyTool(name, () => {
      const said = body();
      ended.push(name);
      return `${name}: ${JSON.stringify(said)}`;
    });
  const tools = [
    step("first", () => 1),
    step("size", () => interrupt("Which size?")),
    step("colour", () => interrupt("Which colour?")),
    step("last", () => 4),
  ];
  const calls = { toolCalls: tools.map(({ name }) => ({ name })) };
  const script = [calls, say("done"), say("done again")];
  return { ended, ...scripted(script, { tools, checkpointer: new MemorySaver() }) };
}

async function paused() {
  const setup = fourCalls();
  const state = (await setup.agent.invoke(ask(), T)) as AgentState;
  const [size, colour] = idsOf(state.__interrupt__ ?? []);
  return { ...setup, size, colour, state };
}

function idsOf(interrupts: readonly Interrupt[]): [size: string, colour: string] {
  const find = (value: string) => interrupts.find((pending) => pending.value === value)?.id ?? "";
  return [find("Which size?"), find("Which colour?")];
}

async function pendingIds(agent: AgentGraph): Promise<string[]> {
  const { tasks } = await agent.getState(T);
  return tasks.flatMap((task) => task.interrupts.map((pending) => pending.id ?? ""));
}

const ANSWERED = ["first: 1", 'size: "L"', 'colour: "red"', "last: 4"];

describe("four parallel calls of which two ask", () => {
  test("both questions surface together, with ids of their own that stay the same", async () => {
    const { agent, state, size, colour, ended, model } = await paused();
    expect(state.__interrupt__).toHaveLength(2);
    expect([size, colour].every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
    expect(size).not.toBe(colour);
    expect((await pendingIds(agent)).sort()).toEqual([size, colour].sort());
    expect(ended.sort()).toEqual(["first", "last"]);
    expect(model.callCount).toBe(1);
    const partly = (await agent.invoke(answer({ [colour]: "red" }), T)) as AgentState;
    expect(partly.__interrupt__?.map(({ id, value }) => [id, value])).toEqual([[size, "Which size?"]]);
  });

  test.each([
    ["both at once", (size: string, colour: string) => [{ [size]: "L", [colour]: "red" }]],
    [
      "both at once, the other way round",
      (size: string, colour: string) => [{ [colour]: "red", [size]: "L" }],
    ],
    ["one by one", (size: string, colour: string) => [{ [size]: "L" }, { [colour]: "red" }]],
    [
      "one by one, the other way round",
      (size: string, colour: string) => [{ [colour]: "red" }, { [size]: "L" }],
    ],
    ["the last one without its id", (size: string) => [{ [size]: "L" }, "red"]],
  ])("answered %s, each body runs to its end once", async (_, answers) => {
    const { agent, size, colour, ended, model } = await paused();
    let state: AgentState | undefined;
    for (const resume of answers(size, colour)) state = await agent.invoke(answer(resume), T);
    expect(resultsOf(state?.messages ?? []).map((result) => result.content)).toEqual(ANSWERED);
    expect(ended.sort()).toEqual(["colour", "first", "last", "size"]);
    expect([model.callCount, model.violations, state?.outcome?.kind]).toEqual([2, [], "done"]);
  });

  test("answers to a stream, to v2 and to getState's questions are the same", async () => {
    const { agent } = fourCalls();
    const parts: [string, unknown][] = [];
    for await (const chunk of await agent.stream(ask(), { ...T, streamMode: "updates" }))
      parts.push(...Object.entries(chunk));
    const surfaced = parts
      .filter(([key]) => key === "__interrupt__")
      .flatMap(([, value]) => value as Interrupt[]);
    expect(surfaced.map(({ id }) => id).sort()).toEqual((await pendingIds(agent)).sort());
    const [size, colour] = idsOf(surfaced);
    const partly = await agent.invoke(answer({ [size]: "L" }), { ...T, version: "v2" });
    expect(Object.keys(partly).sort()).toEqual(["interrupts", "value"]);
    expect(partly.interrupts).toMatchObject([{ id: colour, value: "Which colour?" }]);
    expect(partly.value.__interrupt__).toBeUndefined();
    const done = await agent.invoke(answer({ [colour]: "red" }), { ...T, version: "v2" });
    expect([done.interrupts, lastText(done.value)]).toEqual([[], "done"]);
  });

  test("answered from new processes, one at a time", async () => {
    const directory = scratchDirectory();
    const options = { directory, calls: ["first", "asks", "inquires", "second"] };
    const first = await runAgent({ ...options, text: "Go." });
    expect(first.interrupts.map(({ value }) => value).sort()).toEqual(["How many?", "Which one?"]);
    const ids = new Map(first.interrupts.map(({ id, value }) => [value, id as string]));
    const second = await runAgent({ ...options, resume: { [ids.get("Which one?") as string]: "that" } });
    expect(second.interrupts).toEqual([{ id: ids.get("How many?"), value: "How many?" }]);
    const third = await runAgent({ ...options, resume: { [ids.get("How many?") as string]: 7 } });
    expect(third.results).toEqual(["first says 1", "asks says 7", "inquires says that", "second says 2"]);
    expect([third.outline.at(-1), third.violations]).toEqual(["ai done", []]);
    const ends = logOf(directory).filter((line) => line.endsWith("ends"));
    expect(ends.sort()).toEqual(["asks ends", "first ends", "inquires ends", "second ends"]);
  });
});

describe("answers that are refused", () => {
  const SCALARS = ["yes", 7, true, ["L", "red"], { decisions: [{ type: "approve" }] }, { size: "L" }];
  test.each(SCALARS.map((resume) => ({ resume })))(
    "one value for two questions: $resume",
    async ({ resume }) => {
      const { agent, size, colour, ended, model } = await paused();
      await expect(agent.invoke(answer(resume), T)).rejects.toMatchObject({ code: "INVALID_RESUME" });
      expect((await pendingIds(agent)).sort()).toEqual([size, colour].sort());
      const state = await agent.invoke(answer({ [size]: "L", [colour]: "red" }), T);
      expect(resultsOf(state.messages).map((result) => result.content)).toEqual(ANSWERED);
      expect([ended.length, model.callCount]).toEqual([4, 2]);
    },
  );

  test.each([null, undefined, false, "", 0, {}])("an empty value: %j", async (resume) => {
    const { agent, model } = scripted([callTool("asks"), say("done")], {
      tools: [anyTool("asks", () => `heard ${interrupt("Well?")}`)],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ask(), T);
    await expect(agent.invoke(answer(resume), T)).rejects.toMatchObject({ code: "INVALID_RESUME" });
    expect(model.callCount).toBe(1);
    const state = await agent.invoke(answer("yes"), T);
    expect(resultsOf(state.messages)[0]?.content).toBe("heard yes");
  });

  test.each([false, 0, "", null])("but under an id, %j is an answer", async (value) => {
    const { agent } = scripted([callTool("asks"), say("done")], {
      tools: [anyTool("asks", () => `heard ${JSON.stringify(interrupt("Well?"))}`)],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ask(), T);
    const [id] = await pendingIds(agent);
    const state = await agent.invoke(answer({ [id as string]: value }), T);
    expect(resultsOf(state.messages)[0]?.content).toBe(`heard ${JSON.stringify(value)}`);
  });

  test("an id that is not pending, alone or beside one that is", async () => {
    const { agent, size, colour, model } = await paused();
    const unknown = "0123456789abcdef0123456789abcdef";
    for (const resume of [{ [unknown]: 1 }, { [size]: "L", [unknown]: 1 }]) {
      const error = await agent.invoke(answer(resume), T).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "INVALID_RESUME" });
      expect(error.message).toContain(unknown);
      expect(error.message).toContain(colour);
    }
    expect((await pendingIds(agent)).sort()).toEqual([size, colour].sort());
    expect(model.callCount).toBe(1);
  });

  test("HI-06 nothing is pending, or the question is an old one: no model call", async () => {
    const fresh = fourCalls();
    await expect(fresh.agent.invoke(answer("yes"), T)).rejects.toMatchObject({ code: "NOTHING_TO_RESUME" });
    expect(fresh.model.callCount).toBe(0);
    const { agent, size, colour, ended, model } = await paused();
    await agent.invoke(answer({ [size]: "L" }), T);
    await expect(agent.invoke(answer({ [size]: "XL" }), T)).rejects.toMatchObject({ code: "INVALID_RESUME" });
    await agent.invoke(answer({ [colour]: "red" }), T);
    const before = await agent.getState(T);
    for (const resume of ["yes", { [colour]: "blue" }, { decisions: [] }])
      await expect(agent.invoke(answer(resume), T)).rejects.toMatchObject({ code: "NOTHING_TO_RESUME" });
    expect((await agent.getState(T)).config).toEqual(before.config);
    expect([ended.length, model.callCount]).toEqual([4, 2]);
  });

  test("an agent without a checkpointer cannot be resumed", async () => {
    const { agent, model } = scripted([say("done")]);
    await expect(agent.invoke(answer("yes"))).rejects.toMatchObject({ code: "CHECKPOINTER_REQUIRED" });
    expect(model.callCount).toBe(0);
  });
});

describe("questions and what else may happen", () => {
  test("a tool may ask twice; an earlier answer is not asked for again", async () => {
    const { agent } = scripted([callTool("asks"), say("done")], {
      tools: [anyTool("asks", () => `${interrupt("First?")} and ${interrupt("Second?")}`)],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ask(), T);
    const again = await agent.invoke(answer("one"), T);
    expect(again.__interrupt__).toMatchObject([{ value: "Second?" }]);
    const state = await agent.invoke(answer("two"), T);
    expect(resultsOf(state.messages)[0]?.content).toBe("one and two");
  });

  test("HI-07 a new message closes the questions, keeps what was finished, and makes the answer stale", async () => {
    const { agent, size, colour, ended, model } = await paused();
    const state = await agent.invoke(ask("Forget it."), T);
    expect(outline(state.messages)).toEqual([
      "human Go.",
      "ai → first size colour last",
      "tool first ok",
      "tool size failed",
      "tool colour failed",
      "tool last ok",
      "human Forget it.",
      "ai done",
    ]);
    expect(resultsOf(state.messages)[1]?.content).toMatch(/cancelled or did not complete/);
    for (const resume of ["L", { [size]: "L", [colour]: "red" }])
      await expect(agent.invoke(answer(resume), T)).rejects.toMatchObject({ code: "NOTHING_TO_RESUME" });
    expect(ended.sort()).toEqual(["first", "last"]);
    expect([model.callCount, model.violations]).toEqual([2, []]);
  });

  test("a message after a partial answer keeps that call's result too", async () => {
    const { agent, size } = await paused();
    await agent.invoke(answer({ [size]: "L" }), T);
    const state = await agent.invoke(ask("Any colour."), T);
    expect(resultsOf(state.messages).map((result) => result.status === "error")).toEqual([
      ...[false, false, true, false],
    ]);
    expect(resultsOf(state.messages)[1]?.content).toBe('size: "L"');
  });

  test("an answer with the config that getState gives runs nothing twice", async () => {
    const { agent, size, colour, ended } = await paused();
    const { config } = await agent.getState(T);
    const state = (await agent.invoke(answer({ [size]: "L", [colour]: "red" }), config)) as AgentState;
    expect(lastText(state)).toBe("done");
    expect(ended.sort()).toEqual(["colour", "first", "last", "size"]);
  });

  test("going on without an answer asks again and runs nothing twice", async () => {
    const { agent, size, colour, ended, model } = await paused();
    const state = (await agent.invoke(null, T)) as AgentState;
    expect(idsOf(state.__interrupt__ ?? [])).toEqual([size, colour]);
    expect([ended.length, model.callCount]).toEqual([2, 1]);
  });
});
