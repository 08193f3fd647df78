/** Tables and the migrations of older ones. */
import { DeepwrightError } from "deepwright/errors";
import { countIn } from "./columns.ts";
import type { ColumnTypes, Dialect } from "./dialect.ts";
import type { Sql, SqlSession } from "./sql.ts";

/** A step from version `n` to `n + 1` of a part's tables, as statements; the first makes them. */
export type Migration = (types: ColumnTypes) => readonly string[];

/** The tables of threads. A published step never changes. */
export const THREAD_MIGRATIONS: readonly Migration[] = [createThreadTables, addClaimTtl];

/**
 * Brings the tables of one part to the version this library knows; in a transaction, by one process at a
 * time. Data of a later version is refused.
 */
export async function migrate(
  sql: Sql,
  dialect: Dialect,
  part: string,
  migrations: readonly Migration[],
): Promise<void> {
  if ((await sql.read((session) => versionOf(session, sql.dialect, part))) === migrations.length) return;
  const bringUp = async (session: SqlSession) => {
    if (dialect.lockSchema !== undefined) await session.all(dialect.lockSchema);
    const version = await versionOf(session, sql.dialect, part);
    if (version > migrations.length) throw tooNew(part, version, migrations.length);
    for (const migration of migrations.slice(version)) {
      for (const statement of migration(dialect.types)) await session.run(statement);
    }
    if (version === migrations.length) return;
    await session.run(`CREATE TABLE IF NOT EXISTS dw_meta ${metaColumns(dialect.types)}`);
    await session.run(
      "INSERT INTO dw_meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [versionName(part), migrations.length],
    );
  };
  await sql.write(bringUp, { isSlow: true });
}

/** Reads Postgres' catalogue as a table: `to_regclass` would answer from before the wait for the lock. */
async function versionOf(session: SqlSession, dialect: Sql["dialect"], part: string): Promise<number> {
  const tables =
    dialect === "sqlite"
      ? await session.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'dw_meta'")
      : await session.all(
          "SELECT relname FROM pg_class WHERE relname = 'dw_meta' AND pg_table_is_visible(oid)",
        );
  if (tables.length === 0) return 0;
  const [row] = await session.all("SELECT value FROM dw_meta WHERE name = $1", [versionName(part)]);
  return row ? countIn(row, "value") : 0;
}

function versionName(part: string): string {
  return `version:${part}`;
}

function metaColumns(types: ColumnTypes): string {
  return `(name ${types.text} PRIMARY KEY, value ${types.integer} NOT NULL)${types.keyed}`;
}

function tooNew(part: string, found: number, known: number): DeepwrightError {
  return new DeepwrightError(
    "STORAGE_TOO_NEW",
    `The ${part} in this database are of version ${found}, and this library knows versions up to ${known}.`,
    { hint: "Update @deepwright/checkpoint; nothing was changed." },
  );
}

function createThreadTables(types: ColumnTypes): string[] {
  const { id, integer, bytes, body, text, keyed } = types;
  return [
    `CREATE TABLE IF NOT EXISTS dw_meta ${metaColumns(types)}`,
    "INSERT INTO dw_meta (name, value) VALUES ('seed', 0)",
    `CREATE TABLE dw_threads (id ${id}, thread_id ${text} NOT NULL UNIQUE, epoch ${integer} NOT NULL,
      created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, title ${text}, first_prompt ${text},
      message_count ${integer} NOT NULL DEFAULT 0, checkpoint_count ${integer} NOT NULL DEFAULT 0,
      model ${text}, cwd ${text}, claim_holder ${text}, claim_fence ${integer} NOT NULL,
      claim_expires ${integer} NOT NULL DEFAULT 0)`,
    `CREATE INDEX dw_threads_newest ON dw_threads (updated_at DESC, thread_id) WHERE checkpoint_count > 0`,
    `CREATE INDEX dw_threads_of_cwd ON dw_threads (cwd, updated_at DESC, thread_id) WHERE checkpoint_count > 0`,
    `CREATE TABLE dw_spaces (id ${id}, thread ${integer} NOT NULL, namespace ${text} NOT NULL,
      UNIQUE (thread, namespace))`,
    `CREATE TABLE dw_objects (id ${id}, hash ${bytes} NOT NULL UNIQUE, head ${bytes} NOT NULL, body ${body},
      owner ${integer} NOT NULL)`,
    "CREATE INDEX dw_objects_of_owner ON dw_objects (owner)",
    `CREATE TABLE dw_shares (thread ${integer} NOT NULL, object ${integer} NOT NULL,
      PRIMARY KEY (thread, object))${keyed}`,
    "CREATE INDEX dw_shares_of_object ON dw_shares (object)",
    `CREATE TABLE dw_checkpoints (space ${integer} NOT NULL, id ${bytes} NOT NULL, parent ${bytes},
      root ${bytes}, stored_at ${integer} NOT NULL, refs ${bytes}, body ${text} NOT NULL,
      PRIMARY KEY (space, id))${keyed}`,
    `CREATE TABLE dw_writes (sequence ${id}, space ${integer} NOT NULL, checkpoint ${bytes} NOT NULL,
      task ${bytes} NOT NULL, refs ${bytes}, body ${text} NOT NULL, UNIQUE (space, checkpoint, task))`,
    `CREATE TABLE dw_images (sequence ${id}, thread ${integer} NOT NULL, checkpoint ${bytes} NOT NULL,
      place ${text} NOT NULL, path ${text} NOT NULL, before_ref ${integer}, after_ref ${integer},
      stored_at ${integer} NOT NULL)`,
    "CREATE INDEX dw_images_of_thread ON dw_images (thread, checkpoint)",
  ];
}

/**
 * The lifetime of a claim: an end further ahead than that comes from another clock. Earlier claims lived a day at most.
 */
function addClaimTtl({ integer }: ColumnTypes): string[] {
  return [`ALTER TABLE dw_threads ADD COLUMN claim_ttl ${integer} NOT NULL DEFAULT 86400000`];
}
