import { setTimeout as sleep } from "node:timers/promises";
import { checkNames } from "deepwright/check-options";
import { durationMs } from "deepwright/duration";
import { DeepwrightError } from "deepwright/errors";
import type { PoolClient } from "pg";
import type { Sql, SqlRow, SqlSession, SqlValue, TransactionOptions } from "../sql/sql.ts";
import { columnTypes } from "./column-types.ts";
import { ConnectionLost, failureKind, storageError } from "./failure.ts";
import { leasePool, type PoolLease, type PostgresConnection } from "./shared-pool.ts";
import { ANSWER_SECONDS, limitSilence } from "./silence.ts";

export interface PostgresOptions {
  /** Seconds to go on trying while the database is away. Default 60; 0 fails at once, Infinity never gives up. */
  readonly retryFor?: number;
  /**
   * Seconds a statement may stay unanswered before its connection is given up and the work begins again on another one.
   * Default 25. Postgres itself ends a statement after four fifths of it.
   */
  readonly answerTimeout?: number;
  /** Most connections of the pool that everything on the same URL shares. Default 10. */
  readonly maxConnections?: number;
}

const DEFAULT_RETRY_SECONDS = 60;
const BEGIN_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
const BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/** A process that stops in the middle, or whose machine is cut off, must not keep its locks for ever. */
const END_IDLE = "SET LOCAL idle_in_transaction_session_timeout = '10s'";
/** The answer to one statement of a migration, or of a look at all that is stored. */
const SLOW_ANSWER_MS = 600_000;
const LONGEST_PAUSE_MS = { away: 2_000, conflict: 500 };
const FIRST_PAUSE_MS = { away: 50, conflict: 5 };

/**
 * Postgres over a pool. Keeps nothing in a session (no prepared statements, no settings), so it works behind a pooler
 * in transaction mode.
 *
 * When the connection or a race with others ends a transaction, its work runs again from the start. If the connection
 * broke during COMMIT, the result is unknown, so work must be safe to repeat: ours inserts by key and skips existing
 * rows.
 */
export class PostgresSql implements Sql {
  readonly dialect = "postgres";
  readonly #lease: PoolLease;
  readonly #retryMs: number;
  readonly #answerMs: number;
  #bytesWritten = 0;
  #reached = false;
  #closing: Promise<void> | undefined;
  readonly #running = new Set<Promise<unknown>>();

  private constructor(lease: PoolLease, retryMs: number, answerMs: number) {
    this.#lease = lease;
    this.#retryMs = retryMs;
    this.#answerMs = answerMs;
  }

  /** Makes no connection yet. */
  static async open(connection: PostgresConnection, options: PostgresOptions = {}): Promise<PostgresSql> {
    checkNames("Postgres", options, ["retryFor", "answerTimeout", "maxConnections"]);
    const { retryFor = DEFAULT_RETRY_SECONDS, answerTimeout = ANSWER_SECONDS } = options;
    const retryMs = durationMs("retryFor", retryFor, { unit: "seconds", zero: true, unlimited: true });
    const answerMs = durationMs("answerTimeout", answerTimeout, { unit: "seconds", most: 86_400 });
    return new PostgresSql(await leasePool(connection, options.maxConnections), retryMs, answerMs);
  }

  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  write<T>(work: (session: SqlSession) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#track(this.#retrying({ begin: BEGIN_WRITE, work, ...options }));
  }

  read<T>(work: (session: SqlSession) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#track(this.#retrying({ begin: BEGIN_READ, work, ...options }));
  }

  /** Work under way ends first, and work that waits to try again fails. Safe twice. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#running).then(() => this.#lease.release());
    return this.#closing;
  }

  async #track<T>(transaction: Promise<T>): Promise<T> {
    this.#running.add(transaction);
    try {
      return await transaction;
    } finally {
      this.#running.delete(transaction);
    }
  }

  async #retrying<T>(transaction: Transaction<T>): Promise<T> {
    const deadline = performance.now() + this.#retryMs;
    for (let attempt = 0; ; attempt += 1) {
      if (this.#closing) throw new DeepwrightError("STORAGE_CLOSED", "This Postgres storage was closed.");
      try {
        return await this.#transact(transaction);
      } catch (error) {
        const kind = failureKind(error, this.#reached);
        const pause = kind === "final" ? 0 : pauseOf(kind, attempt);
        if (kind === "final" || performance.now() + pause > deadline) {
          throw storageError(error, this.#lease.name);
        }
        await sleep(pause);
      }
    }
  }

  async #transact<T>({ begin, work, isSlow = false }: Transaction<T>): Promise<T> {
    const answerMs = isSlow ? Math.max(SLOW_ANSWER_MS, this.#answerMs) : this.#answerMs;
    const client = await this.#lease.pool.connect();
    this.#reached = true;
    let lost: unknown;
    const onLoss = (error: unknown) => {
      lost ??= error;
    };
    client.on("error", onLoss);
    try {
      // A first answer needs no work: a server that does not give it soon has died while the connection was idle.
      limitSilence(client, this.#answerMs / 5);
      await client.query(`${begin}; ${END_IDLE}; SET LOCAL statement_timeout = ${Math.ceil(answerMs * 0.8)}`);
      limitSilence(client, answerMs);
      const session = new PostgresSession(client);
      const result = await work(session);
      const { command } = await client.query("COMMIT");
      if (command !== "COMMIT") throw new Error("A failed statement was ignored inside a transaction.");
      this.#bytesWritten += session.bytesWritten;
      return result;
    } catch (error) {
      if (!lost) await client.query("ROLLBACK").catch(onLoss);
      throw lost && !(error instanceof DeepwrightError) ? new ConnectionLost(error) : error;
    } finally {
      client.off("error", onLoss);
      limitSilence(client, 0);
      client.release(lost !== undefined);
    }
  }
}

interface Transaction<T> extends TransactionOptions {
  readonly begin: string;
  readonly work: (session: SqlSession) => Promise<T>;
}

class PostgresSession implements SqlSession {
  readonly #client: PoolClient;
  bytesWritten = 0;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async all(sql: string, params: readonly SqlValue[] = []): Promise<SqlRow[]> {
    const { rows } = await this.#client.query({ text: sql, values: [...params], types: columnTypes });
    this.#count(sql, params);
    return rows;
  }

  async run(sql: string, params: readonly SqlValue[] = []): Promise<number> {
    const { rowCount } = await this.#client.query({ text: sql, values: [...params] });
    this.#count(sql, params);
    return rowCount ?? 0;
  }

  #count(sql: string, params: readonly SqlValue[]): void {
    if (/^\s*(insert|update)/i.test(sql)) this.bytesWritten += lengthOf(params);
  }
}

/** Grows with the attempts; random, so that many who were cut off together do not come back together. */
function pauseOf(kind: "away" | "conflict", attempt: number): number {
  const full = Math.min(FIRST_PAUSE_MS[kind] * 2 ** attempt, LONGEST_PAUSE_MS[kind]);
  return full * (0.5 + Math.random() / 2);
}

function lengthOf(value: SqlValue | readonly SqlValue[]): number {
  if (value === null) return 0;
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value === "number" || typeof value === "bigint") return 8;
  return value.reduce((total: number, element) => total + lengthOf(element), 0);
}
