/** How models named by a string are made: per provider and per model. */
import { addProviderOptions } from "../loop/providers/provider-options.ts";
import { initOptionsOf } from "./parse.ts";
import type { ProviderProfile } from "./types.ts";

/** A second one of a key is laid over the first, option by option. Models that are loaded already do not change. */
export function registerProviderProfile(key: string, profile: ProviderProfile): void {
  addProviderOptions(key, initOptionsOf(profile));
}
