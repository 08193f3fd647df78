/** The result of `authenticate`, as agents see it. */
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { startServer, type TestServer } from "../server-for-tests.ts";

/** Says who it works for. */
function watchfulAgent() {
  const who = tool((_, runtime) => JSON.stringify((runtime as any).serverInfo.user), {
    name: "who",
    description: "Looks.",
    schema: z.object({}),
  });
  const model = scriptedModel(
    ({ messages }) =>
      messages.at(-1)?.getType() === "tool" ? say(String(messages.at(-1)?.text)) : callTool("who", {}),
    { record: false },
  );
  return createDeepAgent({ model, tools: [who] });
}

let server: TestServer;
const errors: unknown[] = [];
beforeAll(async () => {
  server = await startServer({
    agents: { agent: watchfulAgent() },
    onError: (error) => errors.push(error),
    authenticate: ({ headers }) => {
      const name = headers.get("x-api-key") ?? "";
      const base = { identity: name, name: name.toUpperCase(), roles: ["reader"], greet: () => "hi" };
      if (name === "large") return { ...base, claims: "x".repeat(20_000) };
      if (name === "circle") return { ...base, self: { toJSON: () => 1n } };
      return base;
    },
  });
});
afterAll(() => server.close());

const input = { messages: [{ role: "user", content: "who?" }] };
const ask = (path: string, name: string, body: object = { assistant_id: "agent", input }) =>
  server.call("POST", path, body, { "x-api-key": name });
const ADA = { identity: "ada", name: "ADA", roles: ["reader"] };
const seenBy = (body: { messages: { content: string }[] }) => JSON.parse(body.messages.at(-1)?.content ?? "");

test("an agent knows all that is JSON of its user, on every way a run begins", async () => {
  expect(seenBy((await ask("/runs/wait", "ada")).body)).toEqual(ADA);
  const { thread_id: thread } = (await ask("/threads", "ada", {})).body;
  expect(seenBy((await ask(`/threads/${thread}/runs/wait`, "ada")).body)).toEqual(ADA);
  for (const kind of ["steer", "follow-up"]) {
    const { run_id } = (await ask(`/threads/${thread}/messages`, "ada", { kind, content: "again?" })).body;
    const { body } = await server.call("GET", `/threads/${thread}/runs/${run_id}/join`, undefined, {
      "x-api-key": "ada",
    });
    expect(seenBy(body), kind).toEqual(ADA);
  }
  const [begun] = (await ask("/runs/batch", "ada", [{ assistant_id: "agent", input }])).body;
  const { body } = await server.call(
    "GET",
    `/threads/${begun.thread_id}/runs/${begun.run_id}/join`,
    undefined,
    { "x-api-key": "ada" },
  );
  expect(seenBy(body)).toEqual(ADA);
});

test("clients cannot say it themselves, and are not shown it", async () => {
  const config = { configurable: { langgraph_auth_user: { identity: "ada", roles: ["owner"] } } };
  expect(await ask("/runs/wait", "bob", { assistant_id: "agent", input, config } as never)).toMatchObject({
    status: 400,
  });
  const { thread_id: thread } = (await ask("/threads", "bob", {})).body;
  const run = await ask(`/threads/${thread}/runs`, "bob");
  const listed = await server.call(
    "GET",
    `/threads/${thread}/runs?select=kwargs&select=metadata`,
    undefined,
    { "x-api-key": "bob" },
  );
  for (const { body } of [run, listed]) expect(JSON.stringify(body)).not.toContain("reader");
});

test.each([
  ["large", /20\d{3} bytes of JSON; 16384 are kept/],
  ["circle", /not JSON/],
])("what cannot be kept (%s) is the server's fault, and is told to whoever runs it", async (name, words) => {
  errors.length = 0;
  expect(await ask("/runs", name)).toMatchObject({ status: 500, body: { code: "INTERNAL" } });
  expect(String(errors[0])).toMatch(words);
  expect((await ask("/threads/count", name, {})).body).toBe(0);
});
