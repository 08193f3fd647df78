/** The end of a run from inside one of its model calls: nothing is asked any more, the messages so far stay. */
import { GraphBubbleUp } from "@langchain/langgraph";
import type { StageTask } from "../contract/stages.ts";
import type { Outcome } from "../messages/outcome.ts";

/** Passes through code that lets interrupts pass. The loop catches it and ends the run with the outcome. */
export class RunEnded extends GraphBubbleUp {
  override readonly name = "RunEnded";

  constructor(readonly outcome: Outcome) {
    super(outcome.detail);
  }
}

/** Ends the run of the task, even if a middleware catches the error thrown here. */
export function endRunWith(task: StageTask, outcome: Outcome): never {
  task.end?.(outcome);
  throw new RunEnded(outcome);
}
