/** Reads and checks the options of createDeepAgent: null means absent, an unknown option is an error. */

import { SystemMessage } from "@langchain/core/messages";
import type { AgentMiddleware } from "langchain";
import { checkBackend } from "./backends/check-backend.ts";
import { checkNames } from "./check-options.ts";
import { ConfigurationError } from "./errors.ts";
import type { HarnessProfile } from "./profiles/types.ts";
import { BASE_AGENT_PROMPT } from "./prompts.ts";
import type { UntrustedSources } from "./subagents/defaults.ts";

export const DEFAULT_MODEL = "anthropic:claude-sonnet-4-6";

const KNOWN = new Set([
  "model",
  "tools",
  "systemPrompt",
  "profile",
  "middleware",
  "subagents",
  "asyncAgents",
  "stateSchema",
  "contextSchema",
  "responseFormat",
  "checkpointer",
  "threadClaim",
  "store",
  "cache",
  "backend",
  "memory",
  "skills",
  "untrusted",
  "permissions",
  "permissionCeiling",
  "interruptOn",
  "budget",
  "toolTimeout",
  "toolConcurrency",
  "name",
  "debug",
  "streamTransformers",
]);

type PromptPart = string | SystemMessage;

export type PromptParts = {
  readonly prefix?: PromptPart | null;
  /** Replaces the base prompt; null: no base prompt. */
  readonly base?: PromptPart | null;
  readonly suffix?: PromptPart | null;
};

export function presentOptions(options: object): Record<string, unknown> {
  if (typeof options !== "object" || options === null)
    throw new ConfigurationError("INVALID_OPTION", "createDeepAgent takes one object of options.");
  checkNames("createDeepAgent", options, KNOWN);
  const present = Object.fromEntries(Object.entries(options).filter(([, value]) => value != null));
  if (present.backend !== undefined) checkBackend(present.backend);
  return present;
}

export function listOption(options: Record<string, unknown>, key: string): readonly unknown[] {
  const value = options[key] ?? [];
  if (!Array.isArray(value))
    throw new ConfigurationError("INVALID_OPTION", `The option '${key}' must be a list.`);
  return value;
}

/** A list of paths. */
export function pathsOption(options: Record<string, unknown>, key: "memory" | "skills"): readonly string[] {
  const list = listOption(options, key);
  if (list.every((path) => typeof path === "string")) return list;
  throw new ConfigurationError("INVALID_OPTION", `The option '${key}' must be a list of paths.`, {
    hint: key === "memory" ? 'For example ["/AGENTS.md"].' : 'For example ["/skills/"].',
  });
}

/** The lists and functions in it are checked where they are used. */
export function untrustedOption({ untrusted }: Record<string, unknown>): UntrustedSources | undefined {
  if (untrusted === undefined) return undefined;
  const isObject = typeof untrusted === "object" && untrusted !== null && !Array.isArray(untrusted);
  if (isObject && Object.keys(untrusted).every((key) => key === "memory" || key === "skills"))
    return untrusted;
  throw new ConfigurationError("INVALID_OPTION", "The option 'untrusted' must be {memory, skills}.");
}

export function nameOption({ name }: Record<string, unknown>): string | undefined {
  if (name === undefined || typeof name === "string") return name;
  throw new ConfigurationError("INVALID_OPTION", "The option 'name' must be a string.");
}

/** Text before and after the sections of the middleware. The profile's text closes the prompt. */
export function promptOption(
  value: unknown,
  profile: Partial<Pick<HarnessProfile, "baseSystemPrompt" | "systemPromptSuffix">> = {},
): { before: PromptPart[]; after: PromptPart[] } {
  const { baseSystemPrompt = BASE_AGENT_PROMPT, systemPromptSuffix: last = "" } = profile;
  if (value === undefined) return { before: [baseSystemPrompt], after: [last] };
  if (typeof value === "string" || SystemMessage.isInstance(value))
    return { before: [value, baseSystemPrompt], after: [last] };
  if (typeof value !== "object" || value === null || !Object.entries(value).every(isPromptPart))
    throw new ConfigurationError(
      "INVALID_OPTION",
      "The option 'systemPrompt' must be a string, a SystemMessage or {prefix, base, suffix} of these.",
    );
  const { prefix, base = baseSystemPrompt, suffix } = value as PromptParts;
  return { before: [prefix ?? "", base ?? ""], after: [suffix ?? "", last] };
}

function isPromptPart([key, value]: [string, unknown]): boolean {
  const isPart = value === undefined || value === null || typeof value === "string";
  return PARTS.has(key) && (isPart || SystemMessage.isInstance(value));
}

const PARTS = new Set(["prefix", "base", "suffix"]);

/** `{ [name]: false }` in the list of middleware turns the built-in one of that name off. */
export function splitMiddleware(list: readonly unknown[]): { given: AgentMiddleware[]; off: Set<string> } {
  const given: AgentMiddleware[] = [];
  const off = new Set<string>();
  for (const [i, item] of list.entries()) {
    if (isSwitch(item)) for (const name of Object.keys(item)) off.add(name.toLowerCase());
    else if (typeof (item as AgentMiddleware | undefined)?.name === "string")
      given.push(item as AgentMiddleware);
    else
      throw new ConfigurationError("INVALID_OPTION", `middleware[${i}] is not a middleware.`, {
        hint: "A middleware has a name; see createMiddleware. {name: false} turns a built-in one off.",
      });
  }
  return { given, off };
}

function isSwitch(item: unknown): item is Record<string, false> {
  if (typeof item !== "object" || item === null) return false;
  const values = Object.values(item);
  return values.length > 0 && values.every((value) => value === false);
}
