/** Where threads are kept: a file of the user's own, or the database that was named. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { SharedSaver } from "@deepwright/checkpoint";
import { CommandError, usageError } from "../command-error.ts";
import { withoutSecrets } from "../run/failure-words.ts";

export type Database =
  | { readonly kind: "sqlite"; readonly path: string; readonly isDefault: boolean }
  | { readonly kind: "postgres"; readonly url: string };

const POSTGRES = /^postgres(?:ql)?:\/\//i;
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;

/** `given` is what --db says; then DEEPWRIGHT_DB counts, then `state.db` in DEEPWRIGHT_HOME. */
export function databaseOf(given: string | undefined, environment: NodeJS.ProcessEnv): Database {
  const named = given ?? (environment.DEEPWRIGHT_DB || undefined);
  if (named === undefined) {
    const directory = environment.DEEPWRIGHT_HOME || join(homedir(), ".deepwright");
    return { kind: "sqlite", path: resolve(directory, "state.db"), isDefault: true };
  }
  if (POSTGRES.test(named)) return { kind: "postgres", url: named };
  if (OTHER_SCHEME.test(named))
    throw usageError(
      `A database of the kind '${named.split(":")[0]}' is not known.`,
      "Give a path to an SQLite file, or postgres://….",
    );
  return { kind: "sqlite", path: resolve(named), isDefault: false };
}

/** For people: no password. */
export function databaseName(database: Database): string {
  return database.kind === "sqlite" ? database.path : (withoutSecrets(database.url, {}).split("?")[0] ?? "");
}

/** False for a file that nobody has made yet. */
export function isThere(database: Database): boolean {
  return database.kind === "postgres" || existsSync(database.path);
}

/** Makes what is missing. Whoever opens it closes it. */
export async function openDatabase(database: Database): Promise<SharedSaver> {
  try {
    if (database.kind === "postgres") return await openPostgres(database.url);
    const { SqliteSaver } = await import("@deepwright/checkpoint/sqlite");
    return await SqliteSaver.open(database.path);
  } catch (cause) {
    throw notOpened(database, cause);
  }
}

/** Seconds a person waits for a server that does not answer; one that has answered is given longer. */
const FIRST_PATIENCE = 5;

async function openPostgres(url: string): Promise<SharedSaver> {
  const { PostgresSaver } = await import("@deepwright/checkpoint/postgres");
  const first = await PostgresSaver.open(url, { retryFor: FIRST_PATIENCE });
  const lasting = PostgresSaver.open(url);
  await first.close();
  return lasting;
}

function notOpened(database: Database, cause: unknown): unknown {
  const { code, message } = cause as { code?: unknown; message?: string };
  if (code !== "STORAGE_UNAVAILABLE" || database.kind !== "sqlite" || !database.isDefault) return cause;
  return new CommandError(`Threads cannot be kept: ${message}`, {
    hint: "Set DEEPWRIGHT_HOME to a directory you can write to, or run with --ephemeral to keep nothing.",
    cause,
  });
}
