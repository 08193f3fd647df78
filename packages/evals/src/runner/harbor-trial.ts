/** A trial of a Harbor task: the agent works in a sandbox, and the reward of the task's tests decides. */
import { AIMessage } from "@langchain/core/messages";
import type { EvalCase } from "../format/eval-case.ts";
import type { HarborTask } from "../formats/harbor-task.ts";
import { type HarborEnd, runHarborTask, sandboxFor } from "../formats/run-harbor.ts";
import type { TrialOutput } from "../verifiers/verifier.ts";
import { Life } from "./crash.ts";
import { infrastructureReason } from "./infrastructure.ts";
import { messageOf, type TrialEnd, type TrialRequest } from "./run-trial.ts";
import { UsageMeter } from "./usage-meter.ts";

/** Only limits of the case and infrastructure failures are errors: an agent that ran out of time may have done the work. */
export async function playHarborTask(task: HarborTask, request: TrialRequest): Promise<TrialEnd> {
  const { case: given, models, price, signal } = request;
  const stop = new AbortController();
  const meter = new UsageMeter(given.limits, (reason) => stop.abort(reason), price);
  try {
    const { model } = await models.open(given, () => new Life());
    const sandbox = await sandboxFor(task);
    const end = await runHarborTask(task, {
      sandbox,
      model,
      callbacks: [meter],
      stop: stop.signal,
      ...(signal === undefined ? {} : { signal }),
    });
    const isBroken = infrastructureReason(end.cause) !== undefined;
    const error = stop.signal.aborted ? stop.signal.reason : isBroken ? end.cause : undefined;
    return { output: outputOf(meter, end, error), meter, invalidRequests: 0, error };
  } catch (error) {
    return { output: outputOf(meter, undefined, error), meter, invalidRequests: 0, error };
  }
}

const LONGEST_OUTPUT = 1_000;

function outputOf(meter: UsageMeter, end: HarborEnd | undefined, error: unknown): TrialOutput {
  const last = meter.replies.findLast(({ message }) => AIMessage.isInstance(message))?.message;
  const answer = last?.text ?? "";
  const tests = end?.output.slice(-LONGEST_OUTPUT);
  return {
    files: {},
    answer,
    answers: [answer],
    calls: meter.calls(),
    structured: undefined,
    state: {},
    world: end === undefined ? {} : { reward: end.reward, tests, agent: end.error },
    modelCalls: meter.replies.length,
    tokens: meter.tokens,
    questions: 0,
    error: error === undefined ? undefined : messageOf(error),
  };
}

/** Harbor tasks are played by Deepwright in a sandbox, not by the harness under test. */
export function isHarborCase(given: EvalCase): given is EvalCase & { readonly harbor: HarborTask } {
  return given.harbor !== undefined;
}
