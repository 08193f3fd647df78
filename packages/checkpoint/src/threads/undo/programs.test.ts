/** Random programs against a model that copies whole directories. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, type ScriptedTurn, say, scriptedModel } from "deepwright/testing";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { SharedMemorySaver } from "../../saver/shared-memory-saver.ts";
import { adoptFork, forkThread } from "../forks/forks.ts";
import { emptyDirectory, fillProject, removeAll, ShellThread, treeOf } from "./tree-for-tests.ts";

const made: string[] = [];
const saver = new SharedMemorySaver();
afterAll(async () => {
  await saver.close();
  await removeAll(made);
});

/** Each works on every state of the directory, and leaves the person's files `mine-…` alone. */
const COMMANDS: readonly string[] = [
  "echo $N >> README.md",
  "echo $N > a; chmod 755 a",
  "rm -f a README.md",
  "mkdir -p d/e && echo $N > d/e/x",
  "rm -rf d src",
  "rm -rf src && ln -s d src",
  "rm -rf g; mv d g; mv src d",
  "chmod 700 run.sh src; chmod 600 docs/long.md",
  "sed -i s/line/LINE$N/ docs/long.md",
  "cp -a docs g; rm -rf docs",
  "for i in 1 2 3; do echo $N $i > n$i; done",
  "rm -f bytes.bin; mkdir -p bytes.bin/in",
  "rm -rf bytes.bin; head -c 3000 /dev/zero > bytes.bin",
  "mkdir -p docs; rm -rf docs/README; mv README.md docs/README",
  "rm -rf empty; echo file > empty",
];

interface Operation {
  readonly kind: "command" | "tool" | "person" | "rewind" | "path" | "call" | "fork";
  readonly number: number;
}

const operations: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Operation["kind"][]>(
      "command",
      "command",
      "command",
      "tool",
      "person",
      "rewind",
      "rewind",
      "path",
      "call",
      "fork",
    ),
    number: fc.nat(10_000),
  }),
  { minLength: 3, maxLength: 10 },
);

/** A state of the thread and the copy of its directory. */
interface Saved {
  readonly id: string;
  readonly copy: string;
}

class Program {
  #copies = 0;
  /** Every state that was reached, those of branches that were left included. */
  readonly #saved: Saved[] = [];
  /** The states on the way to the present one. */
  #way: Saved[] = [];
  /** The call of the last agent's work, where nothing came after it, and the copy from before. */
  #last: { readonly call: string; readonly before: string } | undefined;

  constructor(
    readonly thread: ShellThread,
    /** The directory of the model. */
    readonly model: string,
    readonly place: string,
  ) {}

  async begin(): Promise<void> {
    await this.thread.run([say("Hello.")]);
    await this.#save();
  }

  async play({ kind, number }: Operation, index: number): Promise<void> {
    if (kind === "person") this.#person(index, number);
    else if (kind === "rewind") await this.#rewind(number);
    else if (kind === "path") await this.#restorePath(number);
    else if (kind === "call") await this.#restoreCall();
    else if (kind === "fork") await this.#fork(number);
    else await this.#agent(kind, index, number);
    expect(await treeOf(this.thread.directory)).toEqual(await treeOf(this.model));
  }

  #person(index: number, number: number): void {
    for (const directory of [this.thread.directory, this.model])
      writeFileSync(join(directory, `mine-${index}`), `mine ${number}\n`);
  }

  async #agent(kind: "command" | "tool", index: number, number: number): Promise<void> {
    const before = this.#copy(this.model);
    const call = `call-${index}`;
    await this.thread.run([this.#turn(kind, number, call, index), say("Done.")]);
    if (kind === "tool") writeFileSync(join(this.model, `w${index}`), `w ${number}\n`);
    else shell(commandOf(number), this.model);
    await this.#save();
    this.#last = { call, before };
  }

  #turn(kind: "command" | "tool", number: number, call: string, index: number): ScriptedTurn {
    return kind === "tool"
      ? callTool("write_file", { file_path: `/w${index}`, content: `w ${number}\n` }, call)
      : callTool("execute", { command: commandOf(number) }, call);
  }

  async #rewind(number: number): Promise<void> {
    const target = this.#saved[number % this.#saved.length] as Saved;
    const done = await this.thread.rewind(target.id);
    expect([done.conflicts, done.notCovered]).toEqual([[], []]);
    await this.#become(target.copy);
    const at = this.#way.indexOf(target);
    // Of a state on a branch that was left, the way is not known: the program goes on from it alone.
    this.#way = at < 0 ? [] : this.#way.slice(0, at + 1);
    await this.#save();
  }

  /** One file as it was at the start. */
  async #restorePath(number: number): Promise<void> {
    const path = ["a", "n1", "run.sh"][number % 3] as string;
    const { restored, conflicts, call } = await this.#restore({ path }).catch(nothingAt);
    expect(conflicts).toEqual([]);
    expect(restored.length).toBeLessThanOrEqual(1);
    const before = this.#copy(this.model);
    await rm(join(this.model, path), { force: true });
    shell(`cp -a ${join(this.#saved[0]?.copy ?? "", path)} . 2>/dev/null; true`, this.model);
    await this.#save();
    this.#last = call === undefined ? this.#last : { call, before };
  }

  async #restoreCall(): Promise<void> {
    if (this.#last === undefined) return;
    const { call, before } = this.#last;
    const after = this.#copy(this.model);
    const done = await this.#restore({ call });
    expect(done.conflicts).toEqual([]);
    await this.#become(before);
    await this.#save();
    this.#last = done.call === undefined ? undefined : { call: done.call, before: after };
  }

  #restore(part: { path: string } | { call: string }) {
    return this.thread.threads.restore(this.thread.id, part, { roots: [this.thread.directory] });
  }

  /** On any state of the way; the work on the newest one is adopted, and taken back. */
  async #fork(number: number): Promise<void> {
    const { directory, id } = this.thread;
    const at = number % this.#way.length;
    const { id: step, copy } = this.#way[at] as Saved;
    const fork = await forkThread(saver, id, { root: directory, step, copiesIn: this.place });
    const model = this.#copy(copy);
    this.#keepMine(model);
    expect(await treeOf(fork.directory)).toEqual(await treeOf(model));
    const backend = new LocalShellBackend({ rootDir: fork.directory, virtualMode: true });
    const turns = [number + 1, number + 5].map((one) => callTool("execute", { command: commandOf(one) }));
    const agent = createDeepAgent({
      model: scriptedModel([...turns, say("Forked.")]),
      checkpointer: saver,
      backend,
    });
    await agent.invoke({ messages: "Try" }, { configurable: { thread_id: fork.threadId } });
    await backend.close();
    for (const one of [number + 1, number + 5]) shell(commandOf(one), model);
    expect(await treeOf(fork.directory)).toEqual(await treeOf(model));
    await fork.finish();
    if (at < this.#way.length - 1) return;
    const { conflicts, call } = await adoptFork(saver, fork.threadId, { root: directory });
    expect(conflicts).toEqual([]);
    expect(await treeOf(directory)).toEqual(await treeOf(model));
    await this.thread.threads.restore(fork.threadId, { call }, { roots: [directory] });
  }

  async #save(): Promise<void> {
    const { steps } = await this.thread.threads.show(this.thread.id);
    const id = steps.at(-1)?.checkpointId as string;
    const saved = { id, copy: this.#copy(this.model) };
    this.#saved.push(saved);
    this.#way.push(saved);
    this.#last = undefined;
  }

  #copy(from: string): string {
    this.#copies += 1;
    const to = join(this.place, `copy-${this.#copies}`);
    shell(`cp -a ${from} ${to}`, this.place);
    return to;
  }

  /** The model goes back to a copy; the person's files stay as they are. */
  async #become(copy: string): Promise<void> {
    const next = this.#copy(copy);
    this.#keepMine(next);
    shell(`rm -rf ${this.model} && mv ${next} ${this.model}`, this.place);
  }

  #keepMine(directory: string): void {
    shell(`rm -f ${directory}/mine-*; cp -a mine-* ${directory} 2>/dev/null; true`, this.model);
  }
}

function commandOf(number: number): string {
  const command = COMMANDS[number % COMMANDS.length] as string;
  return `{ ${command.replaceAll("$N", String(number))}; } 2>/dev/null; true`;
}

function shell(command: string, cwd: string): void {
  const { status, stderr } = spawnSync("/bin/sh", ["-c", command], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
}

it("commands, file tools, restores, forks and adoptions leave what a model has that copies directories", async () => {
  const property = fc.asyncProperty(operations, async (given) => {
    const [directory, place] = [await emptyDirectory(made), await emptyDirectory(made)];
    fillProject(directory);
    const model = join(place, "model");
    shell(`cp -a ${directory} ${model}`, place);
    const program = new Program(new ShellThread(saver, directory), model, place);
    await program.begin();
    for (const [index, operation] of given.entries()) await program.play(operation, index);
  });
  await fc.assert(property, { numRuns: sized(4, 80), endOnFailure: true });
});

/** The program has not changed the file yet. */
function nothingAt(error: Error) {
  if (!error.message.startsWith("The thread changed no files at")) throw error;
  return { restored: [], conflicts: [], call: undefined };
}
