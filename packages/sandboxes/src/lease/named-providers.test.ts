import { expect, test } from "vitest";
import { networkOfNamed, PROVIDER_NAMES, providerNamed } from "./named-providers.ts";

test.each(PROVIDER_NAMES)(
  "%s is made by its name, without a key and without anything being opened",
  async (name) => {
    const provider = await providerNamed(name);
    expect([provider.name, provider.network]).toEqual([name, networkOfNamed(name)]);
    expect(provider.open).toBeTypeOf("function");
  },
);
