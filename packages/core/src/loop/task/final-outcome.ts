/** The outcome of a run, after the stages had their say. */
import type { TaskConfig, Write } from "../../engine/engine.ts";
import type { Loop } from "../contract/loop.ts";
import type { Outcome } from "../messages/outcome.ts";
import { observerOf } from "./run-observer.ts";

/** The same writes, the outcome among them as the stages tell it. */
export function withFinalOutcome(loop: Loop, config: TaskConfig, writes: readonly Write[]): readonly Write[] {
  if (!writes.some(isOutcome)) return writes;
  return writes.map((write) =>
    isOutcome(write) ? [write[0], told(loop, config, write[1] as Outcome)] : write,
  );
}

function isOutcome([channel]: Write): boolean {
  return channel === "outcome";
}

function told(loop: Loop, config: TaskConfig, first: Outcome): Outcome {
  let outcome = first;
  for (const stages of loop.outcomeStages) outcome = stages.outcome?.(outcome, config) ?? outcome;
  observerOf(config)?.ended(outcome);
  return outcome;
}
