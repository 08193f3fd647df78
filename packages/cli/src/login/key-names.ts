/** Services that keys are stored for, and the variable each key stands for. */
import { MODEL_PROVIDERS, providerName } from "deepwright/providers";
import { usageError } from "../command-error.ts";
import { shownProvider } from "../default-models.ts";
import { safeLine } from "../terminal/safe-text.ts";

export interface KeyOwner {
  /** As the person writes it. */
  readonly name: string;
  /** The variable that holds the key. */
  readonly variable: string;
}

export const KEY_OWNERS: readonly KeyOwner[] = [
  ...MODEL_PROVIDERS.flatMap(({ name, keys: [variable] }) =>
    variable === undefined ? [] : [{ name: shownProvider(name), variable }],
  ),
  { name: "tavily", variable: "TAVILY_API_KEY" },
];

export function keyOwner(given: string): KeyOwner {
  const found = KEY_OWNERS.find(({ name }) => name === shownProvider(providerName(given)));
  if (found) return found;
  throw usageError(
    `'${safeLine(given, 60)}' is no service that takes a key here.`,
    `Known are ${KEY_OWNERS.map(({ name }) => name).join(", ")}.`,
  );
}
