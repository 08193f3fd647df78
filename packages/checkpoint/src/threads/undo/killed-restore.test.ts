import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool, say } from "deepwright/testing";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { testProgram } from "../../../../../scripts/test-program.mjs";
import { sized } from "../../../../../scripts/test-size.ts";
import { until } from "../../../../../scripts/test-time.ts";
import { SqliteSaver } from "../../sqlite/index.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "./tree-for-tests.ts";

const made: string[] = [];
afterAll(() => removeAll(made));

const PROGRAM = await testProgram(new URL("./restore-process-for-tests.ts", import.meta.url));
const FILES = sized(40, 150);

function fill(directory: string): void {
  fillProject(directory);
  mkdirSync(join(directory, "many"));
  for (let i = 0; i < FILES; i += 1) {
    writeFileSync(join(directory, "many", `f${i}`), `old ${i}\n`.repeat(200));
    if (i % 10 === 0) chmodSync(join(directory, "many", `f${i}`), 0o755);
    if (i % 15 === 0) symlinkSync(`f${i}`, join(directory, "many", `link${i}`));
  }
  mkdirSync(join(directory, "closed/in"), { recursive: true });
  chmodSync(join(directory, "closed"), 0o555);
}

/** A file that waited to become whole. */
const LEFT = /\.deepwright-[0-9a-f]{16}\.tmp$/;

const BREAKS = `sed -i 's/old/new/' many/f*; rm many/f?; rm many/f1*; chmod 600 many/f2*; chmod u+w closed; rm -r closed docs src
  for l in many/link*; do rm $l; echo file > $l; done; rm README.md; mkdir README.md; ln -s docs src; touch made`;

it("R-44 a restore that is killed leaves whole files; done again, it completes", async () => {
  const directory = await emptyDirectory(made);
  fill(directory);
  const before = await treeOf(directory);
  const path = join(await emptyDirectory(made), "state.db");
  const saver = await SqliteSaver.open(path);
  onTestFinished(() => saver.close());
  const thread = new ShellThread(saver, directory);
  await thread.run([callTool("execute", { command: BREAKS }), say("Done.")]);
  const after = await treeOf(directory);
  const isWhole = (name: string, text: string | undefined): boolean =>
    text === undefined || sameFile(text, before[name]) || sameFile(text, after[name]);
  for (const moment of sized(
    [0.05, 0.5, 0.95],
    [0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99],
  )) {
    const { checkpointId: head = "" } = (await thread.threads.show(thread.id)).steps.at(-1) ?? {};
    const child = spawn(process.execPath, [PROGRAM, path, thread.id, directory, "-1"], { stdio: "ignore" });
    await until(() => child.exitCode !== null || doneIn(directory) >= moment * FILES);
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" }))
      if (LEFT.test(name)) rmSync(join(directory, name), { force: true });
    const now = await treeOf(directory);
    expect(Object.keys(now).filter((name) => !isWhole(name, now[name]))).toEqual([]);
    const { conflicts } = await thread.rewind(-1);
    expect(conflicts).toEqual([]);
    expect(differences(await treeOf(directory), before)).toEqual([]);
    expect((await thread.rewind(head)).conflicts).toEqual([]);
    expect(differences(await treeOf(directory), after)).toEqual([]);
  }
});

type Tree = Readonly<Record<string, string>>;

function differences(one: Tree, other: Tree): string[] {
  const shown = (tree: Tree, name: string): string => tree[name]?.slice(0, 40) ?? "nothing";
  return Object.keys({ ...one, ...other })
    .filter((name) => one[name] !== other[name])
    .map((name) => `${name}: ${shown(one, name)}, not ${shown(other, name)}`);
}

/** Files of `many` that have their old content. */
function doneIn(directory: string): number {
  return readdirSync(join(directory, "many")).filter(
    (name) => name.startsWith("f") && readFileSync(join(directory, "many", name), "utf8").startsWith("old"),
  ).length;
}

/** A file may have its content before it has its mode. */
function sameFile(one: string, other: string | undefined): boolean {
  const content = (text: string | undefined): string | undefined =>
    text?.replace(/^(file|directory) \d+/, "$1");
  return content(one) === content(other);
}
