/** A database file as one process uses it: everything opened on one file shares one thread. */

import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { checkNames } from "deepwright/check-options";
import { DeepwrightError } from "deepwright/errors";
import { secondsOption } from "../storage/open-options.ts";
import { IN_MEMORY } from "./database-file.ts";
import type { SqliteOptions } from "./sqlite-sql.ts";
import { WorkerThread } from "./thread.ts";

/** The caller closes it; the file is closed with the last. */
export interface Connection {
  call(service: string, method: string, args: readonly unknown[]): Promise<unknown>;
  /** Safe twice. */
  close(): Promise<void>;
}

interface SharedFile {
  readonly thread: Promise<WorkerThread>;
  users: number;
}

const files = new Map<string, SharedFile>();
/** A thread without a database, kept for the next one: starting one costs more than opening a file. */
let spare: WorkerThread | undefined;

/** The options of the first opener of a file hold for all. */
export async function openConnection(path: string, options: SqliteOptions): Promise<Connection> {
  checkNames("SQLite", options, ["busyTimeout"]);
  secondsOption("busyTimeout", options.busyTimeout ?? 0);
  const name = path === IN_MEMORY ? path : await realName(resolve(path));
  const shared = await useFile(name, options);
  let closing: Promise<void> | undefined;
  return {
    async call(service, method, args) {
      if (closing) throw new DeepwrightError("STORAGE_CLOSED", `${path} was closed.`);
      return (await shared.thread).call(service, method, args);
    },
    close() {
      closing ??= leaveFile(name, shared);
      return closing;
    },
  };
}

/** Every database in memory is one of its own. */
async function useFile(name: string, options: SqliteOptions): Promise<SharedFile> {
  for (let known = files.get(name); known; known = files.get(name)) {
    known.users += 1;
    if ((await known.thread).alive) return known;
    if (files.get(name) === known) files.delete(name);
  }
  const shared = { thread: startThread(name, options), users: 1 };
  if (name !== IN_MEMORY) files.set(name, shared);
  try {
    await shared.thread;
  } catch (error) {
    if (files.get(name) === shared) files.delete(name);
    throw error;
  }
  return shared;
}

async function startThread(name: string, options: SqliteOptions): Promise<WorkerThread> {
  const thread = spare?.alive ? spare : new WorkerThread();
  spare = undefined;
  try {
    await thread.call("connection", "open", [name, options]);
    return thread;
  } catch (error) {
    await thread.end();
    throw error;
  }
}

async function leaveFile(name: string, shared: SharedFile): Promise<void> {
  shared.users -= 1;
  if (shared.users > 0) return;
  if (files.get(name) === shared) files.delete(name);
  const thread = await shared.thread;
  if (!thread.alive) return;
  if ((await thread.call("connection", "close", [])) && !spare?.alive) spare = thread;
  else await thread.end();
}

/** So that one file has one name, whichever way leads to it, also before it or its directory is made. */
async function realName(path: string): Promise<string> {
  const directory = dirname(path);
  return realpath(path).catch(async () =>
    directory === path ? path : join(await realName(directory), basename(path)),
  );
}
