/** Checks of options and other values of a caller, before anything is done with them. null and undefined mean absent. */
import { ConfigurationError } from "./errors.ts";

/** An object that is no list. */
export function isRecord<Value extends object = Record<string, unknown>>(value: unknown): value is Value {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `maker` is the function or class that takes the options. */
export function checkNames(maker: string, options: unknown, names: Iterable<string>, more = ""): void {
  const known = [...names];
  const hint = `${more && `${more} `}Its options are: ${known.join(", ")}.`;
  if (options == null) return;
  if (!isRecord(options))
    throw new ConfigurationError("INVALID_OPTION", `${maker} takes one object of options.`, { hint });
  const unknown = Object.keys(options).find((key) => options[key] != null && !known.includes(key));
  if (unknown === undefined) return;
  throw new ConfigurationError("UNKNOWN_OPTION", `${maker} has no option '${unknown}'.`, { hint });
}

const KINDS = { boolean: "true or false", string: "text", function: "a function" } as const;

export function checkKind(kind: keyof typeof KINDS, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values))
    if (value != null && typeof value !== kind)
      throw new ConfigurationError("INVALID_OPTION", `The option '${name}' must be ${KINDS[kind]}.`);
}
