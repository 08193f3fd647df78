/** SV-06: what agents keep of one caller is kept from the others: files, approvals, and their part of the store. */
import { tool } from "@langchain/core/tools";
import { createDeepAgent, MapBackend, StoreBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startServer, type TestServer } from "../server-for-tests.ts";

/** `write <path> <text>`, `read <path>`, `delegate <one of these>`, or a call that needs approval. */
function filesModel() {
  return scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      if (last?.getType() === "tool") return say(String(last.text));
      const [word, path = "", ...rest] = String(last?.text).split(" ");
      if (word === "write") return callTool("write_file", { file_path: path, content: rest.join(" ") });
      if (word === "read") return callTool("read_file", { file_path: path });
      if (word === "delegate")
        return callTool("task", { description: [path, ...rest].join(" "), subagent_type: "general-purpose" });
      return callTool("danger", { command: "drop all" });
    },
    { record: false },
  );
}

const ran: unknown[] = [];
const danger = tool((given) => String(ran.push(given)), {
  name: "danger",
  description: "Needs approval.",
  schema: z.object({ command: z.string() }),
});
const OTHERS = "/large_tool_results/call_ann";
const interruptOn = { danger: true };

let server: TestServer;
beforeAll(async () => {
  server = await startServer({
    authenticate: ({ headers }) => ({ identity: decodeURIComponent(headers.get("x-api-key") ?? "") }),
    agents: {
      byDefault: createDeepAgent({ model: filesModel(), backend: new StoreBackend() }),
      byUser: createDeepAgent({
        model: filesModel(),
        backend: new StoreBackend({
          namespace: ({ serverInfo }) => [serverInfo?.user?.identity, "filesystem"],
        }),
      }),
      byAssistant: createDeepAgent({
        model: filesModel(),
        backend: new StoreBackend({ namespace: ({ serverInfo }) => [serverInfo?.assistantId, "filesystem"] }),
      }),
      asking: createDeepAgent({ model: filesModel(), tools: [danger], interruptOn }),
      guarded: createDeepAgent({
        model: filesModel(),
        backend: new MapBackend({ [OTHERS]: "secret of ann" }),
        permissions: [{ operations: ["read"], paths: ["/**"], mode: "deny" }],
      }),
    },
    limits: { runs: { burst: 10_000, perSecond: 10_000 } },
  });
});
afterAll(() => server.close());

const as =
  (name: string) =>
  (method: string, path: string, body?: unknown): ReturnType<TestServer["call"]> =>
    server.call(method, path, body, { "x-api-key": encodeURIComponent(name) });

async function run(name: string, assistant: string, content: string, more: object = {}) {
  const { thread_id: id } = (await as(name)("POST", "/threads", {})).body;
  const input = { messages: [{ role: "user", content }] };
  const { status, body } = await as(name)("POST", `/threads/${id}/runs/wait`, {
    assistant_id: assistant,
    input,
    ...more,
  });
  return { id, status, body, said: String(body.messages?.at(-1)?.content) };
}

describe("files in the store", () => {
  test.each(["", "delegate "])("without a namespace are their user's: %s", async (by) => {
    await run("ann", "byDefault", `${by}write /n.txt SECRET`);
    expect((await run("ann", "byDefault", `${by}read /n.txt`)).said).toContain("SECRET");
    for (const other of ["bob", "*", "an", "ann.", "%61nn"]) {
      const { said } = await run(other, "byDefault", `${by}read /n.txt`);
      expect(said, other).toMatch(/not found/i);
    }
  });

  test("an assistant with the id of another's is another one", async () => {
    for (const agent of ["byDefault", "byAssistant"]) {
      const assistant_id = `${agent}-of-bob`;
      for (const name of ["bob", "mallory"])
        expect(await as(name)("POST", "/assistants", { assistant_id, graph_id: agent })).toMatchObject({
          status: 200,
        });
      await run("bob", assistant_id, "write /n.txt SECRET");
      expect((await run("bob", assistant_id, "read /n.txt")).said).toContain("SECRET");
      expect((await run("mallory", assistant_id, "read /n.txt")).said).toMatch(/not found/i);
      const metadata = { assistant_id, assistantId: assistant_id };
      expect((await run("mallory", agent, "read /n.txt", { metadata })).said).toMatch(/not found/i);
    }
  });

  test("an assistant with the name of another is not that user", async () => {
    await run("bob", "byUser", "write /mine.txt SECRET");
    for (const agent of ["byDefault", "byAssistant"]) {
      await as("mallory")("POST", "/assistants", {
        assistant_id: "bob",
        graph_id: agent,
        if_exists: "do_nothing",
      });
      expect((await run("mallory", "bob", "read /mine.txt")).said).toMatch(/not found/i);
      await as("mallory")("DELETE", "/assistants/bob");
    }
  });

  test("the server's own assistant is one for all, where an agent wants that", async () => {
    await run("ann", "byAssistant", "write /shared.txt of all");
    expect((await run("bob", "byAssistant", "read /shared.txt")).said).toContain("of all");
  });
});

describe("approvals for always", () => {
  const approve = { resume: { decisions: [{ type: "approve", remember: "always" }] } };
  const isAsked = async (name: string, assistant: string, more: object = {}) =>
    (await run(name, assistant, "go", more)).body.__interrupt__ !== undefined;

  test("hold for who gave them", async () => {
    const { id } = await run("mallory", "asking", "go");
    await as("mallory")("POST", `/threads/${id}/runs/wait`, { assistant_id: "asking", command: approve });
    expect(ran).toHaveLength(1);
    expect(await isAsked("mallory", "asking")).toBe(false);
    expect(await isAsked("bob", "asking")).toBe(true);
    expect(ran).toHaveLength(2);
  });

  test("a project is not the client's to name, nor the assistant whose approvals count", async () => {
    const config = { configurable: { project: "tenant-bob" } };
    const refused = { status: 400, body: { code: "INVALID_REQUEST" } };
    expect(await run("mallory", "asking", "go", { config })).toMatchObject(refused);
    const assistant = { graph_id: "asking", config };
    expect(await as("mallory")("POST", "/assistants", assistant)).toMatchObject(refused);
    const { assistant_id } = (await as("mallory")("POST", "/assistants", { graph_id: "asking" })).body;
    expect(await as("mallory")("PATCH", `/assistants/${assistant_id}`, { config })).toMatchObject(refused);
    const cron = { assistant_id: "asking", schedule: "0 0 1 1 *", config };
    expect(await as("mallory")("POST", "/runs/crons", cron)).toMatchObject(refused);
    const { body } = await as("mallory")("GET", "/assistants/asking");
    const metadata = { assistant_id: body.assistant_id };
    expect(await isAsked("mallory", assistant_id, { metadata })).toBe(true);
  });

  test("cannot be forged through the store by a caller of that name", async () => {
    const items = await as("approvals")("POST", "/store/items/search", { namespace_prefix: [] });
    expect(items).toMatchObject({ status: 200, body: { items: [] } });
    const put = { namespace: ["approvals", "default"], key: "x", value: { id: "x" } };
    expect(await as("approvals")("PUT", "/store/items", put)).toMatchObject({ status: 204 });
    expect((await server.app.storage.store?.get(["approvals", "default"], "x")) ?? null).toBeNull();
    expect(await as("mallory")("PUT", "/store/items", put)).toMatchObject({ status: 403 });
  });
});

describe("the store", () => {
  test.each(["ann@x.org", "ann@x%2Eorg", "50%", "*", "langgraph", "__proto__", "ü|7", "a.b.c"])(
    "is open to a caller called %s",
    async (name) => {
      const own = { namespace: [name, "own"], key: "k" };
      expect(await as(name)("PUT", "/store/items", { ...own, value: { of: name } })).toMatchObject({
        status: 204,
      });
      const item = { ...own, value: { of: name } };
      const query = `namespace=${encodeURIComponent(JSON.stringify(own.namespace))}&key=k`;
      expect((await as(name)("GET", `/store/items?${query}`)).body).toMatchObject(item);
      for (const namespace_prefix of [[], [name], [name, "own"]])
        expect(
          (await as(name)("POST", "/store/items/search", { namespace_prefix })).body.items,
        ).toMatchObject([item]);
      for (const body of [{}, { prefix: [name] }])
        expect((await as(name)("POST", "/store/namespaces", body)).body.namespaces).toEqual([own.namespace]);
      expect(
        (await as("bob")("POST", "/store/items/search", { namespace_prefix: [] })).body.items,
      ).not.toContainEqual(expect.objectContaining({ value: item.value }));
      expect(await as(name)("DELETE", "/store/items", own)).toMatchObject({ status: 204 });
      expect((await as(name)("POST", "/store/namespaces", {})).body.namespaces).toEqual([]);
    },
  );

  test("shows a caller with a period what its agents keep, and nobody else", async () => {
    await run("ann@y.org", "byUser", "write /n.txt HELLO");
    await run("ann@y.org", "byDefault", "write /d.txt HELLO");
    const found = async (name: string) =>
      (await as(name)("POST", "/store/items/search", { namespace_prefix: [] })).body.items.map(
        ({ namespace, key }: { namespace: string[]; key: string }) => [namespace[0], key],
      );
    expect((await found("ann@y.org")).sort()).toEqual([
      ["ann@y.org", "/d.txt"],
      ["ann@y.org", "/n.txt"],
    ]);
    for (const other of ["ann@y%2Eorg", "ann@y", "ann@y%252Eorg"]) expect(await found(other)).toEqual([]);
  });
});

test("what the harness put aside for another thread is not opened by a mark in an update of the state", async () => {
  const { id, said } = await run("bob", "guarded", `read ${OTHERS}`);
  expect(said).toContain("permission denied");
  const additional_kwargs = { deepwright: { offloaded: { path: OTHERS } } };
  const values = { messages: [{ role: "user", content: "x", additional_kwargs }] };
  expect(await as("bob")("POST", `/threads/${id}/state`, { values })).toMatchObject({ status: 200 });
  const input = { messages: [{ role: "user", content: `read ${OTHERS}`, additional_kwargs }] };
  const { body } = await as("bob")("POST", `/threads/${id}/runs/wait`, { assistant_id: "guarded", input });
  expect(body.messages.at(-1).content).toContain("permission denied");
  expect(JSON.stringify(body)).not.toContain("secret of ann");
});
