/** Connections: savers and stores of one process on the same database share one pool. */
import type { Pool, PoolClient, PoolConfig } from "pg";
import { ANSWER_SECONDS, askForLife } from "./silence.ts";

export type PostgresConnection = string | { readonly pool: Pool };

export interface PoolLease {
  readonly pool: Pool;
  /** Host and database for messages, without user and password. */
  readonly name: string;
  /** The last one out closes the pool; a pool that was handed to us stays open. */
  release(): Promise<void>;
}

interface SharedPool {
  readonly pool: Pool;
  users: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
const DEFAULT_CONNECTIONS = 10;
const sharedPools = new Map<string, SharedPool>();

/** Makes no connection yet. `maxConnections` counts for the first to open a pool on that address. */
export async function leasePool(connection: PostgresConnection, maxConnections?: number): Promise<PoolLease> {
  if (typeof connection !== "string") return borrowedPool(connection.pool);
  const pg = await import("pg");
  const shared = sharedPools.get(connection) ?? openPool(pg.default, connection, maxConnections);
  sharedPools.set(connection, shared);
  shared.users += 1;
  let released = false;
  return {
    pool: shared.pool,
    name: nameOf(connection),
    release: async () => {
      if (released) return;
      released = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      sharedPools.delete(connection);
      await shared.pool.end();
    },
  };
}

/**
 * A private pool, which survives restarts of the server and connections that die silently, also those that wait for
 * notifications. Makes no connection yet; the caller ends it.
 */
export async function openPostgresPool(
  url: string,
  maxConnections: number,
  answerMs = ANSWER_SECONDS * 1_000,
): Promise<Pool> {
  const pg = await import("pg");
  const { pool } = openPool(pg.default, url, maxConnections);
  const watched = new WeakMap<PoolClient, () => void>();
  pool.on("acquire", (client) => watched.set(client, askForLife(client, answerMs)));
  pool.on("release", (_, client) => watched.get(client)?.());
  forgiveSecondRelease(pool);
  return pool;
}

/** A pool that has ended gives no `release`. */
type Connected = (error: Error | undefined, client: PoolClient | undefined, release?: Release) => void;
type Release = (error?: Error | boolean) => void;

/**
 * graphile-worker releases a connection twice when it is lost at the wrong moment. That error has no handler, and would
 * end the process.
 */
function forgiveSecondRelease(pool: Pool): void {
  const connect = pool.connect.bind(pool) as (connected?: Connected) => unknown;
  const forgiving = (connected?: Connected) =>
    connect(connected && ((error, client, release) => connected(error, client, release && once(release))));
  pool.connect = forgiving as Pool["connect"];
}

function once(release: Release): Release {
  let isDone = false;
  return (error) => {
    if (!isDone) release(error);
    isDone = true;
  };
}

function borrowedPool(pool: Pool): PoolLease {
  survive(pool);
  return {
    pool,
    name: nameOf(pool.options.connectionString ?? ""),
    release: async () => {
      pool.off("error", ignoreFailure);
      pool.off("acquire", listenToClient);
      pool.off("connect", listenToClient);
    },
  };
}

function openPool(
  pg: typeof import("pg")["default"],
  url: string,
  maxConnections = DEFAULT_CONNECTIONS,
): SharedPool {
  /** Only connecting has a time limit. A limit on the pool would count waiting for a free one as well. */
  class ImpatientClient extends pg.Client {
    constructor(config?: PoolConfig) {
      super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    }
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    application_name: "deepwright",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    allowExitOnIdle: true,
    Client: ImpatientClient,
  });
  survive(pool);
  return { pool, users: 0 };
}

/**
 * A server that restarts cuts connections, and an `error` without a listener would end the process. The pool replaces
 * idle connections; those in use fail with their next query.
 */
function survive(pool: Pool): void {
  pool.on("error", ignoreFailure);
  pool.on("acquire", listenToClient);
  pool.on("connect", listenToClient);
}

/** Between the pool's listener and the listener of the client's user there is a moment without any. */
function listenToClient(client: PoolClient): void {
  if (!client.listeners("error").includes(ignoreFailure)) client.on("error", ignoreFailure);
}

function ignoreFailure(): void {}

function nameOf(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url.replace("@/", "@localhost/"));
    return `${hostname || "localhost"}${port ? `:${port}` : ""}${pathname}`;
  } catch {
    return "the given address";
  }
}
