/** Lets the model itself decide when its conversation is compacted. */

import type { BaseLanguageModel } from "@langchain/core/language_models/base";
import type { AgentMiddleware } from "langchain";
import { checkBackend } from "../backends/check-backend.ts";
import type { BackendSource } from "../backends/resolve.ts";
import { ConfigurationError } from "../errors.ts";
import { INHERIT } from "../internal-symbols.ts";
import type { WithStages } from "../loop/contract/stages.ts";
import { createCompactConversationTool } from "../tools/compact-conversation.ts";
import type { AgentDefaults, WithInheritance } from "./inherit.ts";
import { compactionMiddleware, settingsOf } from "./summarization.ts";

/**
 * Brings the tool `compact_conversation`. In an agent that has a SummarizationMiddleware before it, that one does
 * the work with its own settings; `model` and `backend` are for agents that have none.
 */
export function createSummarizationToolMiddleware(
  model?: string | BaseLanguageModel | null,
  backend?: BackendSource | null,
): AgentMiddleware & WithStages & WithInheritance {
  checkModel(model);
  checkBackend(backend);
  const settings = { ...settingsOf({ model, backend }), triggers: [] };
  return {
    ...compactionMiddleware("SummarizationToolMiddleware", settings),
    tools: [createCompactConversationTool()],
    [INHERIT]: (defaults: AgentDefaults) =>
      createSummarizationToolMiddleware(model, backend ?? defaults.backend),
  };
}

function checkModel(model: unknown): void {
  if (typeof model !== "object" || model === null) return;
  if (typeof (model as Partial<BaseLanguageModel>).invoke === "function") return;
  throw new ConfigurationError("INVALID_OPTION", "createSummarizationToolMiddleware got no chat model.", {
    hint: "It takes (model, backend), not an object.",
  });
}
