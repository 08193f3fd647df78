/** Has another model answer when one does not, in the middle of a run too: the thread goes on where it is. */
import type { AgentMiddleware } from "langchain";
import { checkKind, checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";
import type { Stages, WithStages } from "../loop/contract/stages.ts";
import type { FailureKind } from "../loop/failures/model-failure.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { askInTurn, type FallbackPolicy, type ModelFallback } from "../loop/model/model-fallback.ts";
import { Pauses } from "../loop/model/model-pause.ts";
import { type ChatModel, modelSource } from "../loop/providers/model-source.ts";
import { modelFailure } from "./model-retry.ts";

/** null means absent. */
export interface ModelFallbackMiddlewareOptions {
  /** Asked in this order when the agent's model does not answer: `provider:model` strings or chat models. */
  readonly models: readonly (string | ChatModel)[];
  /** The failures after which the next one is asked; default: all that another model may not have. */
  readonly on?: readonly FailureKind[] | null;
  /** Seconds for which a model that did not answer is asked last; default 60. 0: each call begins with the first. */
  readonly rest?: number | null;
  /** Called before another model is asked. */
  readonly onFallback?: ((fallback: ModelFallback) => void) | null;
}

export type ModelFallbackMiddleware = AgentMiddleware & WithStages;

const DEFAULT_KINDS: readonly FailureKind[] = [
  "rate",
  "quota",
  "server",
  "network",
  "cut",
  "timeout",
  "missing",
];
const KINDS: ReadonlySet<string> = new Set([...DEFAULT_KINDS, "auth", "invalid", "unknown"]);

/** Each model is first asked as often as `ModelRetryMiddleware` asks one. */
export function createModelFallbackMiddleware(
  options: ModelFallbackMiddlewareOptions,
): ModelFallbackMiddleware {
  checkOptions(options);
  const policy: FallbackPolicy = {
    models: options.models.map((given) => ({ given, source: modelSource(given) })),
    on: new Set(options.on ?? DEFAULT_KINDS),
    rest: 1000 * (options.rest ?? 60),
    onFallback: options.onFallback ?? undefined,
    classify: modelFailure,
    resting: new Pauses(),
  };
  const stages: Stages = { call: (outgoing, next, task) => askInTurn(outgoing, next, task, policy) };
  return builtInMiddleware({ name: "ModelFallbackMiddleware", stages });
}

function checkOptions(options: ModelFallbackMiddlewareOptions): void {
  checkNames("createModelFallbackMiddleware", options, ["models", "on", "rest", "onFallback"]);
  const { models, on, rest, onFallback } = options ?? {};
  checkKind("function", { onFallback });
  if (!Array.isArray(models) || models.length === 0)
    throw new ConfigurationError(
      "INVALID_OPTION",
      "The option 'models' must be a list of models, not empty.",
    );
  if (rest != null && !(typeof rest === "number" && rest >= 0))
    throw new ConfigurationError("INVALID_OPTION", "The option 'rest' must be a number of seconds.");
  const unknown = (on ?? []).find((kind) => !KINDS.has(kind));
  if (unknown !== undefined)
    throw new ConfigurationError("INVALID_OPTION", `There is no failure '${String(unknown)}' in 'on'.`, {
      hint: `There are: ${[...KINDS].join(", ")}.`,
    });
}
