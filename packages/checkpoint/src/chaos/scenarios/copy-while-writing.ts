/**
 * what is on disk at a random moment of writing is a database that opens and knows all that was stored.
 *
 * The writer is stopped for the moment of copying, wherever it is: the copy is what a crash would leave.
 * (Files copied one after another while they change are no state of a database that ever was.)
 */
import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SqliteSaver } from "../../sqlite/sqlite-saver.ts";
import { messagesOf, outline, plannedOutline } from "../agent.ts";
import { type Effect, effectsIn, isAct } from "../effects.ts";
import { difference, type Outcome, Verdict } from "../outcome.ts";
import type { Plan } from "../plan.ts";
import type { ChaosSite } from "../site.ts";
import { integrityOf } from "../sqlite-file.ts";
import { waitUntilStopped } from "../stopped.ts";
import type { WorkerProcess } from "../worker-process.ts";

export interface CopyWhileWritingParameters {
  readonly copies: number;
}

interface Copy {
  readonly path: string;
  /** Plan of the writer at the time. */
  readonly plan: Plan;
  /** Effects at the time of the copy. */
  readonly effects: readonly Effect[];
}

const CLAIM = { mode: "queue", ttl: 600 } as const;
const TURNS = { turns: 30, callsPerTurn: 2, resultLength: 30_000 };
const LONGEST_WAIT_MS = 120;

export async function copyWhileWriting(
  site: ChaosSite,
  { copies }: CopyWhileWritingParameters,
): Promise<Outcome> {
  const directory = site.directory();
  const database = join(directory, "state.db");
  const verdict = new Verdict("R-04 copy-while-writing");
  const writer = await site.worker(database);
  const writing = writeOn(writer, directory, verdict);
  const sizes: number[] = [];
  let missing = 0;
  for (let number = 0; number < copies; number += 1) {
    await sleep(site.random.below(LONGEST_WAIT_MS));
    const copy = copyNow(writer, database, writing.plan(), site.random.chance(0.5));
    const { problems, unstored, messages } = await inspect(copy);
    verdict.add(`copy ${number}`, problems);
    sizes.push(messages);
    missing += unstored;
    rmSync(dirname(copy.path), { recursive: true });
  }
  await writing.end();
  const range = `${Math.min(...sizes)} to ${Math.max(...sizes)} messages`;
  return verdict.outcome(`${copies} copies of ${range}; messages lost that were acted upon: ${missing}`);
}

/** Carries out one plan after another until it is told to end. */
function writeOn(writer: WorkerProcess, directory: string, verdict: Verdict) {
  let number = 0;
  let going = true;
  const plan = (): Plan => ({ ...TURNS, thread: `thread-${number}`, text: `Go ${number}.` });
  const loop = async (): Promise<void> => {
    for (; going; number += 1) {
      const log = logOf(directory, plan());
      const { messages } = await writer.ask({ act: "run", plan: plan(), claim: CLAIM, log });
      const problems = difference("messages", messages, plannedOutline(plan()));
      if (problems.length > 0) verdict.add(plan().thread, problems);
    }
  };
  const ended = loop();
  ended.catch(() => {});
  const end = async (): Promise<void> => {
    going = false;
    await ended;
    await writer.kill();
  };
  return { plan, end };
}

function logOf(directory: string, { thread }: Plan): string {
  return join(directory, `${thread}.log`);
}

/** Half of the copies are without the `-shm` file, as after a loss of power. */
function copyNow(writer: WorkerProcess, database: string, plan: Plan, withIndex: boolean): Copy {
  const directory = dirname(database);
  const target = join(directory, "copy");
  mkdirSync(target, { mode: 0o700 });
  const path = join(target, "state.db");
  writer.stop();
  try {
    waitUntilStopped(writer.pid);
    for (const suffix of withIndex ? ["", "-wal", "-shm"] : ["", "-wal"])
      if (existsSync(database + suffix)) copyFileSync(database + suffix, path + suffix);
    return { path, plan, effects: effectsIn(logOf(directory, plan)) };
  } finally {
    writer.continue();
  }
}

async function inspect({ path, plan, effects }: Copy) {
  const saver = await SqliteSaver.open(path);
  try {
    const messages = outline(await messagesOf(saver, plan.thread));
    const planned = plannedOutline(plan).slice(0, messages.length);
    const unstored = Math.max(
      0,
      ...effects.filter(isAct).map((effect) => neededFor(effect) - messages.length),
    );
    const integrity = integrityOf(path);
    const problems = [
      ...difference("messages", messages, planned),
      ...(unstored > 0 ? [`${unstored} messages are missing that were acted upon`] : []),
      ...(integrity === "ok" ? [] : [integrity]),
    ];
    return { problems, unstored, messages: messages.length };
  } finally {
    await saver.close();
  }
}

/** How many messages must have been stored before this was done: a tool acts on its turn, a model on all. */
function neededFor({ kind, place }: Effect): number {
  const turn = Number(place.split(".")[0]);
  const before = 1 + turn * (1 + TURNS.callsPerTurn);
  return kind === "model" ? before : before + 1;
}
