/** `threads du`: how much space threads take. */
import type { ThreadFacts, ThreadSize } from "@deepwright/checkpoint";
import { realDirectory } from "../run/directory.ts";
import { loadSettings } from "../settings/load-settings.ts";
import { homeOf } from "../state/home.ts";
import { type SnapshotLimits, snapshotLimits } from "../state/old-snapshots.ts";
import { bytes, count } from "../terminal/amounts.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import { type Action, DEFAULT_LIMIT, pages } from "./actions.ts";
import { wholeNumber } from "./amounts.ts";
import type { ThreadsContext } from "./context.ts";
import { shortId, timeText } from "./lines.ts";

type Sized = ThreadFacts & ThreadSize;

export const du: Action = async (context) => {
  const { options, progress, signal } = context;
  const limit = options.limit === undefined ? DEFAULT_LIMIT : wholeNumber(options.limit, "--limit");
  const { threads } = await pages(context, Number.POSITIVE_INFINITY);
  const operations = await context.threads();
  const sized: Sized[] = [];
  for (const facts of threads) {
    signal.throwIfAborted();
    progress.show(`Counting ${sized.length + 1} of ${threads.length}…`);
    sized.push({ ...facts, ...(await operations.size(facts.threadId)) });
  }
  progress.end();
  const onDisk = await (await context.saver()).storage.size();
  const largest = sized.sort((one, other) => other.bytes - one.bytes);
  const shown = options.all ? largest : largest.slice(0, limit);
  const limits = await limitsOf(context);
  const lines = [...sizeLines(shown), totalLine(sized, onDisk), ...(limits ? [limitsLine(limits)] : [])];
  context.print({ bytes: onDisk, threads: shown, ...(limits && { limits }) }, lines);
};

/** Undefined for a database that was named: its snapshots stay until somebody prunes them. */
async function limitsOf({ around: { env }, database }: ThreadsContext): Promise<SnapshotLimits | undefined> {
  if (database.kind !== "sqlite" || !database.isDefault) return undefined;
  const directory = await realDirectory(".");
  const { settings } = await loadSettings({ directory, home: homeOf(env), env });
  return snapshotLimits(settings);
}

function limitsLine({ maxDays, maxGigabytes }: SnapshotLimits): string {
  return `Snapshots are kept for ${maxDays} days, and up to ${maxGigabytes} GB of database (settings: snapshots).`;
}

function totalLine(sized: readonly Sized[], onDisk: number): string {
  const snapshots = sized.reduce((sum, { snapshotBytes }) => sum + snapshotBytes, 0);
  return `${count(sized.length, "thread")}, of them ${bytes(snapshots)} of snapshots; the database has ${bytes(onDisk)}.`;
}

function sizeLines(threads: readonly Sized[]): string[] {
  if (threads.length === 0) return [];
  const columns = [
    { heading: "THREAD" },
    { heading: "UPDATED" },
    { heading: "ALL", isNumber: true },
    { heading: "SNAPSHOTS", isNumber: true },
    { heading: "TITLE" },
  ];
  const rows = threads.map((one) => [
    shortId(one.threadId),
    timeText(one.updatedAt),
    bytes(one.bytes),
    bytes(one.snapshotBytes),
    safeLine(one.title ?? one.firstPrompt ?? "", 60),
  ]);
  return tableLines(columns, rows);
}
