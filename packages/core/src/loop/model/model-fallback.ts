/** Asks one model after the other until one answers; each gets the request in the form its provider reads. */
import type { AIMessage } from "@langchain/core/messages";
import type { Ask, Outgoing, StageTask } from "../contract/stages.ts";
import { ModelError } from "../failures/model-error.ts";
import type { FailureKind, ModelFailure } from "../failures/model-failure.ts";
import { type ChatModel, type ModelSource, modelLabel, poolOf } from "../providers/model-source.ts";
import type { Pauses } from "./model-pause.ts";

/** A change to another model after one did not answer. */
export interface ModelFallback {
  readonly from: string;
  readonly to: string;
  readonly failure: ModelFailure;
  readonly error: unknown;
}

export interface FallbackPolicy {
  readonly models: readonly FallbackModel[];
  /** The failures after which another model is asked. */
  readonly on: ReadonlySet<FailureKind>;
  /** Milliseconds for which a model that did not answer is not asked first. */
  readonly rest: number;
  readonly onFallback: ((fallback: ModelFallback) => void) | undefined;
  readonly classify: (error: unknown) => ModelFailure;
  /** Models that did not answer a while ago. */
  readonly resting: Pauses;
}

export interface FallbackModel {
  readonly source: ModelSource;
  readonly given: string | ChatModel;
}

interface Failed {
  readonly label: string;
  readonly failure: ModelFailure;
  readonly error: unknown;
}

export async function askInTurn(
  outgoing: Outgoing,
  next: Ask,
  { signal }: Pick<StageTask, "signal">,
  policy: FallbackPolicy,
): Promise<AIMessage> {
  const failed: Failed[] = [];
  for (const candidate of candidates(outgoing, policy)) {
    const before = failed.at(-1);
    if (before !== undefined) policy.onFallback?.({ ...told(before), to: candidate.label });
    try {
      const sent = await candidate.outgoing();
      return await answered(sent, next, policy);
    } catch (error) {
      if (signal?.aborted) throw error;
      const failure = policy.classify(error);
      if (!policy.on.has(failure.kind)) throw error;
      failed.push({ label: candidate.label, failure, error });
    }
  }
  throw noneAnswered(failed);
}

function told({ label: from, failure, error }: Failed): Omit<ModelFallback, "to"> {
  return { from, failure, error };
}

async function answered(sent: Outgoing, next: Ask, policy: FallbackPolicy): Promise<AIMessage> {
  try {
    return await next(sent);
  } catch (error) {
    const { kind, retryAfter = 0 } = policy.classify(error);
    if (policy.rest > 0 && policy.on.has(kind))
      policy.resting.set(poolOf(sent.model), Math.max(policy.rest, retryAfter));
    throw error;
  }
}

interface Candidate {
  readonly label: string;
  readonly isResting: boolean;
  outgoing(): Promise<Outgoing>;
}

/** In the order they were given; those that rest come last. */
function candidates(first: Outgoing, policy: FallbackPolicy): readonly Candidate[] {
  const own = poolOf(first.model);
  const all: Candidate[] = [
    {
      label: modelLabel(first.model),
      isResting: policy.resting.left(own) > 0,
      outgoing: async () => first,
    },
  ];
  for (const { source, given } of policy.models) {
    const pool = typeof given === "string" ? given : poolOf(given);
    if (pool === own) continue;
    all.push({
      label: source.label,
      isResting: policy.resting.left(pool) > 0,
      outgoing: () => requestFor({ source, given }, first),
    });
  }
  return [...all.filter((one) => !one.isResting), ...all.filter((one) => one.isResting)];
}

async function requestFor({ source, given }: FallbackModel, first: Outgoing): Promise<Outgoing> {
  if (first.for === undefined) return { ...first, model: await source.resolve() };
  return first.for(typeof given === "string" ? given : await source.resolve());
}

function noneAnswered(failed: readonly Failed[]): unknown {
  const last = failed.at(-1) as Failed;
  if (failed.length === 1) return last.error;
  return new ModelError({
    model: last.label,
    failure: last.failure,
    attempts: failed.reduce((all, { error }) => all + ((error as Partial<ModelError>).attempts ?? 1), 0),
    cause: new AggregateError(
      failed.map(({ error }) => error),
      failed.map(({ label, failure }) => `${label}: ${failure.kind}`).join(", "),
    ),
    words: `None of ${failed.length} models answered`,
  });
}
