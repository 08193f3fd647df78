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

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    agents: { stock: stockGraph(), own: ownAgent() },
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

test("null beside other commands is no answer", async () => {
  const thread = await asked("stock", {});
  const command = { resume: null, goto: "again" };
  const { body } = await server.call("POST", `/threads/${thread}/runs/wait`, {
    assistant_id: "stock",
    command,
  });
  expect(body.answer).toBeUndefined();
});
