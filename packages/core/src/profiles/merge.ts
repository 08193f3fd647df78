/** Lays one profile over another. */
import type { AgentMiddleware } from "langchain";
import { createHarnessProfile } from "./create.ts";
import type { ExtraMiddleware, HarnessProfile } from "./types.ts";

/**
 * Fields of `over` count where it has them. Exclusions add up; descriptions are merged by tool, the
 * general-purpose subagent by field, middleware by name, in place.
 */
export function mergeHarnessProfiles(under: HarnessProfile, over: HarnessProfile): HarnessProfile {
  const subagent = { ...under.generalPurposeSubagent, ...over.generalPurposeSubagent };
  return createHarnessProfile({
    baseSystemPrompt: over.baseSystemPrompt ?? under.baseSystemPrompt,
    systemPromptSuffix: over.systemPromptSuffix ?? under.systemPromptSuffix,
    toolDescriptionOverrides: { ...under.toolDescriptionOverrides, ...over.toolDescriptionOverrides },
    excludedTools: [...under.excludedTools, ...over.excludedTools],
    excludedMiddleware: [...under.excludedMiddleware, ...over.excludedMiddleware],
    extraMiddleware: mergeExtras(under.extraMiddleware, over.extraMiddleware),
    generalPurposeSubagent: Object.keys(subagent).length > 0 ? subagent : undefined,
  });
}

/** The middleware a profile brings to one agent. */
export function extraMiddlewareOf({
  extraMiddleware,
}: Pick<HarnessProfile, "extraMiddleware">): readonly AgentMiddleware[] {
  return typeof extraMiddleware === "function" ? extraMiddleware() : extraMiddleware;
}

function mergeExtras(under: ExtraMiddleware, over: ExtraMiddleware): ExtraMiddleware {
  if (typeof under !== "function" && typeof over !== "function") return mergeByName(under, over);
  return () =>
    mergeByName(extraMiddlewareOf({ extraMiddleware: under }), extraMiddlewareOf({ extraMiddleware: over }));
}

function mergeByName(
  under: readonly AgentMiddleware[],
  over: readonly AgentMiddleware[],
): readonly AgentMiddleware[] {
  const merged = new Map<string, AgentMiddleware>();
  for (const middleware of [...under, ...over]) merged.set(middleware.name.toLowerCase(), middleware);
  return [...merged.values()];
}
