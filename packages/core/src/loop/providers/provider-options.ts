/**
 * Options that models named by a `provider:model` string are made with. Process-wide, so that two copies of
 * the library in one program agree.
 */
import { checkedModelKey, keyText, modelKeyOf } from "./model-key.ts";

type InitOptions = Readonly<Record<string, unknown>>;

const REGISTRY = Symbol.for("deepwright.provider-profiles.v1");

function registry(): Map<string, InitOptions> {
  const place = globalThis as { [REGISTRY]?: Map<string, InitOptions> };
  place[REGISTRY] ??= new Map();
  return place[REGISTRY];
}

/** Later ones of a key are laid over earlier ones, option by option. */
export function addProviderOptions(key: string, options: InitOptions): void {
  const name = checkedModelKey(key);
  registry().set(name, { ...registry().get(name), ...options });
}

/** For a model named by a string: those of its provider, and over them its own. */
export function providerOptionsFor(name: string): InitOptions {
  const key = modelKeyOf(name);
  const known = registry();
  if (known.size === 0 || key.provider === "") return {};
  return { ...known.get(key.provider), ...(key.model === "" ? {} : known.get(keyText(key))) };
}
