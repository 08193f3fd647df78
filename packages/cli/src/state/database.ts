/** Where threads are kept: a file of the user's own, or the database that was named. */
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SharedSaver } from "@deepwright/checkpoint";
import { withoutSecrets } from "deepwright/secrets";
import { usageError } from "../command-error.ts";
import { homeOf } from "./home.ts";

export type Database =
  | { readonly kind: "sqlite"; readonly path: string; readonly isDefault: boolean }
  | { readonly kind: "postgres"; readonly url: string };

const POSTGRES = /^postgres(?:ql)?:\/\//i;
const OTHER_SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;

/** `given` is what --db says; then DEEPWRIGHT_DB counts, then `state.db` in DEEPWRIGHT_HOME. */
export function databaseOf(given: string | undefined, environment: NodeJS.ProcessEnv): Database {
  if (given === "") throw usageError("The name of the database is empty.");
  const named = given ?? (environment.DEEPWRIGHT_DB || undefined);
  if (named === undefined) {
    return { kind: "sqlite", path: join(homeOf(environment), "state.db"), isDefault: true };
  }
  if (POSTGRES.test(named)) return { kind: "postgres", url: named };
  if (OTHER_SCHEME.test(named))
    throw usageError(
      `Unknown kind of database: '${named.split(":")[0]}'.`,
      "Give a path to an SQLite file, or postgres://….",
    );
  return { kind: "sqlite", path: resolve(named), isDefault: false };
}

/** For people: no password. */
export function databaseName(database: Database): string {
  return database.kind === "sqlite" ? database.path : (withoutSecrets(database.url, {}).split("?")[0] ?? "");
}

/** False for a file that nobody has made yet; one that cannot be looked at is for opening to complain of. */
export function isThere(database: Database): boolean {
  if (database.kind === "postgres") return true;
  try {
    return statSync(database.path) !== undefined;
  } catch (error) {
    return !["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

/** Creates missing files and tables. The caller closes the saver. */
export async function openDatabase(database: Database): Promise<SharedSaver> {
  if (database.kind === "postgres") return openPostgres(database.url);
  const { SqliteSaver } = await import("@deepwright/checkpoint/sqlite");
  return SqliteSaver.open(database.path);
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
