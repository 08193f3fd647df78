import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph";
import { beforeEach, expect, it } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { callTool, scriptedModel } from "../../testing/index.ts";
import type { UndoEntry } from "../undo-log.ts";
import { type DiskTree, diskTree } from "./disk-tree-for-tests.ts";
import { FilesystemBackend } from "./filesystem.ts";

class NotingSaver extends MemorySaver {
  readonly noted: UndoEntry[] = [];
  broken = false;

  async recordImage(_config: unknown, image: UndoEntry): Promise<void> {
    if (this.broken) throw new Error("the saver is broken");
    this.noted.push(image);
  }
}

let tree: DiskTree;
let saver: NotingSaver;

beforeEach(() => {
  tree = diskTree();
  saver = new NotingSaver();
});

function put(path: string, content: string): void {
  mkdirSync(join(tree.root, path, ".."), { recursive: true });
  writeFileSync(join(tree.root, path), content);
}

/** Has an agent make the calls, and returns the before-images they left. */
async function imagesOf(
  calls: readonly [tool: string, args: Record<string, unknown>][],
  backend = new FilesystemBackend({ rootDir: tree.root, virtualMode: true }),
): Promise<(readonly unknown[])[]> {
  const model = scriptedModel([...calls.map(([tool, args]) => callTool(tool, args)), "done"]);
  const agent = createDeepAgent({ model, backend, checkpointer: saver });
  const messages = [{ role: "user", content: "go" }];
  await agent.invoke({ messages }, { configurable: { thread_id: "t" } });
  return saver.noted.map(({ place, path, before, after }) => [place, path, before, after]);
}

it("every change of a run leaves what the file was and what it became", async () => {
  put("old.txt", "one\n");
  put("link-target", "linked");
  put("doomed/a", "first");
  put("doomed/deep/b", "second");
  symlinkSync("link-target", join(tree.root, "link"));
  symlinkSync("../old.txt", join(tree.root, "doomed/link"));
  const place = `disk:${tree.root}`;
  expect(
    await imagesOf([
      ["write_file", { file_path: "/new.txt", content: "new" }],
      ["edit_file", { file_path: "/old.txt", old_string: "one", new_string: "two" }],
      ["edit_file", { file_path: "/link", old_string: "linked", new_string: "changed" }],
      ["edit_file", { file_path: "/old.txt", old_string: "not there", new_string: "x" }],
      ["write_file", { file_path: "/old.txt", content: "exists" }],
      ["delete", { file_path: "/doomed" }],
    ]),
  ).toEqual([
    [place, "/new.txt", undefined, "new"],
    [place, "/old.txt", "one\n", "two\n"],
    [place, "/link-target", "linked", "changed"],
    [place, "/doomed/a", "first", undefined],
    [place, "/doomed/deep/b", "second", undefined],
  ]);
});

it("paths of the host are noted as seen from the root", async () => {
  const backend = new FilesystemBackend({ rootDir: tree.root });
  const free = new FilesystemBackend({ rootDir: tree.root, allowOutsideRoot: true });
  const place = `disk:${tree.root}`;
  await imagesOf([["write_file", { file_path: `${tree.root}/a`, content: "1" }]], backend);
  await imagesOf([["write_file", { file_path: `${tree.root}/b`, content: "2" }]], free);
  expect(await imagesOf([["write_file", { file_path: `${tree.evil}/c`, content: "3" }]], free)).toEqual([
    [place, "/a", undefined, "1"],
    [place, "/b", undefined, "2"],
    ["disk:/", `${tree.evil}/c`, undefined, "3"],
  ]);
});

it("a change that cannot be noted is not made", async () => {
  put("old.txt", "one");
  saver.broken = true;
  await imagesOf([["edit_file", { file_path: "/old.txt", old_string: "one", new_string: "two" }]]).catch(
    () => {},
  );
  expect(readFileSync(join(tree.root, "old.txt"), "utf8")).toBe("one");
});

it("what is too large is only noted, and what the harness moved there not even that", async () => {
  put("large", "");
  truncateSync(join(tree.root, "large"), 60 * 1024 * 1024);
  const images = await imagesOf([
    ["delete", { file_path: "/large" }],
    ["write_file", { file_path: "/large_tool_results/call", content: "x" }],
  ]);
  expect(images).toEqual([[expect.stringMatching(/^large:\//), "/large", undefined, undefined]]);
});

it("without a run nothing is noted, and a backend of a run notes only its own changes", async () => {
  const backend = new FilesystemBackend({ rootDir: tree.root, virtualMode: true });
  expect(await backend.write("/x", "1")).toEqual({ path: "/x" });
  expect(await backend.withRuntime({ state: {} }).write("/y", "1")).toEqual({ path: "/y" });
  expect(saver.noted).toEqual([]);
});
