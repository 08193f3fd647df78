/** Asks a server again and again whether it is well, and for something from its database. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Probe {
  /** Milliseconds of each answer to `/ok`. */
  readonly health: readonly number[];
  /** How often which answer came to a request that needs the database. */
  readonly answers: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

const EVERY_MS = 200;
/** A server that answers later counts as dead, however busy the machine is. */
const LONGEST_MS = 120_000;

export function probe(baseUrl: string, token: string): Probe {
  const headers = { authorization: `Bearer ${token}` };
  const health: number[] = [];
  const answers = new Map<string, number>();
  const problems: string[] = [];
  let going = true;
  const repeat = async (ask: () => Promise<void>): Promise<void> => {
    while (going) {
      await ask().catch((error) => problems.push(`no answer: ${error.cause ?? error}`));
      await sleep(EVERY_MS);
    }
  };
  const askHealth = async (): Promise<void> => {
    const began = performance.now();
    const { status } = await fetch(`${baseUrl}/ok`, { headers, signal: AbortSignal.timeout(LONGEST_MS) });
    health.push(performance.now() - began);
    if (status !== 200) problems.push(`/ok answered ${status}`);
  };
  const askDatabase = async (): Promise<void> => {
    const response = await fetch(`${baseUrl}/threads/nobody`, { headers });
    const { code } = (await response.json()) as { code?: string };
    const answer = `${response.status} ${code}`;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    if (answer !== "404 NOT_FOUND" && answer !== "503 UNAVAILABLE")
      problems.push(`/threads answered ${answer}`);
  };
  const asking = Promise.all([repeat(askHealth), repeat(askDatabase)]);
  return {
    health,
    answers,
    problems,
    stop: async () => {
      going = false;
      await asking;
    },
  };
}

/** The time below which the share of all is. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
