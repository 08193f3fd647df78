/** Answers that are nothing much: `false`, `0`, an empty text. To the engine they are none; to who asked they are. */
import { tool } from "@langchain/core/tools";
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startServer, type TestServer } from "../server-for-tests.ts";

/** A graph of LangGraph that asks, and keeps the answer. */
function stockGraph() {
  const State = Annotation.Root({ answer: Annotation<string>(), second: Annotation<string>() });
  return new StateGraph(State)
    .addNode("ask", () => ({ answer: JSON.stringify(interrupt("sure?") ?? null) }))
    .addNode("again", () => ({ second: JSON.stringify(interrupt("really?") ?? null) }))
    .addEdge(START, "ask")
    .addEdge("ask", "again")
    .addEdge("again", END)
    .compile();
}

/** An agent of ours with a tool that asks. */
function ownAgent() {
  const confirm = tool(() => JSON.stringify(interrupt("sure?") ?? null), {
    name: "confirm",
    description: "Asks.",
    schema: z.object({}),
  });
  const model = scriptedModel(
    ({ messages }) =>
      messages.at(-1)?.getType() === "tool" ? say(String(messages.at(-1)?.text)) : callTool("confirm", {}),
    { record: false },
  );
  return createDeepAgent({ model, tools: [confirm] });
}

/** An agent whose tool needs approval. */
function guardedAgent() {
  const confirm = tool(() => "confirmed", { name: "confirm", description: "Does it.", schema: z.object({}) });
  const model = scriptedModel(
    ({ messages }) =>
      messages.at(-1)?.getType() === "tool" ? say(String(messages.at(-1)?.text)) : callTool("confirm", {}),
    { record: false },
  );
  return createDeepAgent({ model, tools: [confirm], interruptOn: { confirm: true } });
}

/** A graph that asks two questions at once. */
function twoQuestions() {
  const State = Annotation.Root({ left: Annotation<string>(), right: Annotation<string>() });
  return new StateGraph(State)
    .addNode("one", () => ({ left: interrupt("left?") as string }))
    .addNode("other", () => ({ right: interrupt("right?") as string }))
    .addEdge(START, "one")
    .addEdge(START, "other")
    .addEdge("one", END)
    .addEdge("other", END)
    .compile();
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    agents: { stock: stockGraph(), own: ownAgent(), guarded: guardedAgent(), two: twoQuestions() },
    engineCommands: true,
  });
});
afterAll(() => server.close());

async function asked(agent: string, input: unknown): Promise<string> {
  const { thread_id: thread } = (await server.call("POST", "/threads", {})).body;
  const { body } = await server.call("POST", `/threads/${thread}/runs/wait`, { assistant_id: agent, input });
  expect(body.__interrupt__).toHaveLength(1);
  return thread;
}

const answer = (thread: string, agent: string, resume: unknown) =>
  server.call("POST", `/threads/${thread}/runs/wait`, { assistant_id: agent, command: { resume } });

describe.each([[false], [0], [""], [null], [{}], [[]]])("the answer %j", (value) => {
  test("reaches a graph of LangGraph, and the one after it too", async () => {
    const thread = await asked("stock", {});
    expect((await answer(thread, "stock", value)).body).toMatchObject({
      answer: JSON.stringify(value),
      __interrupt__: [{ value: "really?" }],
    });
    expect((await answer(thread, "stock", value)).body).toMatchObject({ second: JSON.stringify(value) });
    expect(await answer(thread, "stock", value)).toMatchObject({
      status: 409,
      body: { code: "NOTHING_TO_RESUME" },
    });
  });

  test("reaches a tool of an agent of ours", async () => {
    const thread = await asked("own", { messages: [{ role: "user", content: "go" }] });
    const { body } = await answer(thread, "own", value);
    expect(body.messages.at(-1).content).toBe(JSON.stringify(value));
  });
});

test("an approval is not answered by nothing", async () => {
  const thread = await asked("guarded", { messages: [{ role: "user", content: "go" }] });
  for (const value of [{}, [], null, ""])
    expect(await answer(thread, "guarded", value)).toMatchObject({
      status: 400,
      body: { code: "INVALID_REQUEST", message: expect.stringContaining("approval") },
    });
  const { body } = await answer(thread, "guarded", { decisions: [{ type: "approve" }] });
  expect(body.messages.at(-1).content).toBe("confirmed");
});

test("of several questions each is answered by its id, and no other id is taken", async () => {
  const { thread_id: thread } = (await server.call("POST", "/threads", {})).body;
  const begun = await server.call("POST", `/threads/${thread}/runs/wait`, { assistant_id: "two", input: {} });
  const ids: string[] = begun.body.__interrupt__.map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(2);
  expect(await answer(thread, "two", "yes")).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("2 interrupts wait") },
  });
  const other = "0".repeat(32);
  for (const resume of [{ [other]: "yes" }, { [ids[0] as string]: "yes", [other]: "yes" }])
    expect(await answer(thread, "two", resume)).toMatchObject({
      status: 409,
      body: { code: "NOTHING_TO_RESUME" },
    });
  const { body } = await answer(thread, "two", { [ids[0] as string]: "yes", [ids[1] as string]: "no" });
  expect(body).toMatchObject({ left: "yes", right: "no" });
  expect(await answer(thread, "two", { [ids[0] as string]: "yes" })).toMatchObject({ status: 409 });
});

test("null beside other commands is no answer", async () => {
  const thread = await asked("stock", {});
  const command = { resume: null, goto: "again" };
  const { body } = await server.call("POST", `/threads/${thread}/runs/wait`, {
    assistant_id: "stock",
    command,
  });
  expect(body.answer).toBeUndefined();
});
