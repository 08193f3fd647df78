import { createClient } from "@deepwright/protocol";
import { FilesystemBackend, MapBackend } from "deepwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { echoAgent, startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import type { SettingsOfHost } from "./host-settings.ts";

const FACTS: Awaited<ReturnType<SettingsOfHost["facts"]>> = {
  directory: "/home/ada/garden",
  model: "Model: scripted",
  providers: [{ name: "anthropic", key: "ANTHROPIC_API_KEY", is_present: true }],
  model_servers: [],
  approval_mode: "ask",
  sandbox: "os",
  permissions: [],
  commands: { allow: [], ask: [], deny: [] },
  allowed: [{ tool: "execute", prefix: ["npm"] }],
  settings_files: [],
  mcp_servers: [],
  skills: [],
  memory: [
    { path: "/AGENTS.md", shown_path: "/home/ada/garden/AGENTS.md", is_there: true, is_trusted: true },
  ],
};

let letGo = (): void => {};
let reviews = 0;
const allowed = [...FACTS.allowed];
const settings: SettingsOfHost = {
  directory: FACTS.directory,
  facts: async () => ({ ...FACTS, allowed }),
  explainPath: async (path, operation) => ({ decision: "deny", reason: `${operation} ${path}` }),
  explainCommand: async (command) => ({ decision: "ask", reason: command }),
  forgetAllowed: async ({ tool }) => {
    const index = allowed.findIndex((rule) => rule.tool === tool);
    if (index === -1) return false;
    allowed.splice(index, 1);
    return true;
  },
  memory: new MapBackend({ "/AGENTS.md": "- short answers\n" }),
  propose: async () => {
    reviews += 1;
    await new Promise<void>((done) => {
      letGo = done;
    });
    const files = [{ path: "/AGENTS.md", before: "- short answers\n", after: "- long answers\n" }];
    return { message: "The review proposes this change.", conversations: 2, files };
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings });
});
afterAll(() => server.close());

const client = () => createClient({ baseUrl: server.url, token: TOKEN }).settings;

test("the owner sees the settings, asks why, and takes a permission back", async () => {
  expect(await client().get()).toEqual(FACTS);
  expect(await client().explain({ path: "/a.md", operation: "write" })).toEqual({
    decision: "deny",
    reason: "write /a.md",
  });
  expect(await client().explain({ command: "npm test" })).toMatchObject({ reason: "npm test" });
  await expect(client().explain({})).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(client().explain({ path: "/a", command: "b" })).rejects.toMatchObject({ status: 400 });
  await client().forgetAllowed({ tool: "execute", prefix: ["npm"] });
  expect((await client().get()).allowed).toEqual([]);
  await expect(client().forgetAllowed({ tool: "execute" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a memory file is saved by whoever has seen its last state, and no other file is", async () => {
  const { content, etag } = await client().readMemory("/AGENTS.md");
  expect(content).toBe("- short answers\n");
  await client().saveMemory("/AGENTS.md", "- brief answers\n", etag);
  await expect(client().saveMemory("/AGENTS.md", "lost", etag)).rejects.toMatchObject({ code: "CHANGED" });
  await expect(client().readMemory("/other.md")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a review of threads works in the background, once at a time", async () => {
  expect(await client().proposals()).toMatchObject({ status: "none", files: [] });
  expect(await client().propose()).toMatchObject({ status: "working" });
  expect(await client().propose()).toMatchObject({ status: "working" });
  expect(reviews).toBe(1);
  letGo();
  await expect.poll(async () => (await client().proposals()).status).toBe("done");
  expect(await client().proposals()).toMatchObject({
    conversations: 2,
    files: [{ after: "- long answers\n" }],
  });
});

test("callers of a shared server see nothing of its machine, and webhooks of their own runs alone", async () => {
  const shared = await startServer({
    settings: { ...settings, memory: new FilesystemBackend({ rootDir: "/", virtualMode: true }) },
    authenticate: ({ headers }) => ({ identity: headers.get("x-name") ?? "ada" }),
  });
  try {
    const calls: readonly (readonly [string, string, unknown?])[] = [
      ["GET", "/settings"],
      ["POST", "/settings/explain", { path: "/etc/passwd" }],
      ["POST", "/settings/allowed/forget", { tool: "execute" }],
      ["GET", "/settings/memory?path=/etc/passwd"],
      ["PUT", "/settings/memory", { path: "/a.md", content: "" }],
      ["GET", "/settings/memory/proposals"],
      ["POST", "/settings/memory/proposals"],
    ];
    for (const [method, path, body] of calls)
      expect([path, (await shared.call(method, path, body)).status]).toEqual([path, 501]);
    const { body: thread } = await shared.call("POST", "/threads", {});
    await shared.call("POST", `/threads/${thread.thread_id}/runs/wait`, {
      assistant_id: "echo",
      input: { messages: [{ role: "user", content: "hello" }] },
      webhook: "https://receiver.invalid/secret-path",
    });
    const listed = async (name: string) =>
      (await shared.call("GET", "/settings/webhooks", undefined, { "x-name": name })).body.webhooks;
    expect(await listed("ada")).toMatchObject([{ host: "receiver.invalid" }]);
    expect(JSON.stringify(await listed("ada"))).not.toContain("secret-path");
    expect(await listed("bob")).toEqual([]);
  } finally {
    await shared.close();
  }
});

test("without settings the routes say that there are none", async () => {
  const plain = await startServer();
  try {
    expect((await plain.call("GET", "/settings")).body.code).toBe("NOT_SUPPORTED");
  } finally {
    await plain.close();
  }
});

test("each agent has settings of its own directory; a review reads its threads alone; other callers hear of none", async () => {
  const reviewed = new Map<string, string[]>();
  const ids: string[] = [];
  const of = (directory: string): SettingsOfHost => ({
    ...settings,
    directory,
    facts: async () => ({ ...FACTS, directory }),
    propose: async ({ isOfAgent }) => {
      const found = await Promise.all(ids.map(async (id) => ((await isOfAgent(id)) ? [id] : [])));
      reviewed.set(directory, found.flat());
      return { message: directory, conversations: found.flat().length, files: [] };
    },
  });
  const known = new Map([
    ["one", of("/home/ada/one")],
    ["two", of("/home/ada/two")],
  ]);
  const options = {
    agents: { one: echoAgent(), two: echoAgent() },
    settings: (agent: string) => known.get(agent),
  };
  const both = await startServer(options);
  const shared = await startServer({ ...options, authenticate: () => ({ identity: "ada" }) });
  try {
    for (const assistant_id of ["one", "two"]) {
      const { body: thread } = await both.call("POST", "/threads", {});
      ids.push(thread.thread_id);
      const input = { messages: [{ role: "user", content: "hello" }] };
      await both.call("POST", `/threads/${thread.thread_id}/runs/wait`, { assistant_id, input });
    }
    const { settings: calls } = createClient({ baseUrl: both.url, token: TOKEN });
    const directories = [await calls.get(), await calls.get({ agent: "two" })];
    expect(directories.map(({ directory }) => directory)).toEqual(["/home/ada/one", "/home/ada/two"]);
    await calls.propose({ agent: "two" });
    await expect.poll(async () => (await calls.proposals({ agent: "two" })).message).toBe("/home/ada/two");
    expect(reviewed).toEqual(new Map([["/home/ada/two", [ids[1]]]]));
    expect(await calls.proposals()).toMatchObject({ status: "none" });
    const facts = async (server: TestServer) =>
      (await server.call("GET", "/assistants/two/facts")).body.directory;
    expect([await facts(both), await facts(shared)]).toEqual(["/home/ada/two", null]);
  } finally {
    await both.close();
    await shared.close();
  }
});
