import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool, say } from "deepwright/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SharedMemorySaver } from "../../saver/shared-memory-saver.ts";
import type { BisectOptions } from "../threads.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "../undo/tree-for-tests.ts";
import { copyDirectory, removeStaleCopies } from "./directory-copy.ts";

const made: string[] = [];
const saver = new SharedMemorySaver();
afterAll(async () => {
  await saver.close();
  await removeAll(made);
});

let thread: ShellThread;
let copiesIn: string;

beforeAll(async () => {
  const directory = await emptyDirectory(made);
  copiesIn = await emptyDirectory(made);
  fillProject(directory);
  thread = new ShellThread(saver, directory);
  await thread.run([
    callTool("write_file", { file_path: "/one.txt", content: "good\n" }),
    callTool("execute", { command: "echo more >> one.txt; mkdir -p made/deep" }),
    callTool("edit_file", { file_path: "/README.md", old_string: "second", new_string: "2nd" }),
    callTool("execute", { command: "sed -i s/good/bad/ one.txt; rm src/Case.ts" }, "breaks"),
    callTool("execute", { command: "echo last >> one.txt" }),
    say("Done."),
  ]);
});

/** Commands run on this machine, in the copy. */
function options(command: string, more: Partial<BisectOptions> = {}): BisectOptions {
  const run = async (cwd: string) => {
    const { status, stdout } = spawnSync("/bin/sh", ["-c", command], { cwd, encoding: "utf8" });
    return { exitCode: status, output: stdout };
  };
  return { root: thread.directory, copiesIn, run, ...more };
}

describe("bisect", () => {
  it("names the first call after which a command fails, and touches nothing", async () => {
    const before = await treeOf(thread.directory);
    const seen: string[] = [];
    const found = await thread.threads.bisect(
      thread.id,
      options("cat one.txt; rm -rf src; ! grep -q bad one.txt", {
        onTest: ({ number, exitCode, after }) => seen.push(`${number} ${exitCode} ${after?.by.call ?? "-"}`),
      }),
    );
    expect(found).toMatchObject({
      outcome: "found",
      first: { by: { call: "breaks", prompt: "Go" }, paths: ["/one.txt", "/src/Case.ts"] },
      output: "bad\nmore\n",
      exitCode: 1,
      conflicts: [],
      left: [],
    });
    expect(seen[0]).toMatch(/^1 1 /);
    expect(seen[1]).toBe("2 0 -");
    expect(found.tests).toBe(seen.length);
    expect(await treeOf(thread.directory)).toEqual(before);
    expect(readdirSync(copiesIn)).toEqual([]);
  });

  it("tests exact states: the one before all steps equals the directory at the start", async () => {
    const start = await emptyDirectory(made);
    fillProject(start);
    const trees: unknown[] = [];
    const run = async (directory: string) => {
      trees.push(await treeOf(directory));
      return { exitCode: trees.length === 1 ? 1 : 0, output: "" };
    };
    await thread.threads.bisect(thread.id, options("", { run }));
    expect(trees[0]).toEqual(await treeOf(thread.directory));
    expect(trees[1]).toEqual(await treeOf(start));
  });

  it("says when there is nothing to find, and refuses what cannot be compared", async () => {
    const bisect = (command: string, more: Partial<BisectOptions> = {}) =>
      thread.threads.bisect(thread.id, options(command, more));
    expect(await bisect("true")).toMatchObject({ outcome: "succeeds", tests: 1 });
    expect(await bisect("false")).toMatchObject({ outcome: "fails before", tests: 2 });
    const { steps } = await thread.threads.show(thread.id);
    const third = steps.filter(({ changedFiles }) => changedFiles.length > 0)[2]?.step;
    expect(await bisect("! grep -q bad one.txt", { to: third })).toMatchObject({ outcome: "succeeds" });
    expect(await bisect("! grep -q last one.txt", { from: third })).toMatchObject({
      outcome: "found",
      tests: 3,
    });
    await expect(bisect("no-such-program")).rejects.toThrow("could not be run (exit code 127)");
    await expect(bisect("true", { root: copiesIn })).rejects.toThrow("changed no files");
    await expect(bisect("true", { copiesIn: join(thread.directory, "x") })).rejects.toThrow(
      "would be inside it",
    );
    expect(readdirSync(copiesIn)).toEqual([]);
  });

  it("leaves no copy behind when it is stopped, and removes those of dead processes", async () => {
    const stop = new AbortController();
    const run = async () => {
      stop.abort();
      return { exitCode: 1, output: "" };
    };
    await expect(
      thread.threads.bisect(thread.id, options("", { run, signal: stop.signal })),
    ).rejects.toThrow();
    expect(readdirSync(copiesIn)).toEqual([]);
    const at = (name: string): string => join(copiesIn, name);
    for (const name of ["deepwright-copy-a", "deepwright-copy-b", "mine"]) mkdirSync(at(name));
    symlinkSync(thread.directory, at("deepwright-copy-link"));
    symlinkSync(thread.directory, at("deepwright-copy-a/link"));
    utimesSync(at("deepwright-copy-a"), 0, 0);
    const mine = await copyDirectory(thread.directory, { copiesIn });
    await removeStaleCopies(copiesIn);
    expect(
      readdirSync(copiesIn)
        .filter((name) => !mine.directory.includes(name))
        .sort(),
    ).toEqual(["deepwright-copy-b", "deepwright-copy-link", "mine"]);
    expect(await treeOf(mine.directory)).toEqual(await treeOf(thread.directory));
    writeFileSync(join(mine.directory, "README.md"), "other\n");
    await mine.remove();
    await mine.remove();
  });
});
