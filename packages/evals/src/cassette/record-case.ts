/** Records the run of a case as a cassette. */
import { type BaseMessage, isBaseMessage } from "@langchain/core/messages";
import { EvalsError } from "../format/check-case.ts";
import type { EvalCase } from "../format/eval-case.ts";
import { deepwrightHarness } from "../harness/deepwright-harness.ts";
import type { ModelSource } from "../runner/model-source.ts";
import { messageOf, playTrial } from "../runner/run-trial.ts";
import type { Cassette } from "./cassette.ts";
import { cassetteOf } from "./record-cassette.ts";

/** Throws an `EvalsError` when the run did not come to its end. Of a case with several threads the last one is kept. */
export async function recordCase(
  given: EvalCase,
  models: ModelSource,
  signal?: AbortSignal,
): Promise<Cassette> {
  if (given.harbor !== undefined)
    throw new EvalsError(`'${given.id}' is a Harbor task: it cannot be recorded.`);
  const harness = deepwrightHarness({ retryWait: models.scripted ? "none" : "usual" });
  const { output, error } = await playTrial({ case: given, harness, models, signal });
  if (error !== undefined)
    throw new EvalsError(`The run of '${given.id}' did not come to its end: ${messageOf(error)}`);
  const messages = (output.state.messages as unknown[]).filter(isBaseMessage) as BaseMessage[];
  return cassetteOf(messages, { name: given.id });
}
