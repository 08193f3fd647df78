import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { SharedMemorySaver } from "../../saver/shared-memory-saver.ts";
import { recordImage } from "../images.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "./tree-for-tests.ts";

const made: string[] = [];
afterAll(() => removeAll(made));

async function project(): Promise<ShellThread> {
  const directory = await emptyDirectory(made);
  fillProject(directory);
  const saver = new SharedMemorySaver();
  onTestFinished(() => saver.close());
  return new ShellThread(saver, directory);
}

function runs(command: string): ReturnType<typeof callTool> {
  return callTool("execute", { command });
}

describe("a person's own work", () => {
  it("in other lines is merged; in the same lines it is kept, and the other text put beside it", async () => {
    const thread = await project();
    const at = (name: string): string => join(thread.directory, name);
    const command = "sed -i s/first/FIRST/ README.md; sed -i s/one/uno/ src/main.ts; rm docs/long.md";
    await thread.run([runs(command), say("Done.")]);
    writeFileSync(at("README.md"), "# Title\n\nFIRST\nsecond\nthird\nmine\n");
    writeFileSync(at("src/main.ts"), "mine\n");
    writeFileSync(at("docs/long.md"), "mine too\n");
    writeFileSync(at("docs/my own.txt"), "new\n");
    const { restored, conflicts } = await thread.rewind(-1);
    expect(restored.map(({ path }) => path)).toEqual(["/README.md"]);
    expect(readFileSync(at("README.md"), "utf8")).toBe("# Title\n\nfirst\nsecond\nthird\nmine\n");
    expect(readFileSync(at("src/main.ts"), "utf8")).toBe("mine\n");
    expect(readFileSync(at("src/main.ts.restored"), "utf8")).toContain("one = 1");
    expect(readFileSync(at("docs/long.md"), "utf8")).toBe("mine too\n");
    expect(readFileSync(at("docs/long.md.restored"), "utf8")).toContain("long document");
    expect(readFileSync(at("docs/my own.txt"), "utf8")).toBe("new\n");
    expect(conflicts.map(({ path, keptAt }) => [path, keptAt])).toEqual([
      ["/docs/long.md", "/docs/long.md.restored"],
      ["/src/main.ts", "/src/main.ts.restored"],
    ]);
  });

  it("between two commands stays, also when the second one changed the same file", async () => {
    const thread = await project();
    const at = (name: string): string => join(thread.directory, name);
    await thread.run([runs("echo agent >> README.md"), say("Done.")]);
    writeFileSync(at("README.md"), "mine\n# Title\n\nfirst\nsecond\nthird\nagent\n");
    rmSync(at("bytes.bin"));
    await mkdir(at("my-directory"));
    await thread.run([runs("sed -i s/second/SECOND/ README.md; touch my-directory/x"), say("Done.")]);
    const { conflicts } = await thread.rewind(-1);
    expect(conflicts).toEqual([]);
    expect(readFileSync(at("README.md"), "utf8")).toBe("mine\n# Title\n\nfirst\nsecond\nthird\n");
    expect(existsSync(at("bytes.bin"))).toBe(false);
    expect(await readdir(at("my-directory"))).toEqual([]);
  });

  it("in a directory that an agent made keeps the directory", async () => {
    const thread = await project();
    await thread.run([runs("mkdir made && touch made/by-agent"), say("Done.")]);
    await writeFile(join(thread.directory, "made/mine"), "mine");
    const { conflicts } = await thread.rewind(-1);
    expect(conflicts).toMatchObject([{ path: "/made", reason: "It is a directory with other files in it." }]);
    expect(await readdir(join(thread.directory, "made"))).toEqual(["mine"]);
  });
});

it("keys, large files and ignored directories are listed, and no row holds a key (FS-27)", async () => {
  const thread = await project();
  const { directory, saver, id } = thread;
  await mkdir(join(directory, "node_modules"));
  writeFileSync(join(directory, ".env"), "KEY=sentinel\n");
  writeFileSync(join(directory, "large.bin"), Buffer.alloc(60 * 1024 * 1024));
  const command = "cp README.md .env; touch node_modules/z; rm large.bin; ln README.md id_rsa";
  await thread.run([runs(command), say("Done.")]);
  const { restored, notCovered } = await thread.rewind(-1);
  expect(restored.map(({ path, kind }) => `${kind} ${path}`)).toEqual(["deleted /id_rsa"]);
  expect(notCovered.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
    "/.env: It is made to hold keys, so its content is not kept.",
    "/large.bin: It is too large to be kept.",
    "/node_modules: It is a directory that a tool fills again, so its content is not kept. It had 0 entries.",
  ]);
  for (const image of await saver.imagesOf(id)) {
    const row = JSON.stringify([image.path, await image.before(), await image.after()]);
    expect(row).not.toContain("sentinel");
  }
});

it("no link is followed while files are read, also one that is swapped in again and again (FS-25)", async () => {
  const thread = await project();
  const { directory, saver, id } = thread;
  const outside = await emptyDirectory(made);
  writeFileSync(join(outside, "main.ts"), "sentinel\n");
  symlinkSync(outside, join(directory, "out"));
  symlinkSync(join(outside, "main.ts"), join(directory, "out.ts"));
  const swap = `while :; do mv src s; ln -s ${outside} src; rm src; mv s src; echo x >> README.md; done`;
  const swapping = spawn("/bin/sh", ["-c", `exec 2>/dev/null; ${swap}`], { cwd: directory, stdio: "ignore" });
  const calls = Array.from({ length: 12 }, (_, i) => runs(`echo ${i} > n${i}`));
  await thread.run([...calls, say("Done.")]);
  swapping.kill("SIGKILL");
  for (const image of await saver.imagesOf(id)) {
    const row = JSON.stringify([await image.before(), await image.after()]);
    expect(row).not.toContain("sentinel");
  }
});

describe("a command that died with its process", () => {
  /** Leaves what a process leaves that was killed during a command which began at `at`. */
  async function killedDuring({ saver, id }: ShellThread, at: number): Promise<void> {
    const command = (await saver.imagesOf(id)).findLast(({ place }) => place.startsWith("command:"));
    if (command === undefined) throw new Error("No command was noted.");
    const clock = vi.spyOn(Date, "now").mockReturnValue(at);
    const row = { ...command, path: "the killed one", before: undefined, after: undefined };
    await recordImage(saver, id, row).finally(() => clock.mockRestore());
  }

  it("gets what changed soon after it began; later work is a person's, and said so", async () => {
    const day = 24 * 60 * 60 * 1000;
    for (const age of [0, day]) {
      const thread = await project();
      const at = (name: string): string => join(thread.directory, name);
      await thread.run([runs("echo agent > made.txt"), say("Done.")]);
      await killedDuring(thread, Date.now() - age);
      writeFileSync(at("README.md"), "a day of work\n");
      writeFileSync(at("new.txt"), "more work\n");
      rmSync(at("bytes.bin"));
      const { conflicts, notCovered } = await thread.rewind(-1);
      expect(conflicts).toEqual([]);
      expect([existsSync(at("made.txt")), existsSync(at("bytes.bin"))]).toEqual([false, true]);
      const kept = age > 0;
      expect(readFileSync(at("README.md"), "utf8").startsWith("a day of work")).toBe(kept);
      expect(existsSync(at("new.txt"))).toBe(kept);
      expect(notCovered.map(({ command, reason }) => `${command}: ${reason}`)).toEqual(
        kept
          ? ["/README.md", "/new.txt"].map(
              (path) =>
                `the killed one: '${path}' changed more than 120 s after the command began, so the change counts as somebody else's.`,
            )
          : [],
      );
    }
  });
});

describe("a part", () => {
  it("is taken back by file, call, step and subagent, and each restore can be undone", async () => {
    const thread = await project();
    const { directory, threads, id } = thread;
    const roots = [directory];
    const start = await treeOf(directory);
    await thread.run([
      runs("echo agent >> README.md; echo agent > a.txt"),
      callTool("task", { description: "Work.", subagent_type: "general-purpose" }),
      runs("echo sub > sub.txt; echo sub >> src/main.ts; chmod 700 latin.txt"),
      say("Done below."),
      runs("rm bytes.bin"),
      say("Done."),
    ]);
    const after = await treeOf(directory);
    const byFile = await threads.restore(id, { path: "README.md" }, { roots });
    expect(byFile.restored.map(({ path }) => path)).toEqual(["/README.md"]);
    await threads.restore(id, { call: byFile.call }, { roots });
    expect(await treeOf(directory)).toEqual(after);

    const byAgent = await threads.restore(id, { agent: "general-purpose" }, { roots });
    expect(byAgent.restored.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      "changed /latin.txt",
      "changed /src/main.ts",
      "deleted /sub.txt",
    ]);
    await threads.restore(id, { call: byAgent.call }, { roots });
    expect(await treeOf(directory)).toEqual(after);

    const { steps } = await threads.show(id);
    const step = steps.find(({ changedFiles }) => changedFiles.includes("/bytes.bin"))?.step ?? 0;
    const plan = await threads.restore(id, { step }, { roots, dryRun: true });
    expect(await treeOf(directory)).toEqual(after);
    const byStep = await threads.restore(id, { step }, { roots });
    expect(byStep.restored).toEqual(plan.restored);
    expect(byStep.restored.map(({ path }) => path)).toEqual(["/bytes.bin"]);

    expect((await threads.restore(id, { since: -1 }, { roots })).conflicts).toEqual([]);
    expect(await treeOf(directory)).toEqual(start);
    for (const unknown of [{}, { path: "no.txt" }, { call: "no" }, { agent: "no" }])
      await expect(threads.restore(id, unknown, { roots })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  it("nothing outside the roots is written, and no link that was swapped in is followed (FS-26)", async () => {
    const thread = await project();
    const { directory, threads, id } = thread;
    const outside = await emptyDirectory(made);
    await thread.run([runs("echo agent > src/main.ts; rm -r docs"), say("Done.")]);
    const nowhere = await threads.restore(id, { since: -1 });
    expect([nowhere.restored, nowhere.notCovered.length > 0]).toEqual([[], true]);
    await rm(join(directory, "src"), { recursive: true });
    symlinkSync(outside, join(directory, "src"));
    symlinkSync(outside, join(directory, "docs"));
    const { conflicts } = await thread.rewind(-1);
    expect(await readdir(outside)).toEqual([]);
    expect(conflicts.map(({ path }) => path)).toContain("/src/main.ts");
  });
});

it("blame names the step, the call or command, the subagent and the prompt of each line", async () => {
  const thread = await project();
  const { directory, threads, id } = thread;
  await thread.run([
    runs("sed -i s/first/FIRST/ README.md"),
    callTool("edit_file", { file_path: "/README.md", old_string: "second", new_string: "SECOND" }),
    callTool("task", { description: "Work.", subagent_type: "general-purpose" }),
    runs("echo sub >> README.md"),
    say("Done below."),
    say("Done."),
  ]);
  writeFileSync(join(directory, "README.md"), "# Title\n\nFIRST\nSECOND\nmine\nsub\n");
  const { lines } = await threads.blame(id, "README.md", directory);
  const shown = lines.map(({ text, by }) => [
    text,
    by?.command ?? by?.call?.slice(0, 4),
    by?.agent,
    by?.prompt,
  ]);
  expect(shown).toEqual([
    ["# Title", undefined, undefined, undefined],
    ["", undefined, undefined, undefined],
    ["FIRST", "sed -i s/first/FIRST/ README.md", undefined, "Go"],
    ["SECOND", "call", undefined, "Go"],
    ["mine", undefined, undefined, undefined],
    ["sub", "echo sub >> README.md", "general-purpose", "Go"],
  ]);
  expect(lines[2]?.by?.step).toBeLessThan(lines[3]?.by?.step ?? 0);
  await expect(threads.blame(id, "nothing", directory)).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

it("a first snapshot that takes long is shown as the output of the command so far", async () => {
  const shown: unknown[] = [];
  let go = (): void => {};
  const isShown = new Promise<void>((resolve) => {
    go = resolve;
  });
  const saver = new SharedMemorySaver();
  const { recordImage: record } = SharedMemorySaver.prototype;
  saver.recordImage = (...row) => isShown.then(() => record.apply(saver, row));
  const directory = await emptyDirectory(made);
  const backend = new LocalShellBackend({ rootDir: directory, virtualMode: true });
  const model = scriptedModel([runs("true"), say("Done.")]);
  const agent = createDeepAgent({ model, checkpointer: saver, backend });
  const options = { configurable: { thread_id: "t1" }, streamMode: "custom" as const };
  for await (const part of await agent.stream({ messages: "Go" }, options)) {
    shown.push(part);
    go();
  }
  await backend.close();
  expect(shown[0]).toMatchObject({
    output: "Recording the files of the directory first, so that the command can be undone…",
  });
});
