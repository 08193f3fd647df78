/** Chooses the profile of an agent: ours for the family of its model, its provider's, its model's, its own. */
import type { AgentMiddleware } from "langchain";
import { keyText, modelKeyOf } from "../loop/providers/model-key.ts";
import { builtInProfile } from "./built-in.ts";
import { createHarnessProfile, EMPTY_HARNESS_PROFILE, invalidProfile } from "./create.ts";
import { extraMiddlewareOf, mergeHarnessProfiles } from "./merge.ts";
import { registeredProfile } from "./registry.ts";
import type { HarnessProfile, HarnessProfileOptions } from "./types.ts";

/** False: none at all, not even ours. A profile is laid over those that are known. */
export type ProfileOption = false | HarnessProfile | HarnessProfileOptions;

export interface ResolvedProfile {
  readonly profile: HarnessProfile;
  /**
   * Keys of its sources, the widest first: `built-in claude`, `anthropic`, `anthropic:claude-sonnet-4-6`, `agent`.
   */
  readonly keys: readonly string[];
}

const NO_PROFILE: ResolvedProfile = { profile: EMPTY_HARNESS_PROFILE, keys: [] };

/** `model` is a `provider:model` string or a chat model; one nobody can name has no profile but its agent's. */
export function resolveHarnessProfile(model: unknown, option?: unknown): ResolvedProfile {
  if (option === false) return NO_PROFILE;
  if (option !== undefined && option !== null && typeof option !== "object")
    throw invalidProfile("The option 'profile' must be a profile, or false for none.");
  const layers = layersFor(model);
  if (option != null)
    layers.push(["agent", createHarnessProfile(option as HarnessProfileOptions | HarnessProfile)]);
  if (layers.length === 0) return NO_PROFILE;
  return {
    profile: layers.map(([, profile]) => profile).reduce(mergeHarnessProfiles),
    keys: layers.map(([key]) => key),
  };
}

/** For `"provider:model"`, a provider, or the name of a model whose maker is known; undefined: nothing is known. */
export function getHarnessProfile(spec: string): HarnessProfile | undefined {
  const { profile, keys } = resolveHarnessProfile(spec);
  return keys.length === 0 ? undefined : profile;
}

type Layer = readonly [key: string, profile: HarnessProfile];

function layersFor(model: unknown): Layer[] {
  const key = modelKeyOf(model);
  const builtIn = builtInProfile(key.model);
  const layers: Layer[] = builtIn === undefined ? [] : [[`built-in ${builtIn.name}`, builtIn.profile]];
  const names = key.provider === "" ? [] : [key.provider, ...(key.model === "" ? [] : [keyText(key)])];
  for (const name of names) {
    const profile = registeredProfile(name);
    if (profile !== undefined) layers.push([name, profile]);
  }
  return layers;
}

/** The user's middleware, and behind it what the profile brings that the user neither gave nor turned off. */
export function withExtraMiddleware(
  given: readonly AgentMiddleware[],
  off: ReadonlySet<string>,
  profile: HarnessProfile,
): readonly AgentMiddleware[] {
  const taken = new Set([...given.map(({ name }) => name.toLowerCase()), ...off]);
  const extras = extraMiddlewareOf(profile).filter(({ name }) => !taken.has(name.toLowerCase()));
  return extras.length === 0 ? given : [...given, ...extras];
}
