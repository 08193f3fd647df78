import { randomBytes } from "node:crypto";
import pg from "pg";
import { startPostgres, type TestPostgres } from "../../../../scripts/test-postgres.mjs";

export type { TestPostgres };

/** A database of a test's own on the server all tests share. */
export interface TestDatabase {
  readonly url: string;
  /** Runs a statement over a connection of its own. */
  query(sql: string, params?: unknown[]): Promise<Record<string, any>[]>;
  /** Empties the tables, if there are any. */
  clear(): Promise<void>;
  /** Disconnects everyone first. */
  drop(): Promise<void>;
}

/** `dw_meta` has the versions of the tables and stays. */
const EMPTY_TABLES = `DO $$ DECLARE names text; BEGIN
  SELECT string_agg(quote_ident(tablename), ', ') INTO names FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> 'dw_meta';
  IF names IS NOT NULL THEN EXECUTE 'TRUNCATE ' || names || ' RESTART IDENTITY'; END IF;
END $$`;

/** The shared server is started by the first call of a test run, and stays to its end. */
export async function testDatabase(): Promise<TestDatabase> {
  return createDatabase(await sharedServer());
}

/** A server a test may halt, kill and start as it likes; it must `stop` it. */
export function privatePostgres(): Promise<TestPostgres> {
  return startPostgres({ own: true });
}

async function sharedServer(): Promise<string> {
  const configured = process.env.TEST_DATABASE_URL;
  if (configured) return configured;
  const broker = process.env.TEST_BROKER;
  if (!broker)
    throw new Error("Run tests with vitest from the root of the repository, or set TEST_DATABASE_URL.");
  const response = await fetch(`${broker}/postgres`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

async function createDatabase(server: string): Promise<TestDatabase> {
  const name = `deepwright_test_${randomBytes(6).toString("hex")}`;
  await queryOnce(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    query: (sql, params) => queryOnce(url.href, sql, params),
    clear: async () => {
      await queryOnce(url.href, EMPTY_TABLES);
    },
    drop: async () => {
      await queryOnce(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

async function queryOnce(url: string, sql: string, params?: unknown[]): Promise<Record<string, any>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql, params)).rows;
  } finally {
    await client.end();
  }
}
