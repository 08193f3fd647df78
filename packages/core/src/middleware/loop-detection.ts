/** Notices when an agent does the same over and over without any effect. */
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
  /** The same turn so many times in a row: the model is told; default 5. */
  readonly noticeAfter?: number | null;
  /** So many times: the run ends; default 10. */
  readonly stopAfter?: number | null;
  /** The same for circles of two to five turns, in rounds; default 3. */
  readonly noticeAfterRounds?: number | null;
  /** Default 6. */
  readonly stopAfterRounds?: number | null;
}

export type LoopDetectionMiddleware = AgentMiddleware & WithStages;

const idSchema = z.string().optional();

/** Give it in place of the built-in one to change its limits. */
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
  const sound = [notice, stop].every((count) => count === Infinity || Number.isInteger(count));
  if (sound && notice >= 2 && stop > notice) return { notice, stop };
  throw new ConfigurationError(
    "INVALID_OPTION",
    `Loop detection needs whole numbers: a notice after at least 2 times, and '${name}' above that, not ${notice} and ${stop}.`,
  );
}
