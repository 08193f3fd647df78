/** Notifications of other processes over Postgres. */
import { setTimeout as sleep } from "node:timers/promises";
import { ANSWER_SECONDS, askForLife, endConnection } from "./silence.ts";

/** Undefined: calls are heard from now on; earlier ones may have been missed. */
export type Heard = (payload: string | undefined) => void;

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
const CONNECT_TIMEOUT_MS = 10_000;

const listeners = new Map<string, Listener>();

/**
 * Listens to a channel until the returned function is called. All listeners of this process to one channel share a
 * connection, which is renewed when it breaks. Behind a pooler in transaction mode nothing is heard at all, so
 * notifications may only be used for speed.
 */
export function listenPostgres(
  url: string,
  channel: string,
  heard: Heard,
  answerMs = ANSWER_SECONDS * 1_000,
): () => Promise<void> {
  const name = `${channel} ${url}`;
  const listener = listeners.get(name) ?? new Listener(url, channel, answerMs);
  listeners.set(name, listener);
  const call: Heard = (payload) => heard(payload);
  listener.add(call);
  return async () => {
    if (listener.remove(call)) return;
    if (listeners.get(name) === listener) listeners.delete(name);
    await listener.close();
  };
}

class Listener {
  readonly #url: string;
  readonly #channel: string;
  readonly #answerMs: number;
  readonly #heard = new Set<Heard>();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #connected = false;

  constructor(url: string, channel: string, answerMs: number) {
    this.#url = url;
    this.#channel = channel;
    this.#answerMs = answerMs;
    this.#running = this.#run();
  }

  add(heard: Heard): void {
    this.#heard.add(heard);
    if (this.#connected) queueMicrotask(() => heard(undefined));
  }

  /** Whether any listener is left. */
  remove(heard: Heard): boolean {
    this.#heard.delete(heard);
    return this.#heard.size > 0;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted; failures += 1) {
      if (await this.#hear()) failures = 0;
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Over one connection, to its end; whether there was one. */
  async #hear(): Promise<boolean> {
    const pg = await import("pg");
    const { signal } = this.#closing;
    if (signal.aborted) return false;
    const client = new pg.default.Client({
      connectionString: this.#url,
      application_name: "deepwright",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    const ended = new Promise<void>((done) => client.once("end", done));
    client.on("error", () => {});
    client.on("notification", ({ payload }) => this.#tell(payload ?? ""));
    const close = () => void endConnection(client);
    let unwatch = (): void => {};
    try {
      await client.connect();
      unwatch = askForLife(client, this.#answerMs);
      await client.query(`LISTEN ${client.escapeIdentifier(this.#channel)}`);
    } catch {
      unwatch();
      await endConnection(client);
      return false;
    }
    signal.addEventListener("abort", close, { once: true });
    if (signal.aborted) close();
    this.#connected = true;
    this.#tell(undefined);
    await ended;
    unwatch();
    this.#connected = false;
    signal.removeEventListener("abort", close);
    return true;
  }

  #tell(payload: string | undefined): void {
    for (const heard of [...this.#heard]) heard(payload);
  }
}
