/** The run that surrounds the present code, for callers that were not given one. */
import { getConfig, getCurrentTaskInput } from "@langchain/langgraph";
import { isTaskConfig } from "../engine/engine.ts";
import type { BackendRuntime } from "./backend.ts";

/** Undefined outside a run. */
export function ambientRuntime(): BackendRuntime | undefined {
  const config = getConfig();
  if (!isTaskConfig(config)) return undefined;
  return {
    state: (getCurrentTaskInput(config) ?? {}) as Record<string, unknown>,
    store: config.store,
    context: config.context,
    config,
  };
}
