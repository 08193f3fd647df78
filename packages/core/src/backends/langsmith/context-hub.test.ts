import { Client } from "langsmith";
import { afterAll, describe, expect, test } from "vitest";
import { backendSuite } from "../../testing/index.ts";
import { ContextHubBackend } from "./context-hub.ts";
import { HUB_KEY, HubServer } from "./hub-server-for-tests.ts";

const hub = await HubServer.start();
afterAll(() => hub.close());

function client(apiKey = HUB_KEY): Client {
  return new Client({ apiUrl: hub.url, apiKey, callerOptions: { maxRetries: 0 } });
}

let count = 0;

function open(entries?: Parameters<HubServer["commit"]>[1]): { backend: ContextHubBackend; name: string } {
  const name = `-/agent-${++count}`;
  if (entries !== undefined) hub.commit(name, entries);
  hub.requests.length = 0;
  return { backend: new ContextHubBackend(name, { client: client() }), name };
}

function text(content: string) {
  return { type: "file", content };
}

backendSuite(
  { describe, test },
  {
    name: "ContextHubBackend",
    open: () => open(),
    canAppend: true,
    canDelete: true,
    canTransfer: true,
    storesBytes: false,
    timeoutMs: 600_000,
  },
);

test("a repository that does not exist is empty, and the first write creates it", async () => {
  const { backend, name } = open();
  expect(await backend.hasPriorCommits()).toBe(false);
  expect(await backend.ls()).toEqual({ files: [] });
  expect(await backend.write("/notes/a.md", "alpha")).toMatchObject({ path: "/notes/a.md" });
  expect(await backend.hasPriorCommits()).toBe(true);
  expect(hub.repositories.get(name)?.entries).toEqual({ "notes/a.md": text("alpha") });
});

test("the files are pulled once, and changes of one moment are one commit", async () => {
  const { backend, name } = open({ "a.md": text("old") });
  await Promise.all([
    backend.write("/b.md", "b"),
    backend.edit("/a.md", "old", "new"),
    backend.uploadFiles([["/c.md", new TextEncoder().encode("c")]]),
  ]);
  await backend.read("/a.md");
  expect(hub.repositories.get(name)?.entries).toEqual({
    "a.md": text("new"),
    "b.md": text("b"),
    "c.md": text("c"),
  });
  expect([hub.pulls, hub.commits]).toEqual([1, 1]);
});

test("a file and a directory of one name that are written at once do not both land", async () => {
  const { backend, name } = open();
  const results = await Promise.all([backend.write("/a", "file"), backend.write("/a/b", "below")]);
  expect(results.map(({ error }) => error === undefined)).toEqual([true, false]);
  expect(Object.keys(hub.repositories.get(name)?.entries ?? {})).toEqual(["a"]);
});

test("a directory goes in one commit", async () => {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`d/${index}`, text("x")]));
  const { backend, name } = open({ ...files, kept: text("x") });
  expect(await backend.delete("/d")).toEqual({ path: "/d" });
  expect(hub.commits).toBe(1);
  expect(Object.keys(hub.repositories.get(name)?.entries ?? {})).toEqual(["kept"]);
});

test("an edit lands on what somebody else committed meanwhile", async () => {
  const { backend, name } = open({ "a.md": text("one two") });
  await backend.read("/a.md");
  hub.beforeCommit = () => void hub.commit(name, { "a.md": text("ONE two"), "b.md": text("b") });
  expect(await backend.edit("/a.md", "two", "three")).toMatchObject({ occurrences: 1 });
  expect(hub.repositories.get(name)?.entries).toEqual({ "a.md": text("ONE three"), "b.md": text("b") });
  expect(await backend.read("/b.md")).toMatchObject({ content: "b" });
});

test("a write that somebody else was faster with finds the file there", async () => {
  const { backend, name } = open({ "a.md": text("a") });
  hub.beforeCommit = () => void hub.commit(name, { "b.md": text("theirs") });
  expect(await backend.write("/b.md", "mine")).toMatchObject({ code: "FILE_EXISTS" });
  expect(hub.repositories.get(name)?.entries["b.md"]).toEqual(text("theirs"));
});

test("linked repositories are listed, and nothing is written over or below them", async () => {
  const { backend, name } = open({
    "a.md": text("a"),
    "skills/x": { type: "skill", repo_handle: "team/x" },
  });
  expect(await backend.getLinkedEntries()).toEqual({ "skills/x": "team/x" });
  expect((await backend.ls("/")).files?.map(({ path }) => path)).toEqual(["/a.md"]);
  expect(await backend.write("/skills/x", "no")).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(await backend.write("/skills/x/SKILL.md", "no")).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(hub.repositories.get(name)?.entries).toHaveProperty("skills/x");
});

test("bytes that are no text are refused, and the other uploads land", async () => {
  const { backend, name } = open();
  const results = await backend.uploadFiles([
    ["/a.md", new TextEncoder().encode("a")],
    ["/b.bin", new Uint8Array([1, 255])],
  ]);
  expect(results.map(({ error }) => error)).toEqual([null, "permission_denied"]);
  expect(hub.repositories.get(name)?.entries).toEqual({ "a.md": text("a") });
});

test("a refused key is a result that names the variable and not the key", async () => {
  const backend = new ContextHubBackend("-/any", { client: client("lsv2_pt_wrong_wrong_wrong") });
  for (const result of [await backend.read("/a"), await backend.write("/a", "a"), await backend.grep("a")]) {
    expect(result).toMatchObject({ code: "PERMISSION_DENIED" });
    expect(result.error).toContain("LANGSMITH_API_KEY");
    expect(result.error).not.toContain("lsv2_pt_wrong");
  }
  await expect(backend.hasPriorCommits()).rejects.toThrow("LANGSMITH_API_KEY");
});

test.each([
  [409, "CONFLICT"],
  [429, "RATE_LIMITED"],
  [503, "UNAVAILABLE"],
])("status %i for every commit is %s, and the files are pulled again", async (status, code) => {
  let pulls = 0;
  const backend = new ContextHubBackend("-/any", {
    client: {
      pullAgent: async () => {
        pulls += 1;
        return { commit_id: "id", commit_hash: "0123456789", files: {} };
      },
      pushAgent: async () => {
        throw Object.assign(new Error("refused"), { status });
      },
    },
  });
  expect(await backend.write("/b.md", "b")).toMatchObject({ code });
  const before = pulls;
  expect(await backend.ls("/")).toEqual({ files: [] });
  expect(pulls).toBe(before + 1);
});

test("without a client the environment says which hub", async () => {
  const { name } = open({ "a.md": text("a") });
  const { LANGSMITH_ENDPOINT, LANGSMITH_API_KEY } = process.env;
  Object.assign(process.env, { LANGSMITH_ENDPOINT: hub.url, LANGSMITH_API_KEY: HUB_KEY });
  try {
    expect(await new ContextHubBackend(name).read("/a.md")).toMatchObject({ content: "a" });
  } finally {
    for (const [key, value] of Object.entries({ LANGSMITH_ENDPOINT, LANGSMITH_API_KEY }))
      if (value === undefined) delete process.env[key];
      else process.env[key] = value;
  }
});

test("a hub without a name is refused at once", () => {
  expect(() => new ContextHubBackend("")).toThrow("needs the name");
});
