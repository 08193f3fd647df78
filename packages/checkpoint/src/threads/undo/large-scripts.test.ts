/** Undo of commands that are larger, or more at once, than those of the list of scripts. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { callTool, type Script, say } from "deepwright/testing";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { SqliteSaver } from "../../sqlite/index.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "./tree-for-tests.ts";

const made: string[] = [];
afterAll(() => removeAll(made));

const MEGABYTE = 2 ** 20;
const IGNORED = /^(node_modules|\.git)(\/|$)/;

async function project(): Promise<ShellThread> {
  const directory = await emptyDirectory(made);
  fillProject(directory);
  const saver = await SqliteSaver.open(join(await emptyDirectory(made), "state.db"));
  onTestFinished(() => saver.close());
  return new ShellThread(saver, directory);
}

const runs = (command: string) => callTool("execute", { command });

function shell(command: string, cwd: string): void {
  const { status, stderr } = spawnSync("/bin/sh", ["-ec", command], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** The tree without what tools fill again. */
async function keptTree(directory: string): Promise<Record<string, string>> {
  return Object.fromEntries(Object.entries(await treeOf(directory)).filter(([path]) => !IGNORED.test(path)));
}

const GIT = "git -c user.name=n -c user.email=e@example.com";

it("git checkout, clean and stash: work that was never committed is back; .git is listed", async () => {
  const thread = await project();
  const { directory } = thread;
  shell(`git init -q . && git add -A && ${GIT} commit -qm first`, directory);
  appendFileSync(join(directory, "README.md"), "a day of work\n");
  writeFileSync(join(directory, "untracked.txt"), "another day\n");
  rmSync(join(directory, "bytes.bin"));
  const before = await keptTree(directory);
  await thread.run([
    runs("git checkout . && git clean -fdq"),
    runs(`echo x >> src/main.ts; ${GIT} stash -q`),
    say("Done."),
  ]);
  expect(existsSync(join(directory, "untracked.txt"))).toBe(false);
  const { conflicts, notCovered } = await thread.rewind(-1);
  expect(conflicts).toEqual([]);
  expect(notCovered.map(({ path }) => path)).toEqual(["/.git"]);
  expect(await keptTree(directory)).toEqual(before);
});

it("npm install: the manifest and the lock file are back; node_modules is listed", async () => {
  const thread = await project();
  const { directory } = thread;
  mkdirSync(join(directory, "local"));
  writeFileSync(join(directory, "local/package.json"), '{ "name": "local", "version": "1.0.0" }\n');
  writeFileSync(join(directory, "package.json"), '{ "name": "project", "version": "1.0.0" }\n');
  const before = await keptTree(directory);
  await thread.run([
    runs("npm install ./local --offline --no-audit --no-fund --install-links"),
    say("Done."),
  ]);
  expect(existsSync(join(directory, "package-lock.json"))).toBe(true);
  expect(readFileSync(join(directory, "package.json"), "utf8")).toContain("local");
  const { conflicts, notCovered } = await thread.rewind(-1);
  expect(conflicts).toEqual([]);
  expect(notCovered.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
    "/node_modules: It is a directory that a tool fills again. It was not there before, and stays.",
  ]);
  expect(await keptTree(directory)).toEqual(before);
});

it("a change deep in a directory that tools fill again is listed", async () => {
  const thread = await project();
  const { directory } = thread;
  mkdirSync(join(directory, "node_modules/@scope/package/lib"), { recursive: true });
  for (const name of ["one.js", "two.js"])
    writeFileSync(join(directory, "node_modules/@scope/package/lib", name), "1");
  await thread.run([runs("ls -R"), runs("rm node_modules/@scope/package/lib/two.js"), say("Done.")]);
  const { notCovered } = await thread.rewind(-1);
  expect(notCovered.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
    "/node_modules: It is a directory that a tool fills again, so its content is not kept. It had 5 entries.",
  ]);
});

it("thousands of files that were renamed, changed, removed and made", async () => {
  const thread = await project();
  const { directory } = thread;
  const count = sized(400, 20_000);
  for (let folder = 0; folder < 20; folder += 1)
    mkdirSync(join(directory, `many/${folder}`), { recursive: true });
  for (let i = 0; i < count; i += 1)
    writeFileSync(join(directory, `many/${i % 20}/f${i}.txt`), `file ${i}\n`);
  const before = await treeOf(directory);
  await thread.run([
    runs(
      "mv many renamed; cd renamed; rm -r 1 2; for d in 3 4; do mv $d moved-$d; done; sed -i s/file/FILE/ 5/*",
    ),
    runs(`mkdir new; cd new; seq 1 ${count} | split -l 1 -a 4 - n`),
    say("Done."),
  ]);
  const after = await treeOf(directory);
  expect(Object.keys(after).length).toBeGreaterThan(count);
  const done = await thread.rewind(-1);
  expect([done.conflicts, done.notCovered]).toEqual([[], []]);
  expect(await treeOf(directory)).toEqual(before);
  expect((await thread.rewind(done.previousId)).conflicts).toEqual([]);
  expect(await treeOf(directory)).toEqual(after);
});

it("sparse files come back; what is too large is listed, and goes where it was not before", async () => {
  const thread = await project();
  const { directory } = thread;
  const at = (name: string): string => join(directory, name);
  const sparse = (name: string, bytes: number): void => {
    const file = openSync(at(name), "w");
    ftruncateSync(file, bytes);
    closeSync(file);
  };
  sparse("sparse.img", 20 * MEGABYTE);
  sparse("huge.img", 3_000 * MEGABYTE);
  const size = sized(60, 500);
  shell(`head -c ${size}M /dev/zero > large.bin`, directory);
  await thread.run([
    runs(
      `rm sparse.img; echo more >> large.bin; truncate -s 10M huge.img; head -c ${size}M /dev/zero > new.bin`,
    ),
    say("Done."),
  ]);
  const { conflicts, notCovered, restored } = await thread.rewind(-1);
  expect(conflicts).toEqual([]);
  expect(notCovered.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
    "/huge.img: It is too large to be kept.",
    "/large.bin: It is too large to be kept.",
  ]);
  expect(restored.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    "deleted /new.bin",
    "created /sparse.img",
  ]);
  const bytes = readFileSync(at("sparse.img"));
  expect([bytes.length, bytes.some((byte) => byte !== 0)]).toEqual([20 * MEGABYTE, false]);
  expect(statSync(at("large.bin")).size).toBe(size * MEGABYTE + 5);
});

it("subagents and commands at the same time, with a person's edits between two turns", async () => {
  const thread = await project();
  const { directory } = thread;
  const before = await treeOf(directory);
  const child = (name: string) => ({
    name: "task",
    args: { description: name, subagent_type: "general-purpose" },
  });
  const script: Script = ({ messages }) => {
    const last = messages.at(-1);
    if (last?.type !== "human") return say("Done.");
    if (last.text === "Go")
      return {
        toolCalls: [
          ...["one", "two", "three"].map(child),
          {
            name: "execute",
            args: { command: "sed -i s/first/FIRST/ README.md; rm -r docs; sleep 0.1; mkdir docs" },
          },
          { name: "write_file", args: { file_path: "/by-tool.txt", content: "tool\n" } },
        ],
      };
    const name = last.text;
    return {
      toolCalls: [
        {
          name: "execute",
          args: {
            command: `echo ${name} > ${name}.txt; sleep 0.05; mv ${name}.txt src/; ls src > ${name}.list`,
          },
        },
        { name: "write_file", args: { file_path: `/tool-${name}.txt`, content: name } },
      ],
    };
  };
  await thread.run(script);
  writeFileSync(join(directory, "mine.txt"), "mine\n");
  appendFileSync(join(directory, "run.sh"), "echo mine\n");
  await thread.run([runs("rm -rf src empty; chmod 700 run.sh"), say("Done.")]);
  const done = await thread.rewind(-1);
  expect([done.conflicts, done.notCovered]).toEqual([[], []]);
  expect(await treeOf(directory)).toEqual({
    ...before,
    "mine.txt": expect.stringContaining("mine"),
    "run.sh": `${before["run.sh"]}echo mine\n`,
  });
});
