/** The harness profiles of this process, by provider or by model. Two copies of the library share them. */
import { checkedModelKey } from "../loop/providers/model-key.ts";
import { createHarnessProfile } from "./create.ts";
import { mergeHarnessProfiles } from "./merge.ts";
import type { HarnessProfile, HarnessProfileOptions } from "./types.ts";

const REGISTRY = Symbol.for("deepwright.harness-profiles.v1");

function registry(): Map<string, HarnessProfile> {
  const place = globalThis as { [REGISTRY]?: Map<string, HarnessProfile> };
  place[REGISTRY] ??= new Map();
  return place[REGISTRY];
}

/**
 * `"provider"` for all models of a provider, `"provider:model"` for one. A second one of a key is laid over the
 * first. Agents that are built already do not change.
 */
export function registerHarnessProfile(key: string, profile: HarnessProfile | HarnessProfileOptions): void {
  const name = checkedModelKey(key);
  const made = createHarnessProfile(profile);
  const known = registry().get(name);
  registry().set(name, known === undefined ? made : mergeHarnessProfiles(known, made));
}

export function registeredProfile(key: string): HarnessProfile | undefined {
  return registry().get(key);
}
