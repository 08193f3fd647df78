/** Reads the options of every provider: null means absent, an unknown option or a bad value is an error. */

import { ConfigurationError, canonicalPath } from "deepwright";
import { checkNames } from "deepwright/check-options";
import { checkDurations } from "deepwright/duration";

/** Without null. */
export type Present<Options> = { readonly [Name in keyof Options]: Exclude<Options[Name], null> };

/** `seconds`: a duration. `any`: the reader of the option checks it. */
export type Kind = keyof typeof KINDS | "seconds" | "any";

export interface OptionRules<Options> {
  /** Function that takes the options, for messages: `modalSandbox`. */
  readonly of: string;
  /** For a nested object: its name and a dot. */
  readonly within?: string;
  readonly kinds: Readonly<Record<keyof Options, Kind>>;
  /** Hints about options of other functions, by name. */
  readonly hints?: Readonly<Record<string, string>>;
}

const KINDS = {
  text: [(value: unknown) => typeof value === "string", "text"],
  boolean: [(value: unknown) => typeof value === "boolean", "true or false"],
  function: [(value: unknown) => typeof value === "function", "a function"],
  positive: [isPositive, "a positive number"],
  object: [isObject, "an object"],
  list: [Array.isArray, "a list"],
  paths: [isListOfTexts, "a list of texts"],
  texts: [isObjectOfTexts, "an object of texts"],
  variables: [isObject, "an object of texts"],
} as const satisfies Record<string, readonly [fits: (value: unknown) => boolean, words: string]>;

/** Options of every sandbox at a vendor, made by us or handed in. */
export const COMMAND_KINDS = {
  workingDirectory: "text",
  env: "variables",
  timeout: "seconds",
  maxOutputBytes: "positive",
} as const satisfies Record<string, Kind>;

/** Hints about options that a vendor names differently, or sets elsewhere. */
export const VENDOR_HINTS: Readonly<Record<string, string>> = {
  egress: 'What commands may reach is said by `network`, as in network: { allow: ["pypi.org"] }.',
  ...sameHint(["rootDir", "workspace", "files"], "A sandbox at a vendor has files of its own: upload them."),
  limits: "What the vendor takes besides is said by `create`, in its own words.",
};

const OF_CREATE_SANDBOX = [
  "scope",
  "name",
  "setupScript",
  "setupScriptPath",
  "setupTimeout",
  "ttl",
  "secrets",
];

/** Options that are present, checked by their kinds. */
export function presentOptions<Options extends object>(
  given: Options | null | undefined,
  { of, within = "", kinds, hints }: OptionRules<Options>,
): Present<Options> {
  const names = Object.keys(kinds);
  if (given !== null && given !== undefined && !isObject(given))
    throw invalid(`${of} takes one object of options.`, `They are ${names.join(", ")}.`);
  const entries = Object.entries(given ?? {}).filter(([, value]) => value !== null && value !== undefined);
  for (const [name, value] of entries) {
    if (!Object.hasOwn(kinds, name)) checkNames(of, { [name]: value }, names, hintFor(name, hints));
    checkKind(`${within}${name}`, value, kinds[name as keyof Options]);
  }
  return Object.fromEntries(entries) as Present<Options>;
}

/** Whether a sandbox is handed in. */
export function isHandle<Handle extends { readonly sandbox: unknown }>(
  options: object | null | undefined,
): options is Handle {
  const { sandbox } = (options ?? {}) as Partial<Handle>;
  return sandbox !== undefined && sandbox !== null;
}

/** The options beside a sandbox of the caller: options about creating one are refused. */
export function handleOptions<Options extends { readonly sandbox: unknown }>(
  given: Options,
  { of, kinds }: OptionRules<Omit<Options, "sandbox">>,
): Present<Options> {
  const rules = { of: `${of} with a 'sandbox'`, kinds: { sandbox: "any", ...kinds } };
  const options = presentOptions(given, rules as unknown as OptionRules<Options>);
  const { sandbox } = options as { readonly sandbox: unknown };
  if (typeof (sandbox as { readonly then?: unknown }).then === "function")
    throw invalid("sandbox is a promise.", "Await what the vendor's package returns.");
  if (!isObject(sandbox))
    throw invalid(
      `sandbox must be the object that the vendor's package returns, got ${shown(sandbox)}.`,
      "A sandbox of a lease is found again by createSandbox; for another, get the object by its id.",
    );
  return options;
}

function hintFor(name: string, hints: Readonly<Record<string, string>> = {}): string | undefined {
  if (Object.hasOwn(hints, name)) return hints[name];
  return OF_CREATE_SANDBOX.includes(name) ? `'${name}' is an option of createSandbox.` : undefined;
}

function checkKind(name: string, value: unknown, kind: Kind): void {
  if (kind === "any") return;
  if (kind === "seconds") {
    checkDurations({ unit: "seconds" }, { [name]: value });
    return;
  }
  const [fits, words] = KINDS[kind] as readonly [(value: unknown) => boolean, string];
  if (!fits(value)) throw invalid(`${name} must be ${words}, got ${shown(value)}.`);
  if (kind === "variables") checkedVariables(value as Record<string, string>, name);
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Throws a `ConfigurationError` for variables that a command cannot get. The error does not contain values. */
export function checkedVariables(
  env: Readonly<Record<string, string>>,
  option = "env",
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env)) {
    if (!VARIABLE.test(name))
      throw invalid(
        `${option}: '${name}' is no name of a variable.`,
        "A name has letters, digits and `_`, and does not begin with a digit.",
      );
    if (typeof value !== "string" || value.includes("\0"))
      throw invalid(`${option}: the value of '${name}' must be text without NUL.`);
  }
  return env;
}

/** Throws a `ConfigurationError` unless it is an absolute path. */
export function checkDirectory(path: string): string {
  const canonical = path.startsWith("/") ? canonicalPath(path) : undefined;
  if (canonical !== undefined && canonical.error === undefined) return canonical.path;
  throw invalid(`workingDirectory: '${path}' is no absolute path.`);
}

export function checkSeconds(name: string, value: number, most: number): void {
  checkDurations({ unit: "seconds", most }, { [name]: value });
}

/** The same words for several names. */
export function sameHint(names: readonly string[], words: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, words]));
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && value > 0 && Number.isFinite(value);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isObjectOfTexts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((one) => typeof one === "string");
}

/** Kind of a value, without any secret in it. */
function shown(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return "text";
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "an object";
  return `a ${typeof value}`;
}

function invalid(message: string, hint?: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message, hint === undefined ? {} : { hint });
}
