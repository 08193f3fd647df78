/** Requests that read or write much: a caller has only a few of them at work, and the others wait in a line. */
import type { RouteName } from "@deepwright/protocol";
import { after } from "deepwright/duration";
import { Problem } from "../problems.ts";

export interface CostlyLimits {
  /** Costly requests of one caller that are at work. */
  readonly atOnce: number;
  /** Costly requests of one caller that wait; further ones are refused. */
  readonly waiting: number;
}

/** Routes that read whole states, or list them. */
const COSTLY_ROUTES: ReadonlySet<string> = new Set<RouteName>([
  "threads.adopt",
  "threads.blame",
  "threads.compare",
  "threads.copy",
  "threads.diffFiles",
  "threads.files",
  "threads.getState",
  "threads.getStateAt",
  "threads.getStateAtCheckpoint",
  "threads.history",
  "threads.readFile",
  "threads.restore",
  "threads.rewind",
  "threads.search",
  "threads.steps",
  "threads.updateState",
  "assistants.search",
  "crons.search",
  "runs.list",
  "settings.readMemory",
  "store.searchItems",
  "usage.ofThread",
  "usage.report",
  "workspace.list",
  "workspace.read",
]);
/** A body of more bytes makes any request costly. So does one of unknown length. */
const LARGE_BODY = 1024 * 1024;

export function isCostly(route: string, { body, headers }: Request): boolean {
  if (COSTLY_ROUTES.has(route)) return true;
  return body !== null && Number(headers.get("content-length") ?? Number.POSITIVE_INFINITY) > LARGE_BODY;
}

/** Beside other callers a slot rests this many times as long as its request took, at most `MOST_REST_MS`. */
const REST = 4;
const MOST_REST_MS = 5_000;
/** A caller counts as present for this long after a request. */
const PRESENT_MS = 1_000;

interface Line {
  atWork: number;
  readonly waiting: Set<() => void>;
}

export class CostlyRequests {
  readonly #limits: CostlyLimits;
  readonly #waitMs: number;
  readonly #lines = new Map<string, Line>();
  #latest = { caller: "", at: Number.NEGATIVE_INFINITY };
  /** The last request of any caller other than that of `#latest`. */
  #beforeIt = Number.NEGATIVE_INFINITY;

  constructor(limits: CostlyLimits, waitMs: number) {
    this.#limits = limits;
    this.#waitMs = waitMs;
  }

  /** Every request is counted here, so that it is known whether a caller has the server to itself. */
  seen(caller: string): void {
    if (this.#latest.caller !== caller) this.#beforeIt = this.#latest.at;
    this.#latest = { caller, at: performance.now() };
  }

  /** Throws 429 when the line is full, or when the turn does not come in time. */
  async run<T>(caller: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(caller) ?? { atWork: 0, waiting: new Set() };
    this.#lines.set(caller, line);
    if (line.atWork < this.#limits.atOnce) line.atWork += 1;
    else await this.#turn(line, signal);
    const begun = performance.now();
    try {
      return await work();
    } finally {
      const rest = this.#hasOthers(caller) ? Math.min(MOST_REST_MS, REST * (performance.now() - begun)) : 0;
      if (rest < 1) this.#pass(caller, line);
      else after(rest, () => this.#pass(caller, line), { ref: false });
    }
  }

  #turn(line: Line, signal: AbortSignal): Promise<void> {
    if (line.waiting.size >= this.#limits.waiting) throw tooMany(this.#limits);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        stop();
        signal.removeEventListener("abort", giveUp);
        line.waiting.delete(begin);
      };
      const begin = (): void => {
        leave();
        resolve();
      };
      const giveUp = (): void => {
        leave();
        reject(tooMany(this.#limits));
      };
      const stop = after(this.#waitMs, giveUp);
      signal.addEventListener("abort", giveUp, { once: true });
      line.waiting.add(begin);
    });
  }

  /** The slot goes to the request that has waited longest. */
  #pass(caller: string, line: Line): void {
    const [next] = line.waiting;
    if (next) next();
    else if (--line.atWork === 0) this.#lines.delete(caller);
  }

  #hasOthers(caller: string): boolean {
    const at = this.#latest.caller === caller ? this.#beforeIt : this.#latest.at;
    return performance.now() - at < PRESENT_MS;
  }
}

function tooMany({ atOnce }: CostlyLimits): Problem {
  return new Problem(
    "RATE_LIMITED",
    `Too many requests of this caller read or write much; ${atOnce} are served at a time. Ask again later.`,
    { headers: { "retry-after": "1" } },
  );
}
