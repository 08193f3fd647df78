/** Private keys of an agent are in no answer about its states. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { say, scriptedModel } from "deepwright/testing";
import { createMiddleware } from "langchain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { startServer, type TestServer } from "../server-for-tests.ts";

const SECRET = "PRIVATE-VALUE";

function hiding() {
  const keeps = createMiddleware({
    name: "keeps",
    stateSchema: z.object({ _hidden: z.string().optional() }),
    beforeModel: () => ({ _hidden: SECRET }),
  });
  return createDeepAgent({
    model: scriptedModel(() => say("ok"), { record: false }),
    middleware: [keeps],
  });
}

/** A graph inside that has a key of its own, and waits for an answer. */
function nested() {
  const Inner = Annotation.Root({ topic: Annotation<string>(), _hidden: Annotation<string>() });
  const inner = new StateGraph(Inner)
    .addNode("keep", () => ({ _hidden: SECRET, topic: "inside" }))
    .addNode("ask", () => ({ topic: String(interrupt("go on?")), _hidden: SECRET }))
    .addEdge(START, "keep")
    .addEdge("keep", "ask")
    .addEdge("ask", END)
    .compile();
  return new StateGraph(Annotation.Root({ topic: Annotation<string>() }))
    .addNode("inner", inner)
    .addEdge(START, "inner")
    .addEdge("inner", END);
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ agents: { hiding: hiding(), nested: () => nested() } });
});
afterAll(() => server.close());

async function ran(agent: string, input: unknown): Promise<string> {
  const { thread_id: id } = (await server.call("POST", "/threads", {})).body;
  await server.call("POST", `/threads/${id}/runs/wait`, { assistant_id: agent, input });
  return id;
}

test("a history shows what nodes wrote, without private keys", async () => {
  const id = await ran("hiding", { messages: [{ role: "user", content: "hi" }] });
  const { body: states } = await server.call("POST", `/threads/${id}/history`, { limit: 100 });
  const results = states.flatMap(({ tasks }: any) => tasks.map(({ result }: any) => result));
  expect(results).toContainEqual(
    expect.objectContaining({ messages: [expect.objectContaining({ content: "ok" })] }),
  );
  expect(JSON.stringify(states)).not.toContain(SECRET);
  for (const { checkpoint } of states) {
    const at = await server.call("GET", `/threads/${id}/state/${checkpoint.checkpoint_id}?subgraphs=true`);
    expect(at.status).toBe(200);
    expect(JSON.stringify(at.body)).not.toContain(SECRET);
  }
});

test("the state of a graph inside is shown without private keys, with its parent and by itself", async () => {
  const id = await ran("nested", { topic: "outside" });
  const { body: state } = await server.call("GET", `/threads/${id}/state?subgraphs=true`);
  expect(state.tasks[0].state.values).toEqual({ topic: "inside" });
  const { checkpoint } = state.tasks[0].state;
  expect(checkpoint.checkpoint_ns).toMatch(/^inner:/);
  const inside = await server.call("POST", `/threads/${id}/state/checkpoint`, {
    checkpoint,
    subgraphs: true,
  });
  expect(inside.body.values).toEqual({ topic: "inside" });
  const { checkpoint_ns } = checkpoint;
  const history = await server.call("POST", `/threads/${id}/history`, { checkpoint: { checkpoint_ns } });
  expect(history.body.length).toBeGreaterThan(1);
  for (const { body } of [{ body: state }, inside, history])
    expect(JSON.stringify(body)).not.toContain(SECRET);
});

test("schemas of the state have no private keys", async () => {
  for (const agent of ["hiding", "nested"]) {
    const { body } = await server.call("GET", `/assistants/${agent}/schemas`);
    const keys = ["input_schema", "output_schema", "state_schema"].flatMap((name) =>
      Object.keys(body[name]?.properties ?? {}),
    );
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.filter((key) => key.startsWith("_"))).toEqual([]);
  }
  const { body: inside } = await server.call("GET", "/assistants/nested/subgraphs?recurse=true");
  expect(JSON.stringify(inside)).not.toContain("_hidden");
});
