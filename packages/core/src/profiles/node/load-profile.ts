/** Profiles from files of this machine, in YAML or JSON. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { ConfigurationError } from "../../errors.ts";
import { parseHarnessProfileConfig, parseProviderProfileConfig, yamlData } from "../parse.ts";
import type { HarnessProfile, ProviderProfile } from "../types.ts";

export function loadHarnessProfile(path: string | URL): HarnessProfile {
  return fromFile(path, parseHarnessProfileConfig);
}

export function loadProviderProfile(path: string | URL): ProviderProfile {
  return fromFile(path, parseProviderProfileConfig);
}

function fromFile<Profile>(path: string | URL, parse: (data: unknown) => Profile): Profile {
  try {
    return parse(yamlData(readFileSync(path, "utf8"), yamlParser()));
  } catch (cause) {
    throw new ConfigurationError(
      "INVALID_PROFILE",
      `The profile in '${String(path)}' cannot be used: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** Here and not with an import: most programs have no such file, and these functions cannot wait. */
function yamlParser(): typeof import("yaml") {
  return createRequire(import.meta.url)("yaml") as typeof import("yaml");
}
