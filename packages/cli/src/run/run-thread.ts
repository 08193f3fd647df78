/** The thread of a run: a new one or an existing one. */
import { randomUUID } from "node:crypto";
import type { SharedSaver } from "@deepwright/checkpoint";
import { CommandError, usageError } from "../command-error.ts";
import { removeOldCopies } from "../forks/copy-commands.ts";
import { type Database, databaseName, databaseOf, isThere, openDatabase } from "../state/database.ts";
import { findThread } from "../state/find-thread.ts";
import { afterOtherRun } from "../state/other-run.ts";
import { BUSY_HINT } from "./output/failure-words.ts";
import type { RunOptions } from "./run-options.ts";

export interface RunThread {
  readonly id: string;
  readonly saver: SharedSaver;
  /** Whether it can be gone on with after the run. */
  readonly isKept: boolean;
  /** Absent for a new thread. */
  readonly before: ThreadBefore | undefined;
}

/** How a thread stood when the run began. */
export interface ThreadBefore {
  readonly messages: number;
  /** The directory its last run worked in, if it is known. */
  readonly directory: string | undefined;
}

/** `onWait` is called when the claim of a dead run must expire first. The caller closes the saver. */
export async function openRunThread(
  options: Pick<RunOptions, "db" | "thread" | "ephemeral" | "dryRun">,
  environment: NodeJS.ProcessEnv,
  onWait: (milliseconds: number) => void,
  signal: AbortSignal,
): Promise<RunThread> {
  const { thread, ephemeral, dryRun } = options;
  await removeOldCopies(environment);
  if (thread === undefined && (ephemeral || dryRun))
    return { id: randomUUID(), saver: await memorySaver(), isKept: false, before: undefined };
  const saver = await openSaver(databaseOf(options.db, environment), thread);
  if (thread === undefined) return { id: randomUUID(), saver, isKept: true, before: undefined };
  try {
    const id = await findThread(saver, thread);
    const before = await threadBefore(saver, id);
    if (dryRun) return { id, saver: await copyOf(saver, id), isKept: false, before };
    await afterOtherRun(saver, id, onWait, signal, BUSY_HINT);
    return { id, saver, isKept: true, before: await threadBefore(saver, id) };
  } catch (error) {
    await saver.close();
    throw error;
  }
}

async function openSaver(database: Database, thread: string | undefined): Promise<SharedSaver> {
  if (thread !== undefined && !isThere(database))
    throw usageError(`There is no thread '${thread}': ${databaseName(database)} does not exist yet.`);
  return openDatabase(database).catch((cause: unknown) => Promise.reject(notOpened(database, cause)));
}

function notOpened(database: Database, cause: unknown): unknown {
  const { code, message } = cause as { code?: unknown; message?: string };
  if (code !== "STORAGE_UNAVAILABLE" || database.kind !== "sqlite" || !database.isDefault) return cause;
  return new CommandError(`Threads cannot be stored: ${message}`, {
    hint: "Set DEEPWRIGHT_HOME to a directory you can write to, or run with --ephemeral to store nothing.",
    cause,
  });
}

async function memorySaver(): Promise<SharedSaver> {
  const { SharedMemorySaver } = await import("@deepwright/checkpoint");
  return new SharedMemorySaver();
}

/** A dry run must leave no trace in the thread, either. Closes `saver`. */
async function copyOf(saver: SharedSaver, id: string): Promise<SharedSaver> {
  const { openThreads } = await import("@deepwright/checkpoint");
  const memory = await memorySaver();
  await openThreads(memory).import(openThreads(saver).export(id));
  await saver.close();
  return memory;
}

async function threadBefore({ storage }: SharedSaver, id: string): Promise<ThreadBefore> {
  const facts = await storage.thread(id);
  return { messages: facts?.messageCount ?? 0, directory: facts?.cwd };
}

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
