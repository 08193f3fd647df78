/** Threads in and out: files, and other databases. */
import { createReadStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { usageError } from "../command-error.ts";
import { databaseName, databaseOf, isThere, openDatabase } from "../state/database.ts";
import { count } from "../terminal/amounts.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { Action } from "./actions.ts";
import { shortId } from "./lines.ts";
import { linesOf, printLines, watched, writeLines } from "./transfer.ts";

export const exportThread: Action = async (context, [given = "", path]) => {
  const { signal, progress, options, around } = context;
  const threads = await context.threads();
  const threadId = await context.find(given);
  const lines = watched(threads.export(threadId), signal, (number) => progress.show(`Line ${number}`));
  if (path === undefined || path === "-") return printLines(around.stdout, lines);
  await writeLines(path, lines, options.force === true);
  progress.end();
  context.print({ threadId, path: resolve(path) }, [`Wrote ${shortId(threadId)} to ${safeLine(path)}.`]);
};

export const importThread: Action = async (context, [path = ""]) => {
  const { signal, progress, options, around } = context;
  if (options.as === "") throw usageError("--as is empty.");
  await readable(path);
  const threads = await context.threads(true);
  const lines = watched(linesOf(path === "-" ? around.stdin : createReadStream(path)), signal, (number) =>
    progress.show(`Line ${number}`),
  );
  const threadId = await threads.import(lines, options.as === undefined ? {} : { as: options.as });
  progress.end();
  context.print({ threadId }, [`Imported ${safeLine(threadId)}.`]);
};

/** Before a database is made for it. */
async function readable(path: string): Promise<void> {
  if (path === "-") return;
  try {
    await access(path, constants.R_OK);
    if (!(await stat(path)).isDirectory()) return;
  } catch (error) {
    throw usageError(`'${path}' cannot be read: ${(error as Error).message}.`);
  }
  throw usageError(`'${path}' is a directory.`);
}

export const move: Action = async (context) => {
  const { options, signal, progress, console, around } = context;
  const target = databaseOf(options.to, around.env);
  if (databaseName(target) === databaseName(context.database))
    throw usageError("--to names the database the threads are in.");
  const from = await context.saver();
  const isNew = !isThere(target);
  const to = await openDatabase(target);
  try {
    const { copyThreads } = await import("@deepwright/checkpoint");
    const result = await copyThreads(from, to, {
      signal,
      onProgress: ({ threadId, done }) => progress.show(`${count(done, "thread")}: ${shortId(threadId)}`),
    });
    progress.end();
    const name = databaseName(target);
    context.print({ ...result, to: name }, [
      `Copied ${count(result.copied, "thread")} to ${safeLine(name)}${isNew ? ", which is new" : ""}.`,
    ]);
    if (result.existing.length > 0)
      console.line(`Not changed there: ${count(result.existing.length, "thread")} of the same id.`);
    if (!options.json)
      console.line("The threads here stay. Use the other database with --db or DEEPWRIGHT_DB.");
  } finally {
    await to.close();
  }
};
