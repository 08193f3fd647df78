import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createDeepAgent, FilesystemBackend } from "deepwright";
import { undoTreeName } from "deepwright/internal";
import { callTool, type Script, say, scriptedModel } from "deepwright/testing";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { SharedMemorySaver } from "../saver/shared-memory-saver.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { SqliteSaver } from "../sqlite/index.ts";
import { recordImage } from "./images.ts";
import { openThreads } from "./open-threads.ts";
import { linesOf, newName, ThreadMaker } from "./thread-for-tests.ts";
import type { RewindResult } from "./threads.ts";

const made: string[] = [];

afterAll(async () => {
  for (const directory of made) await rm(directory, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string | Uint8Array>>;

async function directoryWith(files: Files): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "deepwright-rewind-"));
  made.push(directory);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return directory;
}

/** All files with their bytes as one character each. */
async function filesIn(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name);
      found[path.slice(directory.length + 1)] = await readFile(path, "latin1");
    }
  return found;
}

function writes(path: string, content: string): ReturnType<typeof callTool> {
  return callTool("write_file", { file_path: path, content });
}

function edits(path: string, old: string, now: string): ReturnType<typeof callTool> {
  return callTool("edit_file", { file_path: path, old_string: old, new_string: now });
}

function deletes(path: string): ReturnType<typeof callTool> {
  return callTool("delete", { file_path: path });
}

function pathsOf(files: readonly { readonly path: string }[]): string[] {
  return files.map(({ path }) => path);
}

/** A thread whose agent works in `directory`. */
class DiskThread {
  readonly id = newName();

  constructor(
    readonly saver: SharedSaver,
    readonly directory: string,
  ) {}

  get threads() {
    return openThreads(this.saver);
  }

  async run(script: Script): Promise<void> {
    const backend = new FilesystemBackend({ rootDir: this.directory, virtualMode: true });
    const agent = createDeepAgent({ model: scriptedModel(script), checkpointer: this.saver, backend });
    await agent.invoke({ messages: "Go" }, { configurable: { thread_id: this.id } });
  }

  /** The number of the newest step. */
  async head(): Promise<number> {
    return (await this.threads.show(this.id)).steps.at(-1)?.step ?? -1;
  }

  rewind(step: number | string, dryRun = false): Promise<RewindResult> {
    return this.threads.rewind(this.id, step, { roots: [this.directory], dryRun });
  }
}

const SAVERS: readonly [string, () => Promise<SharedSaver>][] = [
  ["memory", async () => new SharedMemorySaver()],
  ["SQLite", async () => SqliteSaver.open(join(await directoryWith({}), "state.db"))],
];

describe.each(SAVERS)("rewinding files on disk, with a saver in %s", (_, open) => {
  async function threadIn(files: Files): Promise<DiskThread> {
    const saver = await open();
    onTestFinished(() => saver.close());
    return new DiskThread(saver, await directoryWith(files));
  }

  it("removes what was created, restores what was changed or deleted, and can be undone and redone", async () => {
    const first = { "a.txt": "one\r\ntwo\r\n", "sub/b.txt": "b", "c.txt": "c", "mine.txt": "mine" };
    const thread = await threadIn(first);
    const { directory } = thread;
    await thread.run([say("Hello.")]);
    const start = await thread.head();
    await thread.run([
      writes("/new/n.md", "new"),
      edits("/a.txt", "one", "1"),
      deletes("/sub"),
      edits("/new/n.md", "new", "newer"),
      say("Done."),
    ]);
    const after = { "a.txt": "1\r\ntwo\r\n", "c.txt": "c", "mine.txt": "mine", "new/n.md": "newer" };
    expect(await filesIn(directory)).toEqual(after);
    const { steps } = await thread.threads.show(thread.id);
    expect(steps.map(({ changedFiles }) => changedFiles.join()).filter(Boolean)).toEqual([
      "/new/n.md",
      "/a.txt",
      "/sub/b.txt",
      "/new/n.md",
    ]);

    const planned = await thread.rewind(start, true);
    expect(await filesIn(directory)).toEqual(after);
    const done = await thread.rewind(start);
    expect({ ...done, checkpointId: undefined }).toEqual(planned);
    const place = undoTreeName(directory);
    expect(done).toMatchObject({
      conflicts: [],
      notCovered: [],
      restored: [
        { path: "/a.txt", place, kind: "changed", after: "one\r\ntwo\r\n" },
        { path: "/new/n.md", place, kind: "deleted" },
        { path: "/sub/b.txt", place, kind: "created" },
      ],
    });
    expect(await filesIn(directory)).toEqual(first);

    const redone = await thread.rewind(done.previousId);
    expect(pathsOf(redone.restored)).toEqual(["/a.txt", "/new/n.md", "/sub/b.txt"]);
    expect(await filesIn(directory)).toEqual(after);
    await thread.rewind(done.checkpointId as string);
    expect(await filesIn(directory)).toEqual(first);
    await thread.rewind(redone.checkpointId as string);
    expect(await filesIn(directory)).toEqual(after);
  });

  it("goes to any step on the way, and on from there", async () => {
    const thread = await threadIn({ "a.txt": "0" });
    await thread.run([edits("/a.txt", "0", "1"), edits("/a.txt", "1", "2"), writes("/b", "b"), say("Done.")]);
    const { steps } = await thread.threads.show(thread.id);
    const [, second] = steps.filter(({ changedFiles }) => changedFiles.includes("/a.txt"));
    const states: Record<string, string>[] = [];
    await thread.rewind((second?.step ?? 0) - 1);
    states.push(await filesIn(thread.directory));
    await thread.run([edits("/a.txt", "1", "other"), say("Done.")]);
    states.push(await filesIn(thread.directory));
    const { previousId } = await thread.rewind(-1);
    states.push(await filesIn(thread.directory));
    await thread.rewind(previousId);
    states.push(await filesIn(thread.directory));
    await thread.rewind(steps.at(-1)?.checkpointId as string);
    states.push(await filesIn(thread.directory));
    expect(states).toEqual([
      { "a.txt": "1" },
      { "a.txt": "other" },
      { "a.txt": "0" },
      { "a.txt": "other" },
      { "a.txt": "2", b: "b" },
    ]);
  });

  it("a person's edits stay: after the agent's, between two of them, and deletions too", async () => {
    const thread = await threadIn({ after: "1", between: "1", gone: "1", plain: "1" });
    const { directory } = thread;
    const all = (from: string, to: string) =>
      ["/after", "/between", "/gone", "/plain"].map((path) => edits(path, from, to));
    await thread.run([...all("1", "2"), say("Done.")]);
    await writeFile(join(directory, "between"), "2, mine");
    await thread.run([...all("2", "3"), say("Done.")]);
    await writeFile(join(directory, "after"), "mine");
    await rm(join(directory, "gone"));
    const { restored, conflicts } = await thread.rewind(-1);
    expect(pathsOf(restored)).toEqual(["/plain"]);
    expect(conflicts).toEqual(
      ["/after", "/between", "/gone"].map((path) => ({
        path,
        place: undoTreeName(directory),
        reason: expect.stringContaining("changed since by a person"),
        ...(path !== "/gone" && { keptAt: `${path}.restored` }),
      })),
    );
    const kept = { "after.restored": "1", "between.restored": "1" };
    expect(await filesIn(directory)).toEqual({ after: "mine", between: "3, mine", plain: "1", ...kept });
  });

  it("gives back every byte and leaves the mode of what it restores", async () => {
    const latin = Buffer.from("caf\xe9 old\n", "latin1");
    const marked = Buffer.from("\ufeffold\r\n");
    const thread = await threadIn({ latin, marked, "run.sh": "old", image: new Uint8Array([0, 255, 1]) });
    const { directory } = thread;
    await chmod(join(directory, "run.sh"), 0o755);
    const before = await filesIn(directory);
    await thread.run([
      edits("/latin", "old", "new"),
      edits("/marked", "old", "new"),
      edits("/run.sh", "old", "new"),
      deletes("/image"),
      say("Done."),
    ]);
    expect(pathsOf((await thread.rewind(-1)).restored)).toEqual(["/image", "/latin", "/marked", "/run.sh"]);
    expect(await filesIn(directory)).toEqual(before);
    expect((await stat(join(directory, "run.sh"))).mode & 0o777).toBe(0o755);
  });

  it("a step that was broken off is taken back, whatever came after it", async () => {
    const thread = await threadIn({ "a.txt": "old" });
    const { directory, saver, id } = thread;
    await thread.run([say("Hello.")]);
    const start = await thread.head();
    const checkpointId = (await thread.threads.show(id)).steps.at(-1)?.checkpointId as string;
    const image = { checkpointId, place: undoTreeName(directory) };
    await recordImage(saver, id, { ...image, path: "/a.txt", before: "old", after: "half" });
    await recordImage(saver, id, { ...image, path: "/never", before: undefined, after: "not written" });
    await writeFile(join(directory, "a.txt"), "half");
    await thread.run([edits("/a.txt", "half", "whole"), say("Done.")]);
    const { restored, conflicts } = await thread.rewind(start);
    expect([pathsOf(restored), conflicts]).toEqual([["/a.txt"], []]);
    expect(await filesIn(directory)).toEqual({ "a.txt": "old" });
  });

  it("a file too large to be kept is named, not put back", async () => {
    const thread = await threadIn({ "old.txt": "x" });
    const large = join(thread.directory, "large.bin");
    await writeFile(large, "");
    await truncate(large, 60 * 1024 * 1024);
    await thread.run([callTool("delete", { file_path: "/large.bin" }), "done"]);
    const { restored, conflicts, notCovered } = await thread.rewind(-1);
    expect([restored, conflicts]).toEqual([[], []]);
    const place = undoTreeName(thread.directory);
    expect(notCovered).toEqual([{ place, path: "/large.bin", reason: "It is too large to be kept." }]);
  });

  it("what commands wrote is named, not put back", async () => {
    const thread = await threadIn({ "old.txt": "x" });
    const { directory, saver, id } = thread;
    const maker = new ThreadMaker(saver, id);
    await maker.put("input", {});
    const checkpointId = (await thread.threads.show(id)).steps.at(-1)?.checkpointId as string;
    const place = undoTreeName(directory);
    const command = { checkpointId, place: place.replace("disk:", "command:"), path: "make all" };
    await new Promise((resolve) => setTimeout(resolve, 100));
    await recordImage(saver, id, { ...command, before: undefined, after: undefined });
    await writeFile(join(directory, "built.o"), "made by the command");
    await maker.put("loop", {});
    const { steps } = await thread.threads.show(id);
    expect(steps.at(-1)?.changedFiles).toEqual([]);
    const { restored, notCovered } = await thread.rewind(-1);
    expect(restored).toEqual([]);
    expect(notCovered).toEqual([
      { place, command: "make all", reason: "What a command wrote is not kept." },
      { place, path: "/built.o", reason: "It changed after a command was run." },
    ]);
    expect(Object.keys(await filesIn(directory)).sort()).toEqual(["built.o", "old.txt"]);
  });
});

describe("what a thread says does not decide which files are written", () => {
  async function threadWith(
    directory: string,
    images: readonly { place: string; path: string; before?: string; after?: string }[],
  ): Promise<{ saver: SharedSaver; id: string; directory: string }> {
    const source = new SharedMemorySaver();
    const id = newName();
    const maker = new ThreadMaker(source, id);
    await maker.put("input", {});
    const checkpointId = (await openThreads(source).show(id)).steps.at(-1)?.checkpointId as string;
    for (const { before, after, ...image } of images)
      await recordImage(source, id, { checkpointId, ...image, before, after });
    await maker.put("loop", {});
    const saver = new SharedMemorySaver();
    onTestFinished(() => saver.close());
    await openThreads(saver).import(await linesOf(openThreads(source).export(id)));
    await source.close();
    return { saver, id, directory };
  }

  it("without roots, and in others than those, nothing is written; it is only named", async () => {
    const [directory, other] = [await directoryWith({ a: "new" }), await directoryWith({ a: "new" })];
    const place = undoTreeName(other);
    const { saver, id } = await threadWith(directory, [{ place, path: "/a", before: "old", after: "new" }]);
    for (const roots of [[], [directory], [join(other, "..")], [`${other}-2`]]) {
      const result = await openThreads(saver).rewind(id, -1, { roots });
      expect(result).toMatchObject({
        restored: [],
        conflicts: [],
        notCovered: [{ place, path: "/a", reason: expect.stringContaining("not named") }],
      });
      await openThreads(saver).rewind(id, result.previousId);
    }
    expect(await filesIn(other)).toEqual({ a: "new" });
  });

  it.each(["/../victim", "/sub/../../victim", "/link/victim", "/dangling", "victim", "/a\0b", ""])(
    "no path of an imported thread leads out of the root: %j",
    async (path) => {
      const around = await directoryWith({ victim: "untouched", "root/sub/x": "x" });
      const directory = join(around, "root");
      await symlink(around, join(directory, "link"));
      await symlink(join(around, "made"), join(directory, "dangling"));
      const place = undoTreeName(directory);
      const images = [
        { place, path, before: "evil", after: "untouched" },
        { place, path, before: "untouched" },
      ];
      const { saver, id } = await threadWith(directory, path.includes("\0") ? [] : images);
      const result = await openThreads(saver).rewind(id, -1, { roots: [directory] });
      expect(pathsOf(result.restored).filter((name) => name !== "victim" && name !== "/victim")).toEqual([]);
      expect(await readFile(join(around, "victim"), "utf8")).toBe("untouched");
      expect((await readdir(around)).sort()).toEqual(["root", "victim"]);
    },
  );

  it("files that steer other programs are not put back", async () => {
    const directory = await directoryWith({ a: "new" });
    const place = undoTreeName(directory);
    const { saver, id } = await threadWith(directory, [
      { place, path: "/.git/hooks/pre-commit", before: "#!/bin/sh\nevil", after: undefined },
      { place, path: "/.vscode/tasks.json", before: "{}", after: undefined },
      { place, path: "/.git/refs/../hooks/post-commit", before: "#!/bin/sh\nevil", after: undefined },
      { place, path: "/a", before: "old", after: "new" },
    ]);
    const roots = [directory];
    const planned = await openThreads(saver).rewind(id, -1, { roots, dryRun: true });
    const { restored, conflicts } = await openThreads(saver).rewind(id, -1, { roots });
    expect(pathsOf(restored)).toEqual(["/a"]);
    expect(pathsOf(conflicts)).toEqual([
      "/.git/hooks/pre-commit",
      "/.git/refs/../hooks/post-commit",
      "/.vscode/tasks.json",
    ]);
    expect(planned).toMatchObject({ restored, conflicts });
    expect(await filesIn(directory)).toEqual({ a: "old" });
  });
});
