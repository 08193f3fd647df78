/** The actions of `deepwright threads`. Each prints its result and returns. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { RewindResult, ThreadFacts } from "@deepwright/checkpoint";
import { usageError } from "../command-error.ts";
import { realDirectory } from "../run/directory.ts";
import { databaseName, isThere } from "../state/database.ts";
import { afterOtherRun } from "../state/other-run.ts";
import { bytes, count, seconds } from "../terminal/amounts.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { ageOf, sizeOf, stepOf, wholeNumber } from "./amounts.ts";
import type { ThreadsContext } from "./context.ts";
import { detailLines, idWord, patchLines, rewindLines, shellWord, shortId, threadLines } from "./lines.ts";
import { realFiles } from "./put-aside.ts";

export type Action = (context: ThreadsContext, words: readonly string[]) => Promise<void>;

export const DEFAULT_LIMIT = 20;
const PAGE = 1_000;

export const list: Action = async (context) => {
  const { options, console, database } = context;
  const limit = options.limit === undefined ? DEFAULT_LIMIT : wholeNumber(options.limit, "--limit");
  const wanted = options.all ? Number.POSITIVE_INFINITY : limit;
  const isEmpty = database.kind === "sqlite" && database.isDefault && !isThere(database);
  const { threads, isMore } = isEmpty ? { threads: [], isMore: false } : await pages(context, wanted);
  context.print({ threads, more: isMore }, threads.length > 0 ? threadLines(threads) : []);
  if (options.json) return;
  if (threads.length === 0) console.line("There are no threads.");
  if (isMore) console.line("There are more: see --limit and --all.");
};

/** The newest threads, at most `wanted`. */
export async function pages(
  context: ThreadsContext,
  wanted: number,
): Promise<{ threads: ThreadFacts[]; isMore: boolean }> {
  const { cwd } = context.options;
  const directory = cwd === undefined ? {} : { cwd: await directoryOf(cwd === true ? "." : cwd) };
  const threads = await context.threads();
  const found: ThreadFacts[] = [];
  let after: string | undefined;
  do {
    const limit = Math.min(PAGE, wanted - found.length);
    const page = await threads.list({ limit, ...directory, ...(after === undefined ? {} : { after }) });
    found.push(...page.threads);
    after = page.next;
  } while (after !== undefined && found.length < wanted);
  return { threads: found, isMore: after !== undefined };
}

/** As runs note it; one that is gone may still have threads. */
async function directoryOf(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

export const show: Action = async (context, [given = ""]) => {
  const details = await (await context.threads()).show(await context.find(given));
  context.print(details, detailLines(details));
};

export const diff: Action = async (context, [given = "", step = ""]) => {
  const { options, console } = context;
  const to = options.to === undefined ? {} : { to: stepOf(options.to) };
  const threadId = await context.find(given);
  const changes = realFiles(await (await context.threads()).diff(threadId, stepOf(step), to));
  context.print({ threadId, changes }, patchLines(changes, console.resultColours));
  if (changes.length === 0 && !options.json) console.line("No files changed.");
};

export const rewind: Action = async (context, [given = "", step = ""]) => {
  const { options, console } = context;
  const directory = await realDirectory(options.in ?? ".");
  const roots = [directory];
  const threads = await context.threads();
  const threadId = await context.find(given);
  const plan = await threads.rewind(threadId, stepOf(step), { dryRun: true, roots });
  const planLines = [wouldLine(step), ...rewindLines(plan), ...inHint(plan, directory)];
  const patches = patchLines(realFiles(plan.restored), console.resultColours);
  if (options.dryRun) return context.print({ threadId, ...plan }, [...planLines, ...patches]);
  if (!options.yes) for (const line of planLines) console.line(line);
  if (!(await context.allowed(`Rewind the thread ${shortId(threadId)} to step ${step}?`))) return;
  await free(context, threadId);
  const done = await threads.rewind(threadId, stepOf(step), { roots });
  context.print({ threadId, ...done }, [
    `Messages and files are as they were after step ${safeLine(step, 40)}:`,
    ...rewindLines(done),
    ...inHint(done, directory),
    undoLine(threadId, done, options.in),
  ]);
};

function wouldLine(step: string): string {
  return `Messages and files would be as they were after step ${safeLine(step, 40)}:`;
}

function undoLine(threadId: string, { previousId }: RewindResult, directory: string | undefined): string {
  const where = directory === undefined ? "" : ` --in ${shellWord(directory)}`;
  return `Undo: deepwright threads rewind ${idWord(threadId)} ${previousId}${where}`;
}

/** Files of another directory are restored only if --in names it. */
export function inHint({ notCovered }: Pick<RewindResult, "notCovered">, directory: string): string[] {
  const isElsewhere = notCovered.some(
    ({ command, place }) => command === undefined && place !== `disk:${directory}`,
  );
  return isElsewhere ? ["For files in another directory: --in DIR"] : [];
}

/** A run that was killed a moment ago is no reason to refuse. */
export async function free(context: ThreadsContext, threadId: string): Promise<void> {
  const onWait = (milliseconds: number): void =>
    context.console.line(`The last run was killed: its claim expires in ${seconds(milliseconds)}.`);
  await afterOtherRun(await context.saver(), threadId, onWait, context.signal, "Wait for it to end.");
}

export const rename: Action = async (context, [given = "", ...title]) => {
  const threadId = await context.find(given);
  await (await context.threads()).rename(threadId, title.join(" "));
  context.print({ threadId }, [`Renamed ${shortId(threadId)}.`]);
};

export const copy: Action = async (context, [given = "", to = ""]) => {
  if (to === "") throw usageError("The id of the new thread is empty.");
  const threadId = await context.find(given);
  await (await context.threads()).copy(threadId, to);
  context.print({ threadId: to }, [`Copied ${shortId(threadId)} to ${safeLine(to)}.`]);
};

export const remove: Action = async (context, given) => {
  const threads = await context.threads();
  const ids = [...new Set(await Promise.all(given.map((id) => context.find(id))))];
  const names = ids.map((id) => shortId(id)).join(", ");
  if (!(await context.allowed(`Delete ${count(ids.length, "thread")} (${names})?`))) return;
  for (const threadId of ids) {
    await free(context, threadId);
    await threads.delete(threadId);
  }
  context.print({ deleted: ids }, [`Deleted ${names}.`]);
};

export const prune: Action = async (context) => {
  const { keepLatest, olderThan, maxBytes, thread, erase, snapshots = false } = context.options;
  const wanted = {
    ...(keepLatest === undefined ? {} : { keepLatest: wholeNumber(keepLatest, "--keep-latest") }),
    ...(olderThan === undefined ? {} : { olderThan: ageOf(olderThan, "--older-than") }),
    ...(maxBytes === undefined ? {} : { maxBytes: sizeOf(maxBytes, "--max-bytes") }),
  };
  const isPrune = Object.keys(wanted).length > 0;
  if (snapshots && (!isPrune || keepLatest !== undefined))
    throw usageError("--snapshots needs --older-than or --max-bytes, and does not go with --keep-latest.");
  if (!isPrune && !erase)
    throw usageError(
      "Nothing to prune was given.",
      "Give --keep-latest, --older-than, --max-bytes or --erase.",
    );
  const threads = await context.threads();
  const only = thread === undefined ? {} : { threadId: await context.find(thread) };
  const where = thread === undefined ? "all threads" : `the thread ${shortId(only.threadId ?? "")}`;
  const question = snapshots
    ? `Remove old snapshots of ${where}? What commands changed before cannot be taken back afterwards.`
    : isPrune
      ? `Remove old steps of ${where}? You cannot rewind to them afterwards.`
      : "Rewrite the database file? It takes a while and as much free space as the file has.";
  if (!(await context.allowed(question))) return;
  context.progress.show("Pruning…");
  const result = await threads.prune({
    ...{ ...wanted, ...only },
    ...(snapshots ? { onlySnapshots: true } : {}),
    ...(erase ? { erase } : {}),
  });
  context.progress.end();
  context.print(result, [
    ...(isPrune
      ? [
          `Removed ${snapshots ? "snapshots" : count(result.checkpoints, "step")}: ${bytes(result.bytes)} of content freed.`,
        ]
      : []),
    ...(erase ? ["Rewrote the file: no deleted data is left in it."] : []),
  ]);
};

export const backup: Action = async (context, [path = ""]) => {
  context.progress.show("Copying the database…");
  await (await context.threads()).backup(resolve(path));
  context.progress.end();
  context.print({ path: resolve(path) }, [`Copied ${databaseName(context.database)} to ${safeLine(path)}.`]);
};
