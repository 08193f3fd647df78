/** Makes a profile of what a person wrote: checked, copied and frozen. */
import { ConfigurationError } from "../errors.ts";
import {
  type ExtraMiddleware,
  type GeneralPurposeSubagentConfig,
  type HarnessProfile,
  type HarnessProfileOptions,
  REQUIRED_MIDDLEWARE_NAMES,
} from "./types.ts";

const FIELDS = [
  "baseSystemPrompt",
  "systemPromptSuffix",
  "toolDescriptionOverrides",
  "excludedTools",
  "excludedMiddleware",
  "extraMiddleware",
  "generalPurposeSubagent",
] as const satisfies readonly (keyof HarnessProfileOptions)[];

const NO_EXTRAS: ExtraMiddleware = Object.freeze([]);

/** Takes a finished profile too. */
export function createHarnessProfile(options: HarnessProfileOptions | HarnessProfile = {}): HarnessProfile {
  checkFields("A harness profile", options, FIELDS);
  return Object.freeze({
    baseSystemPrompt: text(options, "baseSystemPrompt"),
    systemPromptSuffix: text(options, "systemPromptSuffix"),
    toolDescriptionOverrides: Object.freeze(overrides(options.toolDescriptionOverrides)),
    excludedTools: new Set(names("excludedTools", options.excludedTools)),
    excludedMiddleware: new Set(removable(names("excludedMiddleware", options.excludedMiddleware))),
    extraMiddleware: extras(options.extraMiddleware),
    generalPurposeSubagent: generalPurpose(options.generalPurposeSubagent),
  });
}

/** Says nothing. */
export const EMPTY_HARNESS_PROFILE: HarnessProfile = createHarnessProfile();

export function invalidProfile(message: string, hint?: string): ConfigurationError {
  return new ConfigurationError("INVALID_PROFILE", message, hint === undefined ? {} : { hint });
}

export function checkFields(owner: string, value: unknown, fields: readonly string[]): void {
  const hint = `Its fields are: ${fields.join(", ")}.`;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidProfile(`${owner} must be an object.`, hint);
  const unknown = Object.keys(value).find((key) => !fields.includes(key));
  if (unknown !== undefined) throw invalidProfile(`${owner} has no field '${unknown}'.`, hint);
}

function text<Key extends string>(
  values: { readonly [K in Key]?: string | null | undefined },
  key: Key,
): string | undefined {
  const value = values[key] ?? undefined;
  if (value !== undefined && typeof value !== "string") throw invalidProfile(`'${key}' must be text.`);
  return value;
}

function overrides(value: HarnessProfileOptions["toolDescriptionOverrides"]): Record<string, string> {
  if (value == null) return {};
  if (typeof value !== "object" || Array.isArray(value) || !Object.values(value).every(isText))
    throw invalidProfile("'toolDescriptionOverrides' must give a text for each name of a tool.");
  return Object.fromEntries(Object.entries(value));
}

function names(field: string, value: Iterable<string> | null | undefined): readonly string[] {
  if (value == null) return [];
  const isList = typeof value === "object" && typeof value[Symbol.iterator] === "function";
  const list: readonly unknown[] = isList ? [...value] : [undefined];
  if (list.every((name) => isText(name) && name.trim() !== "")) return list as readonly string[];
  throw invalidProfile(`'${field}' must be a list of names.`);
}

function removable(list: readonly string[]): readonly string[] {
  const required = new Set([...REQUIRED_MIDDLEWARE_NAMES].map((name) => name.toLowerCase()));
  const kept = list.find((name) => required.has(name.toLowerCase()));
  if (kept === undefined) return list;
  throw invalidProfile(
    `A profile cannot exclude the middleware '${kept}'.`,
    "Exclude its tools instead, or turn it off for one agent: middleware: [{FilesystemMiddleware: false}].",
  );
}

function extras(value: ExtraMiddleware | null | undefined): ExtraMiddleware {
  if (value == null) return NO_EXTRAS;
  if (typeof value === "function") return value;
  if (Array.isArray(value) && value.every((one) => isText((one as { name?: unknown } | null)?.name)))
    return Object.freeze([...value]);
  throw invalidProfile("'extraMiddleware' must be a list of middleware, or a function that returns one.");
}

const SUBAGENT_FIELDS = ["enabled", "name", "description", "systemPrompt"] as const;

function generalPurpose(
  value: GeneralPurposeSubagentConfig | null | undefined,
): GeneralPurposeSubagentConfig | undefined {
  if (value == null) return undefined;
  checkFields("'generalPurposeSubagent'", value, SUBAGENT_FIELDS);
  const { enabled } = value as { enabled?: unknown };
  if (enabled != null && typeof enabled !== "boolean")
    throw invalidProfile("'enabled' must be true or false.");
  const name = text(value, "name");
  if (name?.trim() === "") throw invalidProfile("The name of the general-purpose subagent is empty.");
  const given = {
    enabled: enabled ?? undefined,
    name,
    description: text(value, "description"),
    systemPrompt: text(value, "systemPrompt"),
  };
  return Object.freeze(Object.fromEntries(Object.entries(given).filter(([, field]) => field !== undefined)));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
