/** Undo of commands that move, close or relabel what snapshots look at. */
import { execSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { callTool, say } from "deepwright/testing";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { testProgram } from "../../../../../scripts/test-program.mjs";
import { SharedMemorySaver } from "../../saver/shared-memory-saver.ts";
import { SqliteSaver } from "../../sqlite/index.ts";
import { openThreads } from "../open-threads.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "./tree-for-tests.ts";

const made: string[] = [];
afterAll(() => removeAll(made));

const PROGRAM = await testProgram(new URL("./agent-process-for-tests.ts", import.meta.url));
const NOBODY = 65_534;

/** A thread that ran `commands`, in a project that `setup` changed before. */
async function ran(setup: string, ...commands: string[]) {
  const directory = await emptyDirectory(made);
  fillProject(directory);
  execSync(setup, { cwd: directory });
  const before = await treeOf(directory);
  const thread = new ShellThread(new SharedMemorySaver(), directory);
  await thread.run([...commands.map((command) => callTool("execute", { command })), say("Done.")]);
  return { thread, directory, before };
}

/** Paths with what is said about them. */
function notesOf(items: readonly { readonly path?: string; readonly reason: string }[]): string[] {
  return items.map(({ path = "$", reason }) => `${path}: ${reason}`);
}

it.each([
  ["ln README.md hard.md", "echo more >> hard.md"],
  ["ln README.md hard.md; ln README.md src/third.md", "rm hard.md; echo more >> README.md"],
  ["true", "touch src/CACHEDIR.TAG; echo more >> src/main.ts; rm src/Case.ts"],
  ["true", "rm README.md; mkfifo README.md pipe"],
])("undo, redo and undo again, after %s: %s", async (setup, command) => {
  const { thread, directory, before } = await ran(setup, command);
  const plan = await thread.rewind(-1, true);
  const done = await thread.rewind(-1);
  expect(notesOf(done.conflicts)).toEqual([]);
  expect(plan.restored).toEqual(done.restored);
  expect(await treeOf(directory)).toEqual(before);
  expect((await thread.rewind(done.previousId)).conflicts).toEqual([]);
  expect((await thread.rewind(-1)).conflicts).toEqual([]);
  expect(await treeOf(directory)).toEqual(before);
});

it("content of a directory that was a cache stays when its tag goes", async () => {
  const { thread, directory, before } = await ran(
    "mkdir c; touch c/CACHEDIR.TAG c/x",
    "rm c/CACHEDIR.TAG; touch made",
  );
  expect(notesOf((await thread.rewind(-1)).notCovered)).toEqual([
    "/c: It is a directory that a tool fills again, so its content is not kept. It had 2 entries.",
  ]);
  const { "c/CACHEDIR.TAG": _, ...left } = before;
  expect(await treeOf(directory)).toEqual(left);
});

it("a preview tells which directories stay because of what is in them, and where a repository came from", async () => {
  const { thread } = await ran("mkdir -p sub/.git; touch sub/.git/HEAD sub/a", "mv sub moved");
  const plan = await thread.rewind(-1, true);
  const done = await thread.rewind(-1);
  expect(plan).toEqual({ ...done, checkpointId: undefined });
  expect(notesOf(done.conflicts)).toEqual(["/moved: It is a directory with other files in it."]);
  expect(notesOf(done.notCovered)[0]).toBe(
    "/moved/.git: It was /sub/.git, whose content is not kept. It stays here; move it back by hand.",
  );
});

it("names that are not UTF-8 and bits that lend rights are named when they are not put back", async () => {
  const { thread, directory } = await ran("chmod u+s run.sh");
  execSync("touch \"$(printf 'caf\\351')\"", { cwd: directory });
  await thread.run([callTool("execute", { command: "rm caf*; chmod 700 run.sh" }), say("Done.")]);
  expect(notesOf((await thread.rewind(-1)).notCovered)).toEqual([
    "/run.sh: Its set-user-ID and set-group-ID bits are not put back.",
    "$: '/caf\uFFFD' is gone. Its name is not UTF-8, so it was not kept.",
  ]);
});

it("commands run, and go back, where a directory may not be entered; what is in it stays", async () => {
  const directory = await emptyDirectory(made);
  const path = join(await emptyDirectory(made), "state.db");
  fillProject(directory);
  const before = await treeOf(directory);
  // Root may enter everything.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid) execSync(`chown -R ${NOBODY}:${NOBODY} ${directory} ${join(path, "..")}`);
  const commands = ["echo more >> README.md; chmod 000 src/deep; chmod 600 docs", "rm latin.txt"];
  const program = [PROGRAM, path, "t1", directory, ...commands];
  expect(spawnSync(process.execPath, program, { ...user, encoding: "utf8" })).toMatchObject({ status: 0 });
  const saver = await SqliteSaver.open(path);
  onTestFinished(() => saver.close());
  const done = await openThreads(saver).rewind("t1", -1, { roots: [directory] });
  expect(done.conflicts).toEqual([]);
  expect(done.restored.map(({ path }) => path)).toEqual(["/README.md", "/docs", "/latin.txt", "/src/deep"]);
  expect(done.notCovered.map(({ reason }) => reason)).toContain(
    "'/src/deep' cannot be listed, so changes in it are not kept.",
  );
  expect(await treeOf(directory)).toEqual(before);
});
