/** Subclasses with paths of their own: what they implement is what is used. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { afterThisTest } from "../../../../../scripts/test-cleanups.mjs";
import { createDeepAgent } from "../../agent.ts";
import { scriptedModel } from "../../testing/index.ts";
import type { ExecuteResponse, FileDownloadResponse, FileUploadResponse } from "../backend.ts";
import { BaseSandbox } from "./base-sandbox.ts";

/** Transfers lie below a directory of the host; commands start in it and see the host. */
class MappedSandbox extends BaseSandbox {
  readonly id: string = "mapped";
  readonly root = mkdtempSync(join(tmpdir(), "mapped-"));
  readonly temporary = mkdtempSync(join(tmpdir(), "mapped-temporary-"));
  readonly moved: string[] = [];

  execute(command: string): ExecuteResponse {
    const env = { ...process.env, TMPDIR: this.temporary };
    const output = execFileSync("sh", ["-c", command], { cwd: this.root, env, maxBuffer: 1e9 });
    return { output: output.toString("utf8"), exitCode: 0, truncated: false };
  }

  uploadFiles(files: readonly (readonly [string, Uint8Array])[]): FileUploadResponse[] {
    return files.map(([path, bytes]) => {
      this.moved.push(path);
      const at = join(this.root, path);
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, bytes);
      return { path, error: null };
    });
  }

  downloadFiles(paths: readonly string[]): FileDownloadResponse[] {
    return paths.map((path) => {
      const at = join(this.root, path);
      if (!existsSync(at)) return { path, content: null, error: "file_not_found" };
      return { path, content: new Uint8Array(readFileSync(at)), error: null };
    });
  }
}

function open(): MappedSandbox {
  const sandbox = new MappedSandbox();
  afterThisTest(() => {
    for (const path of [sandbox.root, sandbox.temporary]) rmSync(path, { recursive: true, force: true });
  });
  return sandbox;
}

const NAME = "deepwright-mapped-test.txt";

describe("a sandbox that maps paths in its transfers", () => {
  it("stores, edits and reads through them, and nothing reaches the host's directory of that name", async () => {
    const sandbox = open();
    const path = `/${NAME}`;
    expect(await sandbox.write(path, "one\n")).toEqual({ path });
    expect(await sandbox.write(path, "two\n")).toMatchObject({ code: "FILE_EXISTS" });
    expect(await sandbox.edit(path, "one", "two")).toEqual({ path, occurrences: 1 });
    expect(await sandbox.append(path, "three\n")).toEqual({ path });
    expect(await sandbox.read(path)).toMatchObject({ content: "two\nthree\n", totalLines: 2 });
    expect(await sandbox.readRaw(path)).toMatchObject({ data: { content: "two\nthree\n" } });
    expect(readFileSync(join(sandbox.root, NAME), "utf8")).toBe("two\nthree\n");
    expect(existsSync(path)).toBe(false);
  });

  it("gets relative paths as they are, and commands start where they always start", async () => {
    const sandbox = open();
    expect(await sandbox.write("./dir//a.txt", "needle\n")).toEqual({ path: "dir/a.txt" });
    expect(sandbox.moved).toEqual(["dir/a.txt"]);
    expect(await sandbox.edit("dir/a.txt", "needle", "a needle")).toMatchObject({ occurrences: 1 });
    expect(await sandbox.ls("")).toEqual({ files: [{ path: "dir/", is_dir: true }] });
    expect(await sandbox.ls("dir")).toMatchObject({ files: [{ path: "dir/a.txt", size: 9 }] });
    expect(await sandbox.glob("**/*.txt")).toMatchObject({ files: [{ path: "dir/a.txt" }] });
    expect(await sandbox.glob("dir/*.txt", ".")).toMatchObject({ files: [{ path: "dir/a.txt" }] });
    const matches = [{ path: "dir/a.txt", line: 1, text: "a needle" }];
    expect(await sandbox.grep("needle")).toEqual({ matches });
    expect(await sandbox.grep("needle", "dir/a.txt")).toEqual({ matches });
    expect(await sandbox.delete("../x")).toMatchObject({ code: "INVALID_PATH" });
    expect(await sandbox.delete(".")).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await sandbox.delete("dir")).toEqual({ path: "dir" });
    expect(readdirSync(sandbox.root)).toEqual([]);
  });

  it("lists and searches places that its transfers do not know, however long the answer is", async () => {
    const sandbox = open();
    const directory = join(sandbox.root, "many");
    mkdirSync(directory);
    const names = Array.from({ length: 700 }, (_, n) => `${String(n).padStart(4, "0")}-${"x".repeat(100)}`);
    for (const name of names) writeFileSync(join(directory, name), "");
    writeFileSync(join(directory, "9999"), "one\nneedle\n");
    expect((await sandbox.ls(directory)).files).toHaveLength(701);
    expect(await sandbox.grep("needle", directory)).toEqual({
      matches: [{ path: `${directory}/9999`, line: 2, text: "needle" }],
    });
    expect(readdirSync(sandbox.temporary)).toEqual([]);
  });

  it("works for an agent, with absolute and relative paths", async () => {
    const sandbox = open();
    const model = scriptedModel([
      { toolCalls: [{ name: "write_file", args: { file_path: `/${NAME}`, content: "one\n" } }] },
      { toolCalls: [{ name: "write_file", args: { file_path: "notes.txt", content: "two\n" } }] },
      {
        toolCalls: [
          { name: "edit_file", args: { file_path: "notes.txt", old_string: "two", new_string: "2" } },
        ],
      },
      { toolCalls: [{ name: "glob", args: { pattern: "*.txt" } }] },
      "done",
    ]);
    const { messages } = await createDeepAgent({ model, backend: sandbox }).invoke({ messages: "go" });
    expect(sandbox.moved).toEqual([`/${NAME}`, "notes.txt", "notes.txt"]);
    expect(readFileSync(join(sandbox.root, "notes.txt"), "utf8")).toBe("2\n");
    expect(messages.at(-2)?.content).toBe(`${NAME}\nnotes.txt`);
    expect(existsSync(`/${NAME}`) || existsSync("/notes.txt")).toBe(false);
  });
});

it("a sandbox whose commands answer nothing still stores, edits and reads files", async () => {
  const sandbox = open();
  sandbox.execute = () => ({ output: "", exitCode: 0, truncated: false });
  expect(await sandbox.write("/a.txt", "one")).toEqual({ path: "/a.txt" });
  expect(await sandbox.edit("/a.txt", "one", "two")).toMatchObject({ occurrences: 1 });
  expect(await sandbox.read("/a.txt")).toMatchObject({ content: "two" });
  sandbox.execute = () => {
    throw new Error("no commands here");
  };
  expect(await sandbox.readRaw("/a.txt")).toMatchObject({ data: { content: "two" } });
  expect(await sandbox.read("/none")).toMatchObject({ code: "FILE_NOT_FOUND" });
});
