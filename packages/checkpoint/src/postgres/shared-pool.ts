/** Connections: savers and stores of one process on the same database share one pool. */
import type { Pool, PoolClient, PoolConfig } from "pg";

export type PostgresPlace = string | { readonly pool: Pool };

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
export async function leasePool(place: PostgresPlace, maxConnections?: number): Promise<PoolLease> {
  if (typeof place !== "string") return borrowedPool(place.pool);
  const pg = await import("pg");
  const shared = sharedPools.get(place) ?? openPool(pg.default, place, maxConnections);
  sharedPools.set(place, shared);
  shared.users += 1;
  let released = false;
  return {
    pool: shared.pool,
    name: nameOf(place),
    release: async () => {
      if (released) return;
      released = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      sharedPools.delete(place);
      await shared.pool.end();
    },
  };
}

/** A pool of one's own, which outlasts restarts of the server. Makes no connection yet; whoever opens it ends it. */
export async function openPostgresPool(url: string, maxConnections: number): Promise<Pool> {
  const pg = await import("pg");
  return openPool(pg.default, url, maxConnections).pool;
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
 * A server that restarts cuts connections, and an `error` nobody listens to would end the process. The
 * pool replaces idle ones; those in use fail with their next query.
 */
function survive(pool: Pool): void {
  pool.on("error", ignoreFailure);
  pool.on("acquire", listenToClient);
  pool.on("connect", listenToClient);
}

/** Between the pool's listener and that of whoever uses the client there is a moment without any. */
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
