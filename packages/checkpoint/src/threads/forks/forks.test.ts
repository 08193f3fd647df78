import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, type Script, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SqliteSaver } from "../../sqlite/index.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "../undo/tree-for-tests.ts";
import type { ForkReport } from "./fork-types.ts";
import { adoptFork, compareThreads, forkThread } from "./forks.ts";

const made: string[] = [];
let saver: SqliteSaver;
let copiesIn: string;
let thread: ShellThread;

beforeAll(async () => {
  saver = await SqliteSaver.open(join(await emptyDirectory(made), "state.db"));
  copiesIn = await emptyDirectory(made);
});
afterAll(async () => {
  await saver.close();
  await removeAll(made);
});

beforeEach(async () => {
  const directory = await emptyDirectory(made);
  fillProject(directory);
  thread = new ShellThread(saver, directory);
});

const at = (name: string): string => join(thread.directory, name);
const text = (name: string): string => readFileSync(at(name), "utf8");

/** A fork whose agent follows the script. Returns the id of its thread. */
async function fork(
  script: Script,
  { of, step, report }: { of?: string; step?: number; report?: ForkReport } = {},
): Promise<string> {
  const made = await forkThread(saver, of, { root: thread.directory, step, copiesIn });
  const backend = new LocalShellBackend({ rootDir: made.directory, virtualMode: true });
  const agent = createDeepAgent({ model: scriptedModel(script), checkpointer: saver, backend });
  await agent.invoke({ messages: "Try" }, { configurable: { thread_id: made.threadId } });
  await backend.close();
  await made.finish(report);
  return made.threadId;
}

const runs = (command: string) => callTool("execute", { command });

describe("forks", () => {
  it("work on copies, are compared, and one is adopted and taken back", async () => {
    const before = await treeOf(thread.directory);
    const [one, two] = [
      await fork(
        [
          runs("sed -i s/first/FIRST/ README.md; rm -rf docs; mkdir -p made/deep; chmod 700 src/main.ts"),
          callTool("write_file", { file_path: "/new.txt", content: "new\n" }),
          say("I did it."),
        ],
        { report: { end: "done", cost: 0.5, check: { command: "true", exitCode: 0, output: "" } } },
      ),
      await fork([say("No.")]),
    ];
    expect(await treeOf(thread.directory)).toEqual(before);
    expect(readdirSync(copiesIn)).toEqual([]);
    const [first, second] = await compareThreads(saver, [one, two]);
    expect(first).toMatchObject({
      ...{ answer: "I did it.", end: "done", cost: 0.5, check: { exitCode: 0 } },
      forkOf: thread.directory,
      notCovered: [],
    });
    expect(first?.changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      "changed /README.md",
      "deleted /docs",
      "deleted /docs/long.md",
      "created /made",
      "created /made/deep",
      "created /new.txt",
      "changed /src/main.ts",
    ]);
    expect(second).toMatchObject({ answer: "No.", changes: [] });

    writeFileSync(at("README.md"), "# Title\n\nfirst\nsecond\nthird\nmine\n");
    const mine = await treeOf(thread.directory);
    const plan = await adoptFork(saver, one, { root: thread.directory, dryRun: true });
    expect(await treeOf(thread.directory)).toEqual(mine);
    const done = await adoptFork(saver, one, { root: thread.directory });
    expect({ ...plan, call: done.call }).toEqual(done);
    expect([done.conflicts, done.notCovered]).toEqual([[], []]);
    expect(text("README.md")).toBe("# Title\n\nFIRST\nsecond\nthird\nmine\n");
    expect([existsSync(at("docs")), text("new.txt"), readdirSync(at("made"))]).toEqual([
      false,
      "new\n",
      ["deep"],
    ]);
    expect((await adoptFork(saver, one, { root: thread.directory })).restored).toEqual([]);
    await thread.threads.restore(one, { call: done.call }, { roots: [thread.directory] });
    expect(await treeOf(thread.directory)).toEqual(mine);
  });

  it("begin at any step: files and messages are as they were then", async () => {
    await thread.run([runs("echo 1 > one; rm docs/long.md"), say("One.")]);
    const { steps } = await thread.threads.show(thread.id);
    const step = steps.at(-1)?.step as number;
    await thread.run([runs("echo 2 > two; echo more >> README.md"), say("Two.")]);
    const now = await treeOf(thread.directory);
    const id = await fork([runs("ls > seen; cat README.md >> seen"), say("Forked.")], {
      of: thread.id,
      step,
    });
    expect(await treeOf(thread.directory)).toEqual(now);
    const [forked, original] = await compareThreads(saver, [id, thread.id], { root: thread.directory });
    const seen = String(forked?.changes[0]?.after);
    expect([forked?.changes.length, seen.includes("one\n"), seen.includes("two")]).toEqual([1, true, false]);
    expect(seen).toContain("third\n");
    expect(seen).not.toContain("more");
    expect([forked?.answer, original?.answer, original?.forkOf]).toEqual(["Forked.", "Two.", undefined]);
    expect(original?.changes.map(({ path }) => path)).toContain("/two");
    const { checkpoint } = (await saver.getTuple({ configurable: { thread_id: id } })) as any;
    const said = checkpoint.channel_values.messages.map(({ content }: { content: unknown }) => content);
    expect(said).toContain("One.");
    expect(said).not.toContain("Two.");
    await adoptFork(saver, id, { root: thread.directory });
    expect([text("two"), text("seen")]).toEqual(["2\n", seen]);
  });

  it("keep a person's file that both changed, and put the fork's beside it", async () => {
    const id = await fork([runs("sed -i s/second/fork/ README.md; cp -r src node_modules"), say("Done.")]);
    writeFileSync(at("README.md"), "mine\n");
    const { conflicts, notCovered } = await adoptFork(saver, id, { root: thread.directory });
    expect(conflicts).toMatchObject([{ path: "/README.md", keptAt: "/README.md.adopted" }]);
    expect(notCovered).toMatchObject([{ path: "/node_modules" }]);
    expect([text("README.md"), text("README.md.adopted")]).toEqual([
      "mine\n",
      "# Title\n\nfirst\nfork\nthird\n",
    ]);
  });

  it("that are none, or left open, cannot be adopted; their copies go", async () => {
    await thread.run([say("Hello.")]);
    await expect(adoptFork(saver, thread.id, { root: thread.directory })).rejects.toThrow(
      "not a finished fork",
    );
    await expect(forkThread(saver, undefined, { root: thread.directory, step: 1 })).rejects.toThrow(
      "needs the thread",
    );
    const open = await forkThread(saver, thread.id, { root: thread.directory, copiesIn });
    await open.close();
    await open.close();
    await expect(adoptFork(saver, open.threadId, { root: thread.directory })).rejects.toThrow(
      "not a finished fork",
    );
    expect(readdirSync(copiesIn)).toEqual([]);
  });
});
