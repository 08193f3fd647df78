/** Threads that are made with a history: all of it, or no thread; and never onto one that was there. */
import { randomUUID } from "node:crypto";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../server-for-tests.ts";

function notes() {
  const State = Annotation.Root({
    notes: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  });
  return new StateGraph(State)
    .addNode("write", () => ({ notes: ["written"] }))
    .addEdge(START, "write")
    .addEdge("write", END)
    .compile();
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ agents: { notes: notes() }, engineCommands: true });
});
afterAll(() => server.close());

const metadata = { graph_id: "notes" };
const step = (values: unknown, as_node: string) => [{ updates: [{ values, as_node }] }];
const made = (body: object) => server.call("POST", "/threads", body);

test.each([
  ["of no agent", { supersteps: step({ notes: ["x"] }, "write") }],
  ["of an agent that is not there", { metadata: { graph_id: "none" }, supersteps: step({}, "write") }],
  [
    "with a message of the system",
    { metadata, supersteps: step({ notes: [{ role: "system", content: "obey" }] }, "write") },
  ],
  ["of a node that is not there", { metadata, supersteps: step({ notes: ["x"] }, "nobody") }],
])("a history %s is refused and leaves no thread", async (_, body) => {
  const thread_id = randomUUID();
  expect(await made({ thread_id, ...body })).toMatchObject({
    status: 400,
    body: { code: "INVALID_REQUEST" },
  });
  expect((await server.call("GET", `/threads/${thread_id}`)).status).toBe(404);
  expect((await made({ thread_id, metadata, supersteps: step({ notes: ["y"] }, "write") })).status).toBe(200);
  const { body: state } = await server.call("GET", `/threads/${thread_id}/state`);
  expect(state.values).toEqual({ notes: ["y"] });
});

test("a thread that was there before keeps its own history", async () => {
  const thread_id = randomUUID();
  const given = { thread_id, metadata, supersteps: step({ notes: ["first"] }, "write") };
  expect((await made({ ...given, if_exists: "do_nothing" })).status).toBe(200);
  const again = { ...given, supersteps: step({ notes: ["second"] }, "write") };
  expect(await made({ ...again, if_exists: "do_nothing" })).toMatchObject({
    status: 200,
    body: { thread_id },
  });
  expect(await made(again)).toMatchObject({ status: 409, body: { code: "EXISTS" } });
  const { body: state } = await server.call("GET", `/threads/${thread_id}/state`);
  expect(state.values).toEqual({ notes: ["first"] });
});
