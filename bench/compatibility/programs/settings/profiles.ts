/** Harness profiles: made, registered, merged, written down and read again. */
import {
  createHarnessProfile,
  EMPTY_HARNESS_PROFILE,
  generalPurposeSubagentConfigSchema,
  getHarnessProfile,
  harnessProfileConfigSchema,
  parseHarnessProfileConfig,
  REQUIRED_MIDDLEWARE_NAMES,
  registerHarnessProfile,
  serializeProfile,
} from "library";
import { outcome } from "../../kit/look.ts";

export default async function program() {
  const profile = createHarnessProfile({
    systemPromptSuffix: "Be brief.",
    excludedTools: ["execute"],
    toolDescriptionOverrides: { ls: "Lists." },
    generalPurposeSubagent: { enabled: false },
  });
  registerHarnessProfile("acme", { systemPromptSuffix: "Provider.", excludedTools: ["grep"] });
  registerHarnessProfile("acme:small", { baseSystemPrompt: "Model.", excludedTools: ["glob"] });
  registerHarnessProfile("acme:small", { systemPromptSuffix: "Later." });
  const merged = getHarnessProfile("acme:small");
  const provider = getHarnessProfile("acme:large");
  const written = serializeProfile(profile);
  return {
    frozen: [Object.isFrozen(profile), Object.isFrozen(profile.toolDescriptionOverrides)],
    excluded: [...profile.excludedTools],
    empty: serializeProfile(EMPTY_HARNESS_PROFILE),
    merged: merged && [merged.baseSystemPrompt, merged.systemPromptSuffix, [...merged.excludedTools].sort()],
    provider: provider && [provider.systemPromptSuffix, [...provider.excludedTools]],
    unknown: [getHarnessProfile("nobody:x"), getHarnessProfile(""), getHarnessProfile("a:b:c")].map(
      (one) => one === undefined,
    ),
    written,
    readAgain: serializeProfile(parseHarnessProfileConfig(written)),
    required: [...REQUIRED_MIDDLEWARE_NAMES].sort(),
    schema: [
      harnessProfileConfigSchema.safeParse({ excludedTools: ["a"] }).success,
      harnessProfileConfigSchema.safeParse({ typo: 1 }).success,
      generalPurposeSubagentConfigSchema.safeParse({ enabled: true }).success,
    ],
    badKeys: await Promise.all(
      ["", ":", "a:", ":b", "a:b:c"].map((key) => outcome(() => registerHarnessProfile(key, {}))),
    ),
    scaffolding: await outcome(() => createHarnessProfile({ excludedMiddleware: ["FilesystemMiddleware"] })),
    badConfig: await outcome(() => parseHarnessProfileConfig({ excludedTools: "execute" })),
    pollution: await outcome(() => parseHarnessProfileConfig(JSON.parse('{"__proto__": {"x": 1}}'))),
  };
}
