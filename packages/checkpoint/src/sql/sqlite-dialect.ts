/** One statement per object: in SQLite a prepared statement is a function call. */

import { encodeHead } from "../storage/refs.ts";
import type { NewObject } from "../storage/storage.ts";
import { bytesOfBody } from "./body.ts";
import { type CheckpointKey, type Dialect, type Stored, WRITES_COLUMNS } from "./dialect.ts";
import type { SqlRow, SqlSession, SqlValue } from "./sql.ts";

const INSERT_OBJECT = "INSERT INTO dw_objects (hash, head, body, owner) VALUES ($1, $2, $3, $4)";

export const sqliteDialect: Dialect = {
  types: {
    id: "INTEGER PRIMARY KEY AUTOINCREMENT",
    integer: "INTEGER",
    bytes: "BLOB",
    body: "BLOB",
    text: "TEXT",
    keyed: " WITHOUT ROWID",
  },
  clock: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  // Time since the boot of the machine: all processes that use a file of SQLite are on the same machine. See `sqlite-sql.ts`.
  claimClock: "CAST(dw_uptime() AS INTEGER)",
  lockThread: "",
  lockObjects: "",
  lockSweep: undefined,
  lockSchema: undefined,
  sizeQuery: undefined,
  isText: (column) => `typeof(${column}) = 'text'`,
  among: (placeholder) => `IN (SELECT value FROM json_each(${placeholder}))`,
  list: (numbers) => JSON.stringify(numbers),
  storeObjects,
  writesOf,
  removeCheckpoints,
};

async function storeObjects(
  session: SqlSession,
  owner: number,
  objects: readonly NewObject[],
): Promise<Stored> {
  const ids: number[] = [];
  const foreign: number[] = [];
  for (const object of objects) {
    const [found] = await session.all("SELECT id, owner FROM dw_objects WHERE hash = $1", [object.hash]);
    if (found) {
      ids.push(found.id as number);
      if (found.owner !== owner) foreign.push(found.id as number);
      continue;
    }
    const refs = object.refs.map((ref) => (ref < 0 ? (ids[-ref - 1] as number) : ref));
    const head = encodeHead({ kind: object.kind, text: typeof object.body === "string", refs });
    const values = [object.hash, head, columnOf(object.body), owner];
    ids.push(session.insert?.(INSERT_OBJECT, values) as number);
  }
  return { ids, foreign };
}

/** SQLite ends bound text at NUL. */
function columnOf(body: string | Uint8Array): SqlValue {
  return typeof body === "string" && body.includes("\0") ? bytesOfBody(body) : body;
}

async function writesOf(session: SqlSession, checkpoints: readonly CheckpointKey[]): Promise<SqlRow[]> {
  const rows: SqlRow[] = [];
  for (const { space, id } of checkpoints) {
    const found = await session.all(
      `SELECT ${WRITES_COLUMNS} FROM dw_writes WHERE space = $1 AND checkpoint = $2 ORDER BY sequence`,
      [space, id],
    );
    rows.push(...found);
  }
  return rows;
}

async function removeCheckpoints(session: SqlSession, checkpoints: readonly CheckpointKey[]): Promise<void> {
  for (const { space, id } of checkpoints) {
    await session.run("DELETE FROM dw_writes WHERE space = $1 AND checkpoint = $2", [space, id]);
    await session.run("DELETE FROM dw_checkpoints WHERE space = $1 AND id = $2", [space, id]);
  }
}
