/** a process killed while a tool runs beside a finished one, or while the model thinks. */
import { join } from "node:path";
import { type Effect, effectsIn, isAct } from "../effects.ts";
import { difference, type Outcome, Verdict } from "../outcome.ts";
import type { Plan } from "../plan.ts";
import type { ChaosSite } from "../site.ts";
import { until } from "../until.ts";

export interface KillInTurnParameters {
  readonly times: number;
}

interface Moment {
  readonly name: string;
  readonly hangsAt: string;
  /** How many results must be stored when the process is killed. */
  readonly stored: number;
  /** How often each begins in the end: the first call, the second, the model after them. */
  readonly begins: readonly [number, number, number];
}

const CLAIM = { mode: "queue", ttl: 0.5 } as const;
const PLAN = { text: "Go.", turns: 1, callsPerTurn: 2 };
const EXPECTED = ["human Go.", "ai Turn 0. 0.0 0.1", "tool counted 0.0", "tool counted 0.1", "ai re: Go."];

const DURING_TOOL: Moment = { name: "R-01 kill-in-tool", hangsAt: "0.1", stored: 1, begins: [1, 2, 1] };
const DURING_MODEL: Moment = { name: "R-02 kill-in-model", hangsAt: "1", stored: 2, begins: [1, 1, 2] };

export function killInTool(site: ChaosSite, parameters: KillInTurnParameters): Promise<Outcome> {
  return killAt(site, parameters, DURING_TOOL);
}

export function killInModel(site: ChaosSite, parameters: KillInTurnParameters): Promise<Outcome> {
  return killAt(site, parameters, DURING_MODEL);
}

/** Each process goes on with the thread its predecessor was killed in, and is killed in the next one. */
async function killAt(site: ChaosSite, { times }: KillInTurnParameters, moment: Moment): Promise<Outcome> {
  const directory = site.directory();
  const database = join(directory, "state.db");
  const verdict = new Verdict(moment.name);
  let worker = await site.worker(database);
  for (let number = 0; number < times; number += 1) {
    const plan: Plan = { ...PLAN, thread: `thread-${number}` };
    const log = join(directory, `${number}.log`);
    void worker.ask({ act: "run", plan: { ...plan, hangsAt: moment.hangsAt }, claim: CLAIM, log });
    await until(() => hangs(effectsIn(log), moment.hangsAt));
    await until(async () => {
      const stored = await worker.ask({ act: "stored", thread: plan.thread });
      return stored.length === moment.stored;
    });
    await worker.kill();
    worker = await site.worker(database);
    const { messages } = await worker.ask({ act: "run", plan, claim: CLAIM, log });
    verdict.add(plan.thread, [
      ...difference("messages", messages, EXPECTED),
      ...difference("effects", begins(effectsIn(log)), moment.begins.map(String)),
    ]);
  }
  await worker.kill();
  return verdict.outcome(
    `${times} kills; begun in the end: finished call ${moment.begins[0]}×, other call ${moment.begins[1]}×, ` +
      `model after them ${moment.begins[2]}×`,
  );
}

function hangs(effects: readonly Effect[], place: string): boolean {
  return effects.some((effect) => isAct(effect) && effect.place === place);
}

function begins(effects: readonly Effect[]): string[] {
  const started = effects.filter(isAct);
  return ["0.0", "0.1", "1"].map((place) =>
    String(started.filter((effect) => effect.place === place).length),
  );
}
