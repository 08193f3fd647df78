/** Keeps a conversation within the window of its model, however long it gets. */

import { StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import { mayUseState } from "../backends/resolve.ts";
import { filesValue, StateBackend } from "../backends/state/state.ts";
import type { CompactionSettings } from "../context/compaction/compaction.ts";
import { createCompactionStages } from "../context/compaction/compaction-stages.ts";
import type { Compaction } from "../context/compaction/compaction-state.ts";
import { DEFAULT_TRIGGER, type SizeSetting, sizeOf, sizesOf } from "../context/tokens/budget.ts";
import { windowOf } from "../context/tokens/token-meter.ts";
import { ConfigurationError } from "../errors.ts";
import { INHERIT } from "../internal-symbols.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { builtInMiddleware } from "../loop/hooks/built-in-middleware.ts";
import { type ChatModel, modelSource } from "../loop/providers/model-source.ts";
import { type AgentDefaults, inheritedBackend, type WithInheritance } from "./inherit.ts";
import { checkSummarizationOptions, type SummarizationMiddlewareOptions } from "./summarization-options.ts";

export type { SummarizationMiddlewareOptions, TruncateArgsSettings } from "./summarization-options.ts";

export type SummarizationMiddleware = AgentMiddleware & WithStages & WithInheritance;

export function createSummarizationMiddleware(
  options: SummarizationMiddlewareOptions = {},
): SummarizationMiddleware {
  checkSummarizationOptions(options);
  const middleware = compactionMiddleware("SummarizationMiddleware", settingsOf(options));
  return {
    ...middleware,
    [INHERIT]: (defaults: AgentDefaults) =>
      createSummarizationMiddleware({ ...options, backend: inheritedBackend(options.backend, defaults) }),
  };
}

const compactionSchema = z.custom<Compaction>().optional();

/** Shared with the middleware that has a tool to ask for it. */
export function compactionMiddleware(
  name: string,
  settings: CompactionSettings,
): AgentMiddleware & Required<WithStages> {
  const stages = createCompactionStages(settings);
  const channels = { _compaction: compactionSchema };
  const fields = mayUseState(settings.backend ?? new StateBackend())
    ? { ...channels, files: filesValue }
    : channels;
  return builtInMiddleware({ name, stateSchema: new StateSchema(fields) as never, stages });
}

const MAX_ARGUMENT_LENGTH = 2000;
const SUMMARY_SECONDS = 120;

export function settingsOf(options: SummarizationMiddlewareOptions): CompactionSettings {
  const { trigger, keep, model, truncateArgsSettings: args } = options;
  return {
    model: model == null ? undefined : modelSource(model),
    backend: options.backend ?? undefined,
    triggers: trigger == null ? [DEFAULT_TRIGGER] : sizesOf(trigger, "trigger"),
    keep: keep == null ? undefined : sizeOf(keep, "keep"),
    summaryPrompt: options.summaryPrompt ?? undefined,
    historyDirectory: options.historyPathPrefix ?? undefined,
    arguments: {
      maxLength: args?.maxLength ?? MAX_ARGUMENT_LENGTH,
      ...(args?.truncationText != null && { truncationText: args.truncationText }),
    },
    argumentTriggers:
      args?.trigger == null ? undefined : sizesOf(args.trigger, "truncateArgsSettings.trigger"),
    argumentKeep: args?.keep == null ? undefined : sizeOf(args.keep, "truncateArgsSettings.keep"),
    readAtMost: options.trimTokensToSummarize ?? undefined,
    summaryTimeout: options.summaryTimeout ?? SUMMARY_SECONDS,
  };
}

/** The caller's own: it may be changed before it is handed on. */
export interface SummarizationDefaults {
  trigger: SizeSetting;
  keep: SizeSetting;
  truncateArgsSettings: {
    trigger?: SizeSetting;
    keep?: SizeSetting;
    maxLength?: number;
    truncationText?: string;
  };
}

/** Defaults for a model when nothing else is set. */
export function computeSummarizationDefaults(resolvedModel: ChatModel): SummarizationDefaults {
  if (typeof resolvedModel !== "object" || resolvedModel === null)
    throw new ConfigurationError(
      "INVALID_OPTION",
      `computeSummarizationDefaults takes a chat model, not ${String(resolvedModel)}.`,
      { hint: "A 'provider:model' string has to be resolved first." },
    );
  const isKnown = windowOf(resolvedModel) !== undefined;
  const trigger = (): SizeSetting =>
    isKnown ? { type: "fraction", value: 0.85 } : { type: "tokens", value: 170_000 };
  const keep = (messages: number): SizeSetting =>
    isKnown ? { type: "fraction", value: 0.1 } : { type: "messages", value: messages };
  return {
    trigger: trigger(),
    keep: keep(6),
    truncateArgsSettings: { trigger: trigger(), keep: keep(20), maxLength: MAX_ARGUMENT_LENGTH },
  };
}
