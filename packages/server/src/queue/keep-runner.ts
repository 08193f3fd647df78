/** Keeps a runner of jobs alive: graphile-worker's ends when Postgres goes at the wrong moment, or never gets there. */
import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Runner, WorkerEvents } from "graphile-worker";

export interface KeptRunner {
  /** Rejects for problems that do not pass, such as a missing privilege. */
  readonly started: Promise<void>;
  /** Lets jobs under way end, for five seconds at most. Safe twice. */
  stop(): Promise<void>;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A runner that does not end within this time waits for work that failed with the connection: it is abandoned. */
const LAST_MS = 5_000;

export function keepRunner(
  start: (events: WorkerEvents) => Promise<Runner>,
  onError: (error: unknown) => void,
  lastMs = LAST_MS,
): KeptRunner {
  const stopping = new AbortController();
  let current: Runner | undefined;
  let isStarted = (): void => {};
  let hasFailed: (error: unknown) => void = () => {};
  const started = new Promise<void>((resolve, reject) => {
    isStarted = resolve;
    hasFailed = reject;
  });
  started.catch(() => {});

  const whole = async (): Promise<void> => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      try {
        const events = new EventEmitter() as WorkerEvents;
        const ending = new Promise<void>((ends) => events.once("pool:gracefulShutdown", () => ends()));
        current = await start(events);
        isStarted();
        failures = 0;
        if (stopping.signal.aborted) void current.stop().catch(() => {});
        await ended(current, ending, lastMs);
      } catch (error) {
        if (current === undefined && !isAway(error)) return hasFailed(error);
        if (!stopping.signal.aborted) onError(error);
      }
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      await sleep(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
    isStarted();
  };
  const running = whole();

  return {
    started,
    async stop() {
      stopping.abort();
      void current?.stop().catch(() => {});
      await running;
    },
  };
}

async function ended(runner: Runner, ending: Promise<void>, lastMs: number): Promise<void> {
  const late = ending.then(() => sleep(lastMs, "late" as const, { ref: false }));
  if ((await Promise.race([runner.promise, late])) !== "late") return;
  runner.promise.catch(() => {});
  runner.kill().catch(() => {});
}

/** Postgres cannot be reached now: codes of the system, of broken connections, of a server that starts or stops. */
function isAway(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === "string") return /^(E[A-Z]+|08...|57P0[1-5])$/.test(code);
  return /^(Connection terminated|timeout expired)/.test(String(message));
}
