/** `deepwright run --best-of N`: several attempts at a task, each on a copy of the directory. Returns the exit code. */
import { compareThreads, type Fork, forkThread, type SharedSaver } from "@deepwright/checkpoint";
import { isAttended } from "../approval/approver.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { realDirectory } from "../run/directory.ts";
import type { RawRunOptions } from "../run/run-options.ts";
import { stdinCarries } from "../run/stdin-kind.ts";
import { Stop } from "../run/stop.ts";
import { taskText } from "../run/task-text.ts";
import { databaseOf, openDatabase } from "../state/database.ts";
import { findThread } from "../state/find-thread.ts";
import { homeOf } from "../state/home.ts";
import { count } from "../terminal/amounts.ts";
import { confirmed } from "../terminal/confirm.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { idWord, shortId } from "../threads/lines.ts";
import { openTrustRecord } from "../trust/trust-record.ts";
import { adopted, adoptionLines } from "./adoption.ts";
import { type Attempted, attempt } from "./attempt.ts";
import { type BestOfOptions, bestOfOptions } from "./best-of-options.ts";
import { bestOf, comparedLines, notAdoptedLines } from "./compare-lines.ts";
import { copiesIn } from "./copy-commands.ts";

interface Work {
  readonly options: BestOfOptions;
  readonly directory: string;
  readonly saver: SharedSaver;
  readonly console: Console;
  readonly stop: Stop;
}

export async function bestOfCommand(words: readonly string[], raw: RawRunOptions): Promise<ExitCode> {
  const options = bestOfOptions(raw);
  const console = new Console(process.stdout, process.stderr, process.env);
  const stop = new Stop();
  stop.listen(() => console.line("Stopping… (again to quit at once)"));
  const task = await taskText(words, { stdin: process.stdin, carries: stdinCarries() });
  const directory = await realDirectory(options.directory);
  const saver = await openDatabase(databaseOf(options.db, process.env));
  try {
    return await work({ options, directory, saver, console, stop }, task.text);
  } finally {
    stop.done();
    await saver.close();
  }
}

async function work(around: Work, task: string): Promise<ExitCode> {
  const { options, saver, console, stop } = around;
  const thread = options.thread === undefined ? undefined : await findThread(saver, options.thread);
  const forks: Fork[] = [];
  let done: readonly Attempted[];
  try {
    console.line(`Copying the directory ${count(options.attempts, "time")}…`);
    for (let i = 0; i < options.attempts && stop.reason === undefined; i += 1)
      forks.push(await forked(around, thread));
    done = await Promise.all(forks.map((fork, i) => attempted(around, fork, i + 1, thread, task)));
  } finally {
    await Promise.all(forks.map((fork) => fork.close()));
  }
  if (stop.reason !== undefined) {
    console.line("Stopped: the copies are removed.");
    return stop.reason === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
  }
  return report(around, done);
}

async function forked({ options, directory, saver, stop }: Work, thread: string | undefined): Promise<Fork> {
  const { signal } = stop;
  const place = { root: directory, copiesIn: copiesIn(process.env), signal };
  return forkThread(saver, thread, { ...place, step: options.step });
}

/** The copy is trusted as the directory is: by the hashes of its files. */
async function attempted(
  { options, directory, console, stop }: Work,
  fork: Fork,
  number: number,
  thread: string | undefined,
  task: string,
): Promise<Attempted> {
  const record = openTrustRecord(homeOf(process.env));
  const trusted = await record.get(directory);
  const files = trusted?.files.map(([path, hash]) => ({ path, hash }));
  if (files) await record.put(fork.directory, files);
  try {
    const isContinued = thread !== undefined;
    const done = await attempt({ number, fork, isContinued, task, options, console, stop });
    if (done.threadId !== undefined) await fork.finish({ ...done.report, threadId: done.threadId });
    return done;
  } finally {
    await fork.close();
    if (files) await record.remove(fork.directory);
  }
}

async function report(around: Work, done: readonly Attempted[]): Promise<ExitCode> {
  const { options, saver, console } = around;
  const ids = done.flatMap(({ threadId }) => (threadId === undefined ? [] : [threadId]));
  const compared = await compareThreads(saver, ids);
  const best = bestOf(compared);
  if (options.json) console.json(JSON.stringify({ best: best?.threadId ?? null, attempts: compared }));
  else for (const line of comparedLines(compared)) console.result(line);
  for (const line of notAdoptedLines(compared)) console.line(line);
  if (done.some(({ exitCode }) => exitCode === EXIT.approval))
    console.line(
      "Calls needed approval, and attempts cannot ask. To approve every call in the copies: --yes",
    );
  if (ids.length === 0) return EXIT.failed;
  if (options.check === undefined) {
    console.line("Adopt one of them: deepwright threads adopt THREAD");
    return done.some(({ exitCode }) => exitCode === EXIT.done) ? EXIT.done : EXIT.failed;
  }
  if (best === undefined) {
    console.line(`No attempt passes the check: ${safeLine(options.check, 100)}`);
    return EXIT.failed;
  }
  await adoptBest(around, best.threadId);
  return EXIT.done;
}

async function adoptBest({ options, saver, directory, console }: Work, threadId: string): Promise<void> {
  const later = `Adopt it: deepwright threads adopt ${idWord(threadId)}`;
  console.line(`Best: ${shortId(threadId)}`);
  if (!options.adopt) {
    if (options.json || !isAttended(process, process.env)) return console.line(later);
    for (const line of await adoptionLines(saver, threadId, directory)) console.line(line);
    if (!(await confirmed("Adopt these changes?", process))) return console.line(later);
  }
  const { lines } = await adopted(saver, threadId, directory);
  for (const line of lines) console.line(line);
}
