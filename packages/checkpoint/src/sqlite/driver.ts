/** SQLite itself: Node's own, or a package with the same interface if Node has none. */
import { createRequire } from "node:module";

export interface Statement {
  run(...params: unknown[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  all(...params: unknown[]): unknown[];
  /** Without it, reading an integer that no JavaScript number holds throws. */
  setReadBigInts(on: boolean): void;
}

export interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  function(name: string, act: () => number): void;
  close(): void;
}

export interface DatabaseOptions {
  /** Milliseconds a statement waits inside SQLite for another's lock. */
  readonly timeout: number;
  readonly enableForeignKeyConstraints: boolean;
}

type DatabaseClass = new (path: string, options: DatabaseOptions) => Database;

interface Driver {
  readonly Database: DatabaseClass;
  /** Whether `close` gives the file up; otherwise it is held until the thread ends. */
  readonly closesFiles: boolean;
}

let loaded: Driver | undefined;

export function openDatabase(path: string, options: DatabaseOptions): Database {
  return new (driver().Database)(path, options);
}

/** Only the garbage collector ends prepared statements of the package, and they hold the file. */
export function closesFiles(): boolean {
  return driver().closesFiles;
}

function driver(): Driver {
  const builtIn = loaded === undefined ? builtInSqlite() : undefined;
  loaded ??= { Database: builtIn ?? packagedSqlite(), closesFiles: builtIn !== undefined };
  return loaded;
}

/** Without a flag since Node 22.13, with a warning that does not concern users of this library. */
function builtInSqlite(): DatabaseClass | undefined {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 13)) return undefined;
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    const sqlite = process.getBuiltinModule("node:sqlite") as { DatabaseSync: unknown } | undefined;
    return sqlite?.DatabaseSync as DatabaseClass | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function packagedSqlite(): DatabaseClass {
  const sqlite = createRequire(import.meta.url)("@photostructure/sqlite") as { DatabaseSync: unknown };
  return sqlite.DatabaseSync as DatabaseClass;
}
