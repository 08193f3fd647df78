/** Notices when an agent repeats the same turns without any effect: first a warning for the model, then the run ends. */
import { StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import { createLoopStages, LOOKED_THROUGH, type LoopLimits } from "../budget/loop-stages.ts";
import { checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";

/** null means absent. */
export interface LoopDetectionMiddlewareOptions {
  /** The model gets a warning when it repeats the same turn this many times in a row; default 5. */
  readonly noticeAfter?: number | null;
  /** The run ends when the same turn comes this many times in a row; default 10. */
  readonly stopAfter?: number | null;
  /** Warning for a cycle of two to five turns, after this many rounds; default 3. */
  readonly noticeAfterRounds?: number | null;
  /** Rounds of such a cycle after which the run ends; default 6. */
  readonly stopAfterRounds?: number | null;
}

export type LoopDetectionMiddleware = AgentMiddleware & WithStages;

/** Id of the newest message of earlier runs; only turns after it count. */
const idSchema = z.string().optional();

/** Every agent has this middleware. Pass one of your own to change its limits. */
export function createLoopDetectionMiddleware(
  given?: LoopDetectionMiddlewareOptions | null,
): LoopDetectionMiddleware {
  checkNames("createLoopDetectionMiddleware", given, OPTION_NAMES);
  const { noticeAfter, stopAfter, noticeAfterRounds, stopAfterRounds } = given ?? {};
  const stages = createLoopStages({
    same: limits(noticeAfter ?? 5, stopAfter ?? 10, "stopAfter"),
    cycle: limits(noticeAfterRounds ?? 3, stopAfterRounds ?? 6, "stopAfterRounds"),
  });
  return builtInMiddleware({
    name: "LoopDetectionMiddleware",
    stateSchema: new StateSchema({ [LOOKED_THROUGH]: idSchema }) as never,
    ownLoopOnly: true,
    stages,
  });
}

const OPTION_NAMES = ["noticeAfter", "stopAfter", "noticeAfterRounds", "stopAfterRounds"];

function limits(notice: number, stop: number, name: string): LoopLimits {
  const isValid = [notice, stop].every((count) => count === Infinity || Number.isInteger(count));
  if (isValid && notice >= 2 && stop > notice) return { notice, stop };
  throw new ConfigurationError(
    "INVALID_OPTION",
    `Loop detection needs whole numbers: a notice after at least 2 times, and '${name}' above that, not ${notice} and ${stop}.`,
  );
}
