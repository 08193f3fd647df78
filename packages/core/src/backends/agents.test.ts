import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore } from "@langchain/langgraph";
import { afterEach, expect, test } from "vitest";
import {
  type BackendRuntime,
  CompositeBackend,
  createDeepAgent,
  FilesystemBackend,
  LocalShellBackend,
  MapBackend,
  StateBackend,
  StoreBackend,
} from "../index.ts";
import { callTool, scriptedModel } from "../testing/index.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "deepwright-agents-"));
  folders.push(folder);
  return folder;
};

const ask = { messages: [{ role: "user", content: "go" }] };
const write = (file_path: string, content: string) => callTool("write_file", { file_path, content });
const texts = (result: { messages: { content: unknown; getType(): string }[] }): unknown[] =>
  result.messages.filter((message) => message.getType() === "tool").map(({ content }) => content);

test.each([
  ["instances", () => new CompositeBackend(new StateBackend(), { "/memories/": storeBackend() })],
  [
    "a factory",
    () => (runtime: BackendRuntime) =>
      new CompositeBackend(new StateBackend(runtime), { "/memories": storeBackend() }),
  ],
  ["classes", () => new CompositeBackend(StateBackend, { "/memories": () => storeBackend() })],
])("an agent keeps scratch files in its thread and memories in a store: %s", async (_, backend) => {
  const store = new InMemoryStore();
  const model = scriptedModel([
    write("/memories/user.md", "likes tea"),
    write("/draft.md", "a draft"),
    callTool("grep", { pattern: "a" }),
    "done",
  ]);
  const agent = createDeepAgent({ model, backend: backend(), store });
  const result = await agent.invoke(ask);
  expect(Object.keys(result.files)).toEqual(["/draft.md"]);
  const stored = await store.get(["notes", "filesystem"], "/user.md");
  expect(stored?.value.content).toBe("likes tea");
  expect(texts(result)[2]).toContain("/memories/user.md");
});

const storeBackend = () => new StoreBackend({ namespace: ["notes", "filesystem"] });

test("an agent on a disk has no files in its state and changes the disk itself", async () => {
  const rootDir = newFolder();
  writeFileSync(join(rootDir, "a.txt"), "one\r\ntwo\r\n");
  const model = scriptedModel([
    callTool("edit_file", { file_path: "/a.txt", old_string: "one\ntwo", new_string: "1\n2" }),
    callTool("edit_file", { file_path: "/a.txt", old_string: "missing", new_string: "x" }),
    "done",
  ]);
  const agent = createDeepAgent({ model, backend: new FilesystemBackend({ rootDir, virtualMode: true }) });
  const result = await agent.invoke(ask);
  expect(readFileSync(join(rootDir, "a.txt"), "utf8")).toBe("1\r\n2\r\n");
  expect(result.files).toBeUndefined();
  expect(
    result.messages.filter((message) => (message as { status?: string }).status === "error"),
  ).toHaveLength(1);
});

test("without virtualMode paths are real ones, and relative ones lie in the root", async () => {
  const rootDir = newFolder();
  const model = scriptedModel([write("notes/a.txt", "text"), callTool("ls", {}), "done"]);
  const result = await createDeepAgent({ model, backend: new FilesystemBackend({ rootDir }) }).invoke(ask);
  expect(readFileSync(join(rootDir, "notes", "a.txt"), "utf8")).toBe("text");
  expect(texts(result)[1]).toContain(`${rootDir}/notes/`);
  expect(JSON.stringify(model.calls[0])).toContain(`You work in \`${rootDir}\``);
});

test("a model is offered execute only where commands can be run", async () => {
  const names = async (backend: unknown): Promise<unknown> => {
    const model = scriptedModel(["done"]);
    const agent = createDeepAgent({ model, backend: backend as never });
    await agent.invoke(ask);
    return model.calls[0]?.tools.some((tool) => (tool as { name?: string }).name === "execute");
  };
  const shell = new LocalShellBackend({ rootDir: newFolder() });
  expect(await names(new MapBackend())).toBe(false);
  expect(await names(shell)).toBe(true);
  expect(await names(() => new MapBackend())).toBe(false);
  expect(await names(() => shell)).toBe(true);
  expect(await names(new CompositeBackend(shell, { "/notes": new MapBackend() }))).toBe(true);
  expect(await names(new CompositeBackend(new MapBackend(), { "/shell": shell }))).toBe(false);
});
