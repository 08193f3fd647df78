/** two processes answer the same question at the same time. */
import { join } from "node:path";
import { effectsIn } from "../effects.ts";
import { difference, type Outcome, Verdict } from "../outcome.ts";
import type { ClaimPlan, Plan } from "../plan.ts";
import type { ChaosSite } from "../site.ts";
import { WorkerError, type WorkerProcess } from "../worker-process.ts";

export interface AnswerTwiceParameters {
  readonly questions: number;
  /** The URL of a Postgres; absent: a new SQLite file. */
  readonly postgres?: string;
}

/** Questions that are asked and answered at a time. */
const TOGETHER = 10;
const REFUSALS = ["NOTHING_TO_RESUME", "THREAD_BUSY"];
const EXPECTED = ["human Go.", "ai Turn 0. 0.0", "tool counted 0.0", "ai re: Go."];

export async function answerTwice(site: ChaosSite, parameters: AnswerTwiceParameters): Promise<Outcome> {
  const { questions, postgres } = parameters;
  const directory = site.directory();
  const place = postgres ?? join(directory, "state.db");
  const verdict = new Verdict(`R-10 answer-twice ${postgres ? "postgres" : "sqlite"}`);
  const workers = await Promise.all([site.worker(place), site.worker(place)]);
  const refusals = new Map<string, number>(REFUSALS.map((code) => [code, 0]));
  const question = async (number: number): Promise<void> => {
    const plan: Plan = { thread: `question-${number}`, text: "Go.", turns: 1, gated: true };
    const log = join(directory, `${number}.log`);
    const mode = number % 2 === 0 ? "queue" : "refuse";
    verdict.add(plan.thread, await answerBoth(workers, plan, { mode, ttl: 600 }, log, refusals));
  };
  for (let first = 0; first < questions; first += TOGETHER)
    await Promise.all(
      Array.from({ length: Math.min(TOGETHER, questions - first) }, (_, i) => question(first + i)),
    );
  await Promise.all(workers.map((worker) => worker.kill()));
  const told = [...refusals].map(([code, times]) => `${times} × ${code}`).join(", ");
  return verdict.outcome(`${questions} questions answered twice; refused: ${told}`);
}

async function answerBoth(
  workers: readonly WorkerProcess[],
  plan: Plan,
  claim: ClaimPlan,
  log: string,
  refusals: Map<string, number>,
): Promise<string[]> {
  const request = { act: "run", plan, claim, log } as const;
  const asked = await workers[0]?.ask(request);
  if (asked?.interrupts !== 1) return ["the question was not asked"];
  const answers = await Promise.allSettled(
    workers.map((worker) => worker.ask({ ...request, how: "approve" })),
  );
  const problems = answers.flatMap((answer) => {
    if (answer.status === "fulfilled") return difference("messages", answer.value.messages, EXPECTED);
    const code = answer.reason instanceof WorkerError ? (answer.reason.code ?? "") : "";
    refusals.set(code, (refusals.get(code) ?? 0) + 1);
    return REFUSALS.includes(code) ? [] : [`an untyped refusal: ${answer.reason}`];
  });
  const accepted = answers.filter(({ status }) => status === "fulfilled").length;
  const effects = effectsIn(log).filter(({ kind }) => kind === "begin").length;
  return [
    ...problems,
    ...(accepted === 1 ? [] : [`${accepted} answers were accepted`]),
    ...(effects === 1 ? [] : [`the call ran ${effects} times`]),
  ];
}
