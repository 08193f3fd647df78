/**
 * R-12 where it cannot be met: a process stopped inside a transaction holds the lock of an SQLite file.
 * The others get a typed error after their time, and nothing is lost when the process goes on.
 */
import { join } from "node:path";
import { plannedOutline } from "../agent.ts";
import { effectsIn, isAct } from "../effects.ts";
import { difference, type Outcome, Verdict } from "../outcome.ts";
import type { ChaosSite } from "../site.ts";
import { stopWriter } from "../transactions.ts";
import { until } from "../until.ts";
import { codeOf } from "../worker-process.ts";

export interface StoppedTransactionParameters {
  readonly times: number;
}

const TURNS = 30;

export async function stoppedTransaction(
  site: ChaosSite,
  { times }: StoppedTransactionParameters,
): Promise<Outcome> {
  const directory = site.directory();
  const database = join(directory, "state.db");
  const verdict = new Verdict("R-12 stopped-transaction sqlite");
  const [holder, other] = [await site.worker(database), await site.worker(database)] as const;
  for (let number = 0; number < times; number += 1) {
    const plan = { thread: `stopped-${number}`, text: "Go.", turns: TURNS, modelPause: 5 };
    const log = join(directory, `${number}.log`);
    const request = { act: "run", plan, claim: { mode: "queue", ttl: 2 }, log } as const;
    const held = holder.ask(request);
    await until(() => effectsIn(log).some(({ kind }) => kind === "begin"));
    await stopWriter(holder, database, "inside", site.random);
    const code = await codeOf(other.ask(request));
    holder.continue();
    const { messages } = await held;
    const acts = effectsIn(log).filter(isAct).length;
    verdict.add(plan.thread, [
      ...(code === "STORAGE_BUSY" ? [] : [`the other got ${code}`]),
      ...difference("messages", messages, plannedOutline(plan)),
      ...(acts === 2 * TURNS + 1 ? [] : [`${acts} acts instead of ${2 * TURNS + 1}`]),
    ]);
  }
  await Promise.all([holder.kill(), other.kill()]);
  return verdict.outcome(`${times} × STORAGE_BUSY for the other; the one that was stopped went on`);
}
