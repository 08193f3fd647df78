/** What the options of a function must be, checked before anything is done with them. null and undefined mean absent. */
import { ConfigurationError } from "./errors.ts";

/** `maker` is the function they were given to. */
export function checkNames(maker: string, options: unknown, names: readonly string[]): void {
  const hint = `Its options are: ${names.join(", ")}.`;
  if (options == null) return;
  if (typeof options !== "object" || Array.isArray(options))
    throw new ConfigurationError("INVALID_OPTION", `${maker} takes an object of options.`, { hint });
  const unknown = Object.keys(options).find((key) => !names.includes(key));
  if (unknown === undefined) return;
  throw new ConfigurationError("UNKNOWN_OPTION", `${maker} has no option '${unknown}'.`, { hint });
}

const KINDS = { boolean: "true or false", string: "text", function: "a function" } as const;

export function checkKind(kind: keyof typeof KINDS, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values))
    if (value != null && typeof value !== kind)
      throw new ConfigurationError("INVALID_OPTION", `The option '${name}' must be ${KINDS[kind]}.`);
}
