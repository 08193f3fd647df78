/** News of runs between the processes on one Postgres. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { listenPostgres, type Sql } from "@deepwright/checkpoint/sql";
import type { Watchers } from "./watchers.ts";

const CHANNEL = "dw_srv_runs";
/** Postgres takes 8,000 bytes. Ids have no comma in them. */
const LONGEST_CALL = 7_000;
/** Between two calls of one process: all commits with a call in them wait for each other in Postgres. */
const PAUSE_MS = 10;
const LAST_CALLS_MS = 500;

/** Notifications name the runs with news, not the news: a lost one only costs time. */
export class PostgresNews {
  readonly #sql: Sql;
  readonly #url: string;
  readonly #watchers: Watchers;
  readonly #answerMs: number;
  readonly #name = randomUUID();
  readonly #waiting = new Set<string>();
  #calling: Promise<void> | undefined;
  #stop: (() => Promise<void>) | undefined;
  #closed = false;

  constructor(sql: Sql, url: string, watchers: Watchers, answerMs: number) {
    this.#sql = sql;
    this.#url = url;
    this.#watchers = watchers;
    this.#answerMs = answerMs;
  }

  /** Makes a connection the first time; until it stands, looks at the database have to do. */
  listen(): void {
    if (this.#closed) return;
    this.#stop ??= listenPostgres(this.#url, CHANNEL, (call) => this.#heard(call), this.#answerMs);
  }

  tell(runIds: readonly string[]): void {
    for (const runId of runIds) {
      this.#watchers.tell(runId);
      this.#waiting.add(runId);
    }
    if (runIds.length > 0 && !this.#closed) this.#calling ??= this.#call();
  }

  /** Pending notifications get a moment; a database that is away is not waited for. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#stop?.();
    await Promise.race([this.#calling, sleep(LAST_CALLS_MS, undefined, { ref: false })]);
  }

  #heard(call: string | undefined): void {
    if (call === undefined) {
      this.#watchers.tellAll();
      return;
    }
    const [name, ids = ""] = call.split(" ");
    if (name === this.#name) return;
    for (const runId of ids.split(",")) this.#watchers.tell(runId);
  }

  async #call(): Promise<void> {
    while (this.#waiting.size > 0) {
      const call = `${this.#name} ${this.#some().join(",")}`;
      await this.#sql
        .write(async (session) => session.all("SELECT pg_notify($1, $2)", [CHANNEL, call]))
        .catch(lost);
      if (!this.#closed) await sleep(PAUSE_MS);
    }
    this.#calling = undefined;
  }

  #some(): string[] {
    const some: string[] = [];
    let length = 0;
    for (const runId of this.#waiting) {
      length += runId.length + 1;
      if (length > LONGEST_CALL) break;
      some.push(runId);
    }
    for (const runId of some) this.#waiting.delete(runId);
    return some;
  }
}

/** Watchers find out when they look. */
function lost(): void {}
