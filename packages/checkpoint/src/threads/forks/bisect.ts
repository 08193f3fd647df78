/** Finds the first change of a thread after which a command fails, by binary search over copies of the directory. */
import { DeepwrightError } from "deepwright/errors";
import { undoTreeName } from "deepwright/internal";
import type { SharedSaver } from "../../saver/shared-saver.ts";
import { DISK, listImages } from "../images.ts";
import { type Lineage, lineageOf, stateAt } from "../lineage.ts";
import { goneOnFrom } from "../rewind.ts";
import { StateReader } from "../stored-state.ts";
import type { BisectChange, BisectOptions, BisectResult, BisectTest, RewindConflict } from "../threads.ts";
import { authorsOf } from "../undo/blame.ts";
import { isOfAgent } from "../undo/plan.ts";
import { type Link, timelines } from "../undo/timeline.ts";
import { type CopyState, takeBackIn } from "./copy-state.ts";
import { copyDirectory, type DirectoryCopy } from "./directory-copy.ts";

/** Changes that one call made in the directory: consecutive rows of the record. */
interface Change {
  readonly link: Link;
  readonly paths: Set<string>;
  /** Numbers of its first and its last row. */
  readonly start: number;
  end: number;
}

export async function bisectThread(
  saver: SharedSaver,
  threadId: string,
  options: BisectOptions,
): Promise<BisectResult> {
  const root = undoTreeName(options.root).slice(DISK.length);
  const images = await listImages(saver, threadId);
  const reader = new StateReader(saver.storage, false);
  const lineage = await lineageOf(saver.storage, reader, threadId);
  const done = goneOnFrom(lineage.states);
  const isDone = (link: Link): boolean => isOfAgent(link) && done.has(link.checkpointId);
  const isChosen = await between(saver, reader, lineage, options);
  const files = timelines(images).filter(({ place }) => place === DISK + root);
  const changes = changesOf(
    files.flatMap(({ path, links }) => links.filter(isDone).map((link) => ({ path, link }))),
  ).filter(({ link }) => isChosen(link));
  if (changes.length === 0)
    throw new DeepwrightError("INVALID_INPUT", `The thread changed no files of '${root}' in these steps.`);
  const authors = await authorsOf(saver, threadId, images, lineage.states);
  const described = changes.map(({ link, paths }) => ({ by: authors.of(link), paths: [...paths].sort() }));
  const original = await copyDirectory(root, options);
  try {
    const state = (number: number): CopyState["undone"] => {
      const last = number === 0 ? (changes[0]?.start ?? 0) - 1 : (changes[number - 1]?.end ?? 0);
      return (link) => isDone(link) && link.sequence > last;
    };
    const tests = new Tests(options, original, described, (copy, number) =>
      takeBackIn({ images, root, copy, undone: state(number) }),
    );
    return await search(tests, described);
  } finally {
    await original.remove();
  }
}

/** Says whether a change belongs to the steps behind `from`, up to `to`. */
async function between(
  saver: SharedSaver,
  reader: StateReader,
  lineage: Lineage,
  { from, to }: BisectOptions,
): Promise<(link: Link) => boolean> {
  const indexes = new Map(lineage.states.map(({ row }, index) => [row.id, index]));
  const indexOf = async (step: number | string | undefined): Promise<number | undefined> => {
    if (step === undefined) return undefined;
    const index = indexes.get((await stateAt(saver.storage, reader, lineage, step)).row.id);
    if (index !== undefined) return index;
    throw new DeepwrightError("INVALID_INPUT", "The step is not one of the way that the thread took.");
  };
  const first = (await indexOf(from)) ?? 0;
  const end = (await indexOf(to)) ?? lineage.states.length;
  return ({ checkpointId }) => {
    const index = indexes.get(checkpointId);
    return index !== undefined && index >= first && index < end;
  };
}

function changesOf(links: readonly { readonly path: string; readonly link: Link }[]): Change[] {
  const changes: Change[] = [];
  for (const { path, link } of [...links].sort((one, other) => one.link.sequence - other.link.sequence)) {
    const last = changes.at(-1);
    const isSame =
      last?.link.checkpointId === link.checkpointId &&
      last.link.by.call === link.by.call &&
      last.link.by.kind === link.by.kind;
    if (last === undefined || !isSame)
      changes.push({ link, paths: new Set([path]), start: link.sequence, end: link.sequence });
    else {
      last.paths.add(path);
      last.end = link.sequence;
    }
  }
  return changes;
}

/** Good up to `good`, bad from `bad` on. */
async function search(tests: Tests, changes: readonly BisectChange[]): Promise<BisectResult> {
  let [good, bad] = [0, changes.length];
  let failed = await tests.run(bad);
  if (failed.exitCode === 0) return { outcome: "succeeds", ...tests.facts(failed) };
  const before = await tests.run(good);
  if (before.exitCode !== 0) return { outcome: "fails before", ...tests.facts(before) };
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    const test = await tests.run(middle);
    if (test.exitCode === 0) good = middle;
    else [bad, failed] = [middle, test];
  }
  return { outcome: "found", first: changes[bad - 1] as BisectChange, ...tests.facts(failed) };
}

interface Tested {
  readonly exitCode: number;
  readonly output: string;
}

type TakeBack = (copy: string, number: number) => Promise<{ readonly conflicts: readonly RewindConflict[] }>;

/** Runs the command in a new copy for each state, so that no test sees what another one wrote. */
class Tests {
  #count = 0;
  readonly #conflicts = new Map<string, RewindConflict>();

  constructor(
    private readonly options: BisectOptions,
    private readonly original: DirectoryCopy,
    private readonly changes: readonly BisectChange[],
    private readonly takeBack: TakeBack,
  ) {}

  async run(number: number): Promise<Tested> {
    const { signal, run, onTest } = this.options;
    signal?.throwIfAborted();
    const copy = await copyDirectory(this.original.directory, this.options);
    try {
      const { conflicts } = await this.takeBack(copy.directory, number);
      for (const { path, reason } of conflicts) this.#conflicts.set(path, { path, reason });
      const { exitCode, output } = await run(copy.directory, signal);
      signal?.throwIfAborted();
      if (exitCode === null || NOT_RUN.has(exitCode))
        throw new DeepwrightError("COMMAND_FAILED", notRun(exitCode), { hint: output.trim().slice(-500) });
      this.#count += 1;
      const after = this.changes[number - 1];
      const test: BisectTest = { number: this.#count, exitCode, ...(after && { after }) };
      onTest?.(test);
      return { exitCode, output };
    } finally {
      await copy.remove();
    }
  }

  facts({ exitCode, output }: Tested) {
    return {
      exitCode,
      output,
      tests: this.#count,
      conflicts: [...this.#conflicts.values()],
      left: this.original.left,
    };
  }
}

/** A time-out, and what a shell says of a command that it cannot start. */
const TIMED_OUT = 124;
const NOT_RUN: ReadonlySet<number> = new Set([TIMED_OUT, 126, 127]);

function notRun(exitCode: number | null): string {
  if (exitCode === TIMED_OUT) return "The command did not end in time, so the states cannot be compared.";
  return `The command could not be run (exit code ${exitCode ?? "unknown"}), so the states cannot be compared.`;
}
