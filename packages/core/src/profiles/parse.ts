/** Profiles as data: from JSON or YAML, with keys in either spelling, and back. */
import { z } from "zod";
import { createHarnessProfile, invalidProfile } from "./create.ts";
import { extraMiddlewareOf } from "./merge.ts";
import type { HarnessProfile, ProviderProfile } from "./types.ts";

/** Each schema costs something when the library is loaded, so they share what they can. */
const anyText = z.string();
const optionalText = anyText.optional();
const optionalList = z.array(anyText).optional();

export const generalPurposeSubagentConfigSchema = z.strictObject({
  enabled: z.boolean().optional(),
  name: optionalText,
  description: optionalText,
  systemPrompt: optionalText,
});

/** Everything but middleware, which is code. */
export const harnessProfileConfigSchema = z.strictObject({
  baseSystemPrompt: optionalText,
  systemPromptSuffix: optionalText,
  toolDescriptionOverrides: z.record(anyText, anyText).optional(),
  excludedTools: optionalList,
  excludedMiddleware: optionalList,
  generalPurposeSubagent: generalPurposeSubagentConfigSchema.optional(),
});

export type HarnessProfileConfigData = z.infer<typeof harnessProfileConfigSchema>;

/** An object, or JSON as text. YAML as text is for `parseHarnessProfileYaml`, a file for `loadHarnessProfile`. */
export function parseHarnessProfileConfig(data: unknown): HarnessProfile {
  const fields = plainKeys("A harness profile", typeof data === "string" ? fromJson(data) : data);
  if (fields.extraMiddleware !== undefined)
    throw invalidProfile(
      "'extraMiddleware' is code and cannot stand in a file.",
      "Pass it to registerHarnessProfile.",
    );
  if (isObject(fields.generalPurposeSubagent))
    fields.generalPurposeSubagent = plainKeys("'generalPurposeSubagent'", fields.generalPurposeSubagent);
  const parsed = harnessProfileConfigSchema.safeParse(fields);
  if (!parsed.success) throw invalidProfile(reasonOf(parsed.error));
  return createHarnessProfile(parsed.data);
}

/** The YAML parser is loaded with the first text. */
export async function parseHarnessProfileYaml(text: string): Promise<HarnessProfile> {
  return parseHarnessProfileConfig(yamlData(text, await import("yaml")));
}

/** An object, or JSON as text: `initOptions`, `initKwargs` or `init_kwargs`. */
export function parseProviderProfileConfig(data: unknown): ProviderProfile {
  const fields = plainKeys("A provider profile", typeof data === "string" ? fromJson(data) : data);
  return { initOptions: initOptionsOf(fields) };
}

/** Whichever name they have; one of them at most. */
export function initOptionsOf(profile: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(profile)) throw invalidProfile("A provider profile must be an object.");
  const given = Object.entries(profile).filter(([, value]) => value != null);
  const stranger = given.find(([key]) => !INIT_NAMES.has(key))?.[0];
  if (stranger !== undefined)
    throw invalidProfile(`A provider profile has no field '${stranger}'.`, "Its field is: initOptions.");
  if (given.length > 1) throw invalidProfile("A provider profile has its options under two names.");
  const options: unknown = given[0]?.[1] ?? {};
  if (!isObject(options)) throw invalidProfile("'initOptions' must be an object of options of the model.");
  return { ...options };
}

const INIT_NAMES = new Set(["initOptions", "initKwargs", "init_kwargs"]);

/** The form that `parseHarnessProfileConfig` reads; fields the profile does not have are left out. */
export function serializeProfile(profile: HarnessProfile): HarnessProfileConfigData {
  if (typeof profile.extraMiddleware === "function" || extraMiddlewareOf(profile).length > 0)
    throw invalidProfile(
      "A profile with 'extraMiddleware' cannot be written down: middleware is code.",
      "Serialize a profile without it, and register the middleware from code.",
    );
  const { baseSystemPrompt, systemPromptSuffix, toolDescriptionOverrides, generalPurposeSubagent } = profile;
  const data: HarnessProfileConfigData = {};
  if (baseSystemPrompt !== undefined) data.baseSystemPrompt = baseSystemPrompt;
  if (systemPromptSuffix !== undefined) data.systemPromptSuffix = systemPromptSuffix;
  if (Object.keys(toolDescriptionOverrides).length > 0)
    data.toolDescriptionOverrides = { ...toolDescriptionOverrides };
  if (profile.excludedTools.size > 0) data.excludedTools = [...profile.excludedTools];
  if (profile.excludedMiddleware.size > 0) data.excludedMiddleware = [...profile.excludedMiddleware];
  if (generalPurposeSubagent !== undefined) data.generalPurposeSubagent = { ...generalPurposeSubagent };
  return data;
}

const MAX_ALIASES = 32;

/** The data in a YAML text; JSON is YAML too. */
export function yamlData(
  text: string,
  { parseDocument }: Pick<typeof import("yaml"), "parseDocument">,
): unknown {
  const problem = (error: unknown): Error =>
    invalidProfile(`A profile is not valid YAML: ${firstLine(error)}.`);
  try {
    const document = parseDocument(text, { schema: "core", prettyErrors: false, logLevel: "silent" });
    const [wrong] = [...document.errors, ...document.warnings];
    if (wrong !== undefined) throw wrong;
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw problem(error);
  }
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidProfile(
      `A profile given as text must be JSON: ${firstLine(error)}.`,
      "For YAML use parseHarnessProfileYaml(text), or loadHarnessProfile(path) for a file.",
    );
  }
}

/** Keys as the schema spells them; those whose value is null are absent. Keys further inside are names. */
function plainKeys(owner: string, data: unknown): Record<string, unknown> {
  if (!isObject(data)) throw invalidProfile(`${owner} must be an object of fields.`);
  const fields = new Map<string, unknown>();
  for (const [key, value] of Object.entries(data)) {
    const name = key.replaceAll(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (fields.has(name)) throw invalidProfile(`${owner} has the field '${name}' in two spellings.`);
    if (value !== null && value !== undefined) fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

function reasonOf(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue?.code !== "unrecognized_keys")
    return `The field '${issue?.path.join(".") ?? ""}' of a harness profile is not valid: ${issue?.message ?? ""}.`;
  const { shape } = issue.path.length > 0 ? generalPurposeSubagentConfigSchema : harnessProfileConfigSchema;
  const owner = issue.path.length > 0 ? `'${issue.path.join(".")}'` : "A harness profile";
  return `${owner} has no field '${issue.keys.join("', '")}'. Its fields are: ${Object.keys(shape).join(", ")}.`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function firstLine(error: unknown): string {
  const line = String((error as Error | undefined)?.message ?? error).split("\n", 1)[0] as string;
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
