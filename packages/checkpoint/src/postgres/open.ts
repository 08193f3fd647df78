import { DeepwrightError } from "deepwright/errors";
import { type PostgresOptions, PostgresSql } from "./postgres-sql.ts";
import type { PostgresConnection } from "./shared-pool.ts";

/** If anything fails before `start` has finished, the connections are given back. */
export async function openPostgres<T>(
  connection: PostgresConnection,
  options: PostgresOptions,
  start: (sql: PostgresSql) => Promise<T>,
): Promise<T> {
  const sql = await PostgresSql.open(connection, options);
  try {
    await checkEncoding(sql);
    return await start(sql);
  } catch (error) {
    await sql.close();
    throw error;
  }
}

/** Other encodings lose letters. */
async function checkEncoding(sql: PostgresSql): Promise<void> {
  const [row] = await sql.read(async (session) =>
    session.all("SELECT current_setting('server_encoding') AS encoding"),
  );
  if (row?.encoding === "UTF8") return;
  throw new DeepwrightError("INVALID_OPTION", `The database has the encoding ${row?.encoding}, not UTF8.`, {
    hint: "Use one made with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
  });
}
