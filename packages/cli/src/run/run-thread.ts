/** The thread a run belongs to: a new one, or one that goes on. */
import { randomUUID } from "node:crypto";
import type { SharedSaver } from "@deepwright/checkpoint";
import { CommandError, usageError } from "../command-error.ts";
import { type Database, databaseName, databaseOf, isThere, openDatabase } from "../state/database.ts";
import { findThread } from "../state/find-thread.ts";
import { afterOtherRun } from "../state/other-run.ts";
import type { Files } from "../workspace/changes.ts";
import { BUSY_HINT } from "./failure-words.ts";
import type { RunOptions } from "./run-options.ts";

export interface RunThread {
  readonly id: string;
  readonly saver: SharedSaver;
  /** Absent for a new thread. */
  readonly before: ThreadBefore | undefined;
}

/** How a thread stood when the run began. */
export interface ThreadBefore {
  readonly files: Files;
  readonly messages: number;
  /** When its last step was stored, in milliseconds since 1970. */
  readonly at: number;
}

/** `onWait` is told when a dead run's claim must run out first. The caller closes the saver. */
export async function openRunThread(
  options: Pick<RunOptions, "db" | "thread">,
  environment: NodeJS.ProcessEnv,
  onWait: (milliseconds: number) => void,
  signal: AbortSignal,
): Promise<RunThread> {
  const database = databaseOf(options.db, environment);
  if (options.thread !== undefined && !isThere(database))
    throw usageError(`There is no thread '${options.thread}': ${databaseName(database)} does not exist yet.`);
  const saver = await openDatabase(database).catch((cause: unknown) =>
    Promise.reject(notOpened(database, cause)),
  );
  if (options.thread === undefined) return { id: randomUUID(), saver, before: undefined };
  const id = await findThread(saver, options.thread);
  await afterOtherRun(saver, id, onWait, signal, BUSY_HINT);
  return { id, saver, before: await threadBefore(saver, id) };
}

function notOpened(database: Database, cause: unknown): unknown {
  const { code, message } = cause as { code?: unknown; message?: string };
  if (code !== "STORAGE_UNAVAILABLE" || database.kind !== "sqlite" || !database.isDefault) return cause;
  return new CommandError(`Threads cannot be kept: ${message}`, {
    hint: "Set DEEPWRIGHT_HOME to a directory you can write to, or run with --ephemeral to keep nothing.",
    cause,
  });
}

async function threadBefore(saver: SharedSaver, id: string): Promise<ThreadBefore> {
  const tuple = await saver.getTuple({ configurable: { thread_id: id } });
  const { files, messages } = (tuple?.checkpoint.channel_values ?? {}) as {
    files?: Files;
    messages?: unknown[];
  };
  return {
    files: files ?? {},
    messages: messages?.length ?? 0,
    at: tuple ? Date.parse(tuple.checkpoint.ts) : 0,
  };
}

/** The files as the thread's last run found them; as they are where its first steps were pruned. */
export async function filesAtStart({ id, saver, before }: RunThread): Promise<Files> {
  const { openThreads } = await import("@deepwright/checkpoint");
  const { steps } = await openThreads(saver).show(id);
  const input = steps.findLastIndex(({ source }) => source === "input");
  const step = steps[input + 1] ?? steps[input];
  if (input === -1 || step === undefined) return before?.files ?? {};
  const tuple = await saver.getTuple({ configurable: { thread_id: id, checkpoint_id: step.checkpointId } });
  const { files, [INPUT]: given } = (tuple?.checkpoint.channel_values ?? {}) as {
    files?: Files;
    [INPUT]?: { files?: Files };
  };
  return { ...files, ...given?.files };
}

/** The channel that holds what a run was given until its first step is done. */
const INPUT = "__start__";

const CLOSING_MS = 2_000;

/** A database that does not answer must not keep the process from ending. */
export async function closeRunThread(thread: RunThread | undefined): Promise<void> {
  if (!thread) return;
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSING_MS);
  });
  await Promise.race([thread.saver.close().catch(() => {}), patience]);
  clearTimeout(timer);
}
