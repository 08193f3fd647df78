/** two processes that write to one thread at the same time, again and again. */
import { join } from "node:path";
import { type Outcome, Verdict } from "../outcome.ts";
import type { Plan } from "../plan.ts";
import type { ChaosSite } from "../site.ts";

export interface TwoWritersParameters {
  readonly pairs: number;
  /** Pairs that meet in one thread. */
  readonly pairsPerThread: number;
  /** The URL of a Postgres; absent: a new SQLite file. */
  readonly postgres?: string;
}

const CLAIM = { mode: "queue", ttl: 600 } as const;

export async function twoWriters(site: ChaosSite, parameters: TwoWritersParameters): Promise<Outcome> {
  const { pairs, pairsPerThread, postgres } = parameters;
  const directory = site.directory();
  const place = postgres ?? join(directory, "state.db");
  const log = join(directory, "effects.log");
  const verdict = new Verdict(`R-09 two-writers ${postgres ? "postgres" : "sqlite"}`);
  const workers = await Promise.all([site.worker(place), site.worker(place)]);
  const began = performance.now();
  let firstWins = 0;
  for (let first = 0; first < pairs; first += pairsPerThread) {
    const thread = `shared-${first}`;
    const numbers = Array.from({ length: Math.min(pairsPerThread, pairs - first) }, (_, i) => first + i);
    for (const number of numbers)
      await Promise.all(
        workers.map((worker, i) => {
          const plan: Plan = { thread, text: `${number}/${i}`, turns: 0 };
          return worker.ask({ act: "run", plan, claim: CLAIM, log, how: "message" });
        }),
      );
    const messages = (await workers[0]?.ask({ act: "messages", thread })) ?? [];
    firstWins += messages.filter((line, i) => i % 4 === 0 && line.endsWith("/0")).length;
    for (const [i, number] of numbers.entries())
      verdict.add(`pair ${number}`, pairProblems(messages.slice(4 * i, 4 * i + 4), number));
    if (messages.length !== 4 * numbers.length)
      verdict.add(thread, [`${messages.length} messages for ${numbers.length} pairs`]);
  }
  const each = ((performance.now() - began) / pairs).toFixed(0);
  await Promise.all(workers.map((worker) => worker.kill()));
  return verdict.outcome(`${pairs} pairs, ${each} ms each; the first process came first ${firstWins} times`);
}

/** Both messages of a pair, each with its answer before the other begins. */
function pairProblems(messages: readonly string[], number: number): string[] {
  const orders = [
    [0, 1],
    [1, 0],
  ].map((order) => order.flatMap((i) => [`human ${number}/${i}`, `ai re: ${number}/${i}`]).join());
  return orders.includes(messages.join()) ? [] : [`the thread has ${JSON.stringify(messages)}`];
}
