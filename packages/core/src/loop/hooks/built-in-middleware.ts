/** A built-in middleware from its stages: our loop runs the stages, other loops run hooks made from them. */
import type { AgentMiddleware } from "langchain";
import { ConfigurationError } from "../../errors.ts";
import { STAGES } from "../../internal-symbols.ts";
import type { Stages, WithStages } from "../contract/stages.ts";
import { hooksForStages } from "./stage-hooks.ts";

/** Hooks of LangChain's contract run in every loop. Those that stages replace cannot be given. */
export interface BuiltInMiddleware
  extends Omit<AgentMiddleware, "wrapModelCall" | "wrapToolCall" | "beforeAgent"> {
  readonly stages: Stages;
  /** The middleware needs our loop: another one throws NOT_SUPPORTED when a run starts. */
  readonly ownLoopOnly?: boolean;
}

export function builtInMiddleware(spec: BuiltInMiddleware): AgentMiddleware & Required<WithStages> {
  const { stages, ownLoopOnly, ...middleware } = spec;
  const hooks = ownLoopOnly ? { beforeAgent: () => refuseOtherLoop(spec.name) } : hooksForStages(stages);
  return { ...middleware, ...hooks, [STAGES]: stages };
}

function refuseOtherLoop(name: string): never {
  throw new ConfigurationError("NOT_SUPPORTED", `${name} works in the loop of createDeepAgent only.`);
}
