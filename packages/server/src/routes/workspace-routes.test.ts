import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createClient } from "@deepwright/protocol";
import { FilesystemBackend, guardBackend } from "deepwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { echoAgent, startServer, type TestServer, TOKEN } from "../server-for-tests.ts";

let server: TestServer;
let folder: string;
let root: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "workspace-"));
  root = join(folder, "root");
  await mkdir(join(root, "src"), { recursive: true });
  await mkdir(join(root, "private"));
  await writeFile(join(folder, "outside.txt"), "outside");
  await writeFile(join(root, "src", "a.ts"), "one\ntwo\n");
  await writeFile(join(root, "page.html"), "<script>alert(1)</script>");
  await writeFile(join(root, "picture.svg"), "<svg onload='alert(1)'/>");
  await writeFile(join(root, "bytes.bin"), Buffer.from([0, 255, 1]));
  await writeFile(join(root, "private", "key.txt"), "key");
  await symlink("../outside.txt", join(root, "link.txt"));
  const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
  const permissions = [{ operations: ["read", "write"], paths: ["/private/**"], mode: "deny" }] as never;
  server = await startServer({ workspace: guardBackend(backend, permissions) as FilesystemBackend });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const client = () => createClient({ baseUrl: server.url, token: TOKEN });
const content = (path: string) => `/workspace/files/content?path=${encodeURIComponent(path)}`;

test("directories are listed, files read, and saved by whoever has seen their last state", async () => {
  const { workspace } = client();
  const { entries } = await workspace.list("/src");
  expect(entries).toEqual([{ path: "/src/a.ts", is_dir: false, size: 8, modified_at: expect.any(String) }]);
  const first = await workspace.read("/src/a.ts");
  expect(new TextDecoder().decode(first.content)).toBe("one\ntwo\n");
  const saved = await workspace.save("/src/a.ts", "one\n2\n", first.etag);
  expect(await readFile(join(root, "src", "a.ts"), "utf8")).toBe("one\n2\n");
  await expect(workspace.save("/src/a.ts", "lost", first.etag)).rejects.toMatchObject({ code: "CHANGED" });
  await writeFile(join(root, "src", "a.ts"), "an agent was here");
  await expect(workspace.save("/src/a.ts", "lost", saved.etag)).rejects.toMatchObject({ status: 412 });
  const made = await workspace.save("/new.md", "", null);
  await expect(workspace.save("/new.md", "again", null)).rejects.toMatchObject({ code: "CHANGED" });
  await workspace.save("/new.md", "words", made.etag);
  expect(await readFile(join(root, "new.md"), "utf8")).toBe("words");
});

test("a change that comes right behind a save is found by the next one; line ends that the file keeps are none", async () => {
  const path = join(folder, "late");
  await mkdir(path);
  const files = new FilesystemBackend({ rootDir: path, virtualMode: true });
  const edit = files.edit.bind(files);
  files.edit = async (...given) => {
    const result = await edit(...given);
    await writeFile(join(path, "a.md"), "an agent was here");
    return result;
  };
  const late = await startServer({ workspace: files });
  const { workspace } = createClient({ baseUrl: late.url, token: TOKEN });
  const { etag } = await workspace.save("/a.md", "start", null);
  const saved = await workspace.save("/a.md", "mine", etag);
  await expect(workspace.save("/a.md", "lost", saved.etag)).rejects.toMatchObject({ code: "CHANGED" });
  expect(await readFile(join(path, "a.md"), "utf8")).toBe("an agent was here");
  files.edit = edit;
  await writeFile(join(path, "b.md"), "one\r\ntwo\r\n");
  const before = await workspace.read("/b.md");
  const kept = await workspace.save("/b.md", "one\n2\n", before.etag);
  expect((await workspace.read("/b.md")).etag).toBe(kept.etag);
  await late.close();
});

test("of saves at once one is kept", async () => {
  const { workspace } = client();
  const { etag } = await workspace.save("/race.md", "start", null);
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => workspace.save("/race.md", `save ${index}`, etag)),
  );
  const kept = results.flatMap(({ status }, index) => (status === "fulfilled" ? [`save ${index}`] : []));
  expect(kept).toEqual([await readFile(join(root, "race.md"), "utf8")]);
});

/** Another program writes between the look at a file and the change of it. */
class Raced extends FilesystemBackend {
  override async edit(...args: Parameters<FilesystemBackend["edit"]>) {
    await writeFile(join(root, args[0]), "theirs");
    return super.edit(...args);
  }

  override async write(...args: Parameters<FilesystemBackend["write"]>) {
    if (args[2]?.overwrite) await writeFile(join(root, args[0]), "theirs");
    return super.write(...args);
  }
}

test.each(["text", ""])(
  "a file with the text %j that another program writes meanwhile is kept",
  async (text) => {
    const raced = await startServer({ workspace: new Raced({ rootDir: root, virtualMode: true }) });
    const { workspace } = createClient({ baseUrl: raced.url, token: TOKEN });
    const { etag } = await workspace.save(`/raced${text}.md`, text, null);
    await expect(workspace.save(`/raced${text}.md`, "mine", etag)).rejects.toMatchObject({ code: "CHANGED" });
    expect(await readFile(join(root, `raced${text}.md`), "utf8")).toBe("theirs");
    await raced.close();
  },
);

test.each(["/page.html", "/picture.svg", "/bytes.bin"])(
  "SV-11 %s is never a page of the server",
  async (path) => {
    const { status, headers } = await server.call("GET", content(path));
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^(?:text\/plain; charset=utf-8|application\/octet-stream)$/);
    expect(headers.get("content-disposition")).toMatch(/^attachment/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("sandbox");
  },
);

test.each([
  "../outside.txt",
  "/../outside.txt",
  "/src/../../outside.txt",
  "/%2e%2e/outside.txt",
  "/..\\outside.txt",
  "/a\0",
])("SV-11 the path %j is refused", async (path) => {
  expect((await server.call("GET", content(path))).status).toBe(400);
  const body = { path, content: "x" };
  expect((await server.call("PUT", "/workspace/files/content", body, { "if-none-match": "*" })).status).toBe(
    400,
  );
});

test("links lead nowhere outside, and the permissions of the server hold", async () => {
  const link = await server.call("GET", content("/link.txt"));
  expect([403, 404]).toContain(link.status);
  const { body } = await server.call("GET", "/workspace/files?path=/private");
  expect(JSON.stringify(body)).not.toContain("key.txt");
  expect([403, 404]).toContain((await server.call("GET", content("/private/key.txt"))).status);
  for (const path of ["/private/new.txt", "/.git/hooks/pre-commit", "/link.txt"]) {
    const save = await server.call(
      "PUT",
      "/workspace/files/content",
      { path, content: "x" },
      { "if-none-match": "*" },
    );
    expect([403, 412], path).toContain(save.status);
  }
  expect(await readFile(join(folder, "outside.txt"), "utf8")).toBe("outside");
  expect((await server.call("PUT", "/workspace/files/content", { path: "/a", content: "" })).status).toBe(
    400,
  );
});

test("each caller has files of their own, or none", async () => {
  const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
  const shared = await startServer({
    authenticate: ({ headers }) => ({ identity: headers.get("x-who") ?? "nobody" }),
    workspace: ({ identity }) => (identity === "alice" ? backend : undefined),
  });
  expect((await shared.call("GET", "/workspace/files", undefined, { "x-who": "alice" })).status).toBe(200);
  expect((await shared.call("GET", "/workspace/files", undefined, { "x-who": "bob" })).status).toBe(501);
  await shared.close();
});

test("each agent has its own directory: an assistant chooses, the first agent is the usual one, and no path leads across", async () => {
  const backend = (rootDir: string) => new FilesystemBackend({ rootDir, virtualMode: true });
  const [one, two] = [await mkdtemp(join(folder, "one-")), await mkdtemp(join(folder, "two-"))];
  const places = new Map([
    ["one", backend(one)],
    ["two", backend(two)],
  ]);
  const both = await startServer({
    agents: { one: echoAgent(), two: echoAgent(), none: echoAgent() },
    workspace: (_, agent) => places.get(agent),
  });
  try {
    const { workspace, assistants } = createClient({ baseUrl: both.url, token: TOKEN });
    await workspace.save("/a.md", "of one", null);
    const made = await assistants.create({ graph_id: "two", name: "mine" });
    const { etag } = await workspace.save("/b.md", "of two", null, { agent: made.assistant_id });
    const names = async (agent?: string) =>
      (await workspace.list("/", agent === undefined ? {} : { agent })).entries.map(({ path }) => path);
    expect([await names(), await names("one"), await names("two")]).toEqual([
      ["/a.md"],
      ["/a.md"],
      ["/b.md"],
    ]);
    await expect(workspace.save("/b.md", "lost", etag, { agent: "one" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect(await readFile(join(two, "b.md"), "utf8")).toBe("of two");
    const asked = (query: string) => both.call("GET", `/workspace/files/content?${query}`);
    expect((await asked("path=/b.md")).status).toBe(404);
    expect((await asked("path=/a.md&assistant_id=two")).status).toBe(404);
    expect((await asked(`path=/../${basename(one)}/a.md&assistant_id=two`)).status).toBe(400);
    expect((await asked("path=/a.md&assistant_id=none")).status).toBe(501);
    expect((await asked("path=/a.md&assistant_id=../one")).status).toBe(404);
  } finally {
    await both.close();
  }
});
