/** Keys that every JavaScript object inherits, in the bodies and queries of clients; and secrets in what goes wrong. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { heldSecrets } from "deepwright/secrets";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { createMiddleware } from "langchain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { startServer, type TestServer } from "../server-for-tests.ts";
import { json, raw } from "./raw-for-tests.ts";

/** No other file uses it: secrets are held by the process, with the name that their first holder gave. */
const TOKEN = "a-token-of-odd-keys-0123456789";
const auth = { authorization: `Bearer ${TOKEN}` };

const fails = tool(
  () => {
    throw new Error(`no entry with ${TOKEN}`);
  },
  { name: "fails", description: "Fails.", schema: z.object({}) },
);
const breaking = createMiddleware({
  name: "breaking",
  beforeModel: ({ messages }) => {
    if (messages.at(-1)?.text === "break") throw new Error(`broken by ${TOKEN}`);
  },
});
const model = scriptedModel(
  ({ messages }) => (messages.at(-1)?.type === "tool" ? say("done") : callTool("fails")),
  {
    record: false,
  },
);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    token: TOKEN,
    agents: { deep: createDeepAgent({ model, tools: [fails], middleware: [breaking] }) },
    limits: { runs: { burst: 10_000, perSecond: 10_000 } },
    onError: () => {},
  });
});
afterAll(() => server.close());

const says = (content: string) => ({ messages: [{ role: "user", content }] });

test.each(["constructor", "toString", "hasOwnProperty", "valueOf"])(
  "%s is a key like any other",
  async (key) => {
    const value = { polluted: true };
    const body = {
      ...{ assistant_id: "deep", if_not_exists: "create" },
      input: { ...says("hi"), [key]: value, files: { [`/${key}`]: { content: "x" } } },
      metadata: { [key]: "mine" },
      config: { configurable: { [key]: "mine" } },
      context: { [key]: "mine" },
    };
    const { body: thread } = await server.call("POST", "/threads", { metadata: { [key]: "mine" } });
    const { status, body: values } = await server.call(
      "POST",
      `/threads/${thread.thread_id}/runs/wait`,
      body,
    );
    expect([status, values.messages?.at(-1)?.content]).toEqual([200, "done"]);
    expect(Object.hasOwn(values, key)).toBe(false);
    const found = await server.call("POST", "/threads/search", { metadata: { [key]: "mine" } });
    expect(found.body.map((one: { thread_id: string }) => one.thread_id)).toContain(thread.thread_id);
    const none = await server.call("POST", "/threads/search", { metadata: { [key]: "another" } });
    expect(none.body).toEqual([]);
    await server.call("PUT", "/store/items", { namespace: [key], key, value: { [key]: 1 } });
    const item = await server.call("GET", `/store/items?namespace=${key}&key=${key}&${key}=1`);
    expect(item.status).toBeLessThan(500);
    const unknown = await server.call("POST", "/threads", { [key]: value });
    expect(unknown.status).toBeLessThan(500);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  },
);

test("__proto__ is refused wherever it stands", async () => {
  const bodies = ['{"__proto__":{"a":1}}', '{"assistant_id":"deep","input":{"files":{"__proto__":{}}}}'];
  for (const body of bodies)
    expect((await raw(server, "POST", "/runs/wait", { ...auth, ...json }, body)).status).toBe(400);
});

test("the token of the server is in no event, answer or file, whoever puts it into an error", async () => {
  const { body: thread } = await server.call("POST", "/threads", {});
  const path = `/threads/${thread.thread_id}/runs`;
  const failed = await server.call("POST", `${path}/wait`, { assistant_id: "deep", input: says("hi") });
  expect(JSON.stringify(failed.body)).toContain("no entry with [server token]");
  const broken = await server.call("POST", `${path}/wait`, { assistant_id: "deep", input: says("break") });
  expect(JSON.stringify(broken.body)).toContain("broken by [server token]");
  const streamed = await raw(
    server,
    "POST",
    `${path}/stream`,
    { ...auth, ...json },
    JSON.stringify({
      ...{ assistant_id: "deep", input: says("hi") },
      stream_mode: ["values", "updates", "messages-tuple", "debug", "events"],
    }),
  );
  const runs = await server.call("GET", path);
  const state = await server.call("GET", `/threads/${thread.thread_id}/history`);
  const all = JSON.stringify([failed.body, broken.body, streamed.text, runs.body, state.body]);
  expect(all).not.toContain(TOKEN);
  const files = readdirSync(server.directory).map((name) =>
    readFileSync(join(server.directory, name), "latin1"),
  );
  expect(files.join("")).toContain("no entry with [server token]");
  expect(files.join("")).not.toContain(TOKEN);
});

test("a server that is closed holds no secret", async () => {
  const token = "another-token-for-tests-0815";
  const other = await startServer({ token });
  expect(JSON.stringify(heldSecrets())).toContain(token);
  await other.close();
  expect(JSON.stringify(heldSecrets())).not.toContain(token);
});
