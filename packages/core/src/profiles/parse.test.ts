import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMiddleware } from "langchain";
import { afterAll, describe, expect, test } from "vitest";
import { createHarnessProfile } from "./create.ts";
import { loadHarnessProfile, loadProviderProfile } from "./node/load-profile.ts";
import {
  generalPurposeSubagentConfigSchema,
  harnessProfileConfigSchema,
  parseHarnessProfileConfig,
  parseHarnessProfileYaml,
  parseProviderProfileConfig,
  serializeProfile,
} from "./parse.ts";
import type { HarnessProfileOptions } from "./types.ts";

const YAML = `# For one provider.
base_system_prompt: "Work."
system_prompt_suffix: 回复简洁。
tool_description_overrides:
  my_tool: Does it.
excluded_tools:
  - execute
  - grep
excludedMiddleware: [SummarizationMiddleware]
general_purpose_subagent:
  enabled: false
  system_prompt: |
    Help.
`;

const MEANT: HarnessProfileOptions = {
  baseSystemPrompt: "Work.",
  systemPromptSuffix: "回复简洁。",
  toolDescriptionOverrides: { my_tool: "Does it." },
  excludedTools: ["execute", "grep"],
  excludedMiddleware: ["SummarizationMiddleware"],
  generalPurposeSubagent: { enabled: false, systemPrompt: "Help.\n" },
};
const PROFILE = createHarnessProfile(MEANT);

const refused = (message: RegExp) =>
  expect.objectContaining({ code: "INVALID_PROFILE", message: expect.stringMatching(message) });

describe("a profile as data", () => {
  test("keys may be written in either way; names of tools stay as they are", () => {
    const snake = {
      base_system_prompt: "Work.",
      system_prompt_suffix: "回复简洁。",
      tool_description_overrides: { my_tool: "Does it." },
      excluded_tools: ["execute", "grep"],
      excluded_middleware: ["SummarizationMiddleware"],
      general_purpose_subagent: { enabled: false, system_prompt: "Help.\n" },
    };
    for (const data of [MEANT, snake, JSON.stringify(snake), JSON.stringify(MEANT)])
      expect(parseHarnessProfileConfig(data)).toEqual(PROFILE);
  });

  test("comes from YAML text", async () => {
    await expect(parseHarnessProfileYaml(YAML)).resolves.toEqual(PROFILE);
    await expect(parseHarnessProfileYaml(JSON.stringify(MEANT))).resolves.toEqual(PROFILE);
  });

  test("goes out and comes back the same", () => {
    expect(parseHarnessProfileConfig(serializeProfile(PROFILE))).toEqual(PROFILE);
    expect(JSON.parse(JSON.stringify(serializeProfile(PROFILE)))).toEqual(MEANT);
    expect(serializeProfile(createHarnessProfile())).toEqual({});
    expect(harnessProfileConfigSchema.parse(serializeProfile(PROFILE))).toEqual(MEANT);
    expect(generalPurposeSubagentConfigSchema.parse({ enabled: true })).toEqual({ enabled: true });
  });

  test.each<[string, unknown, RegExp]>([
    ["an unknown key", { excluded_tool: [] }, /no field 'excludedTool'.*excludedTools/],
    ["an unknown key further in", { generalPurposeSubagent: { on: 1 } }, /no field 'on'.*enabled/],
    ["one key in two spellings", { excludedTools: [], excluded_tools: [] }, /'excludedTools' in two spell/],
    ["middleware", { extra_middleware: [] }, /is code/],
    ["a wrong kind", { excludedTools: "execute" }, /'excludedTools'.*not valid/],
    ["a number for a description", { tool_description_overrides: { ls: 1 } }, /toolDescriptionOverrides\.ls/],
    ["what cannot be excluded", { excluded_middleware: ["SubAgentMiddleware"] }, /cannot exclude/],
    ["a list", [], /must be an object/],
    ["nothing", null, /must be an object/],
    ["YAML as text", "excluded_tools:\n  - ls", /must be JSON.*parseHarnessProfileYaml/],
    ["a prototype", JSON.parse('{"__proto__": {"excludedTools": []}}'), /no field '__proto__'/],
  ])("%s is refused", (_what, data, message) => {
    expect(() => parseHarnessProfileConfig(data)).toThrow(refused(message));
  });

  test("null means absent", () => {
    expect(parseHarnessProfileConfig({ excluded_tools: null, systemPromptSuffix: "Be brief." })).toEqual(
      createHarnessProfile({ systemPromptSuffix: "Be brief." }),
    );
  });

  test.each<[string, string]>([
    ["no YAML", "a: [1"],
    ["a key twice", "excluded_tools: []\nexcluded_tools: []"],
    [
      "a bomb of aliases",
      `a: &a [x]\n${"b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"}c: [*b,*b,*b,*b,*b,*b,*b,*b,*b]`,
    ],
    ["a list deep enough to break a parser", "[".repeat(50_000)],
  ])("%s is refused", async (_what, text) => {
    await expect(parseHarnessProfileYaml(text)).rejects.toThrow(
      expect.objectContaining({ code: "INVALID_PROFILE" }),
    );
  });

  test("middleware cannot be written down", () => {
    const middleware = createMiddleware({ name: "extra" });
    for (const extraMiddleware of [[middleware], () => [middleware]])
      expect(() => serializeProfile(createHarnessProfile({ extraMiddleware }))).toThrow(refused(/is code/));
  });
});

describe("a profile in a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "deepwright-profiles-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test("may be YAML or JSON", () => {
    expect(loadHarnessProfile(file("a.yaml", YAML))).toEqual(PROFILE);
    expect(loadHarnessProfile(file("a.json", JSON.stringify(MEANT)))).toEqual(PROFILE);
    expect(loadProviderProfile(file("p.yaml", "init_kwargs:\n  temperature: 0\n"))).toEqual({
      initOptions: { temperature: 0 },
    });
  });

  test("that cannot be used is named", () => {
    for (const path of [file("bad.yaml", "nothing: true"), join(folder, "missing.yaml")])
      expect(() => loadHarnessProfile(path)).toThrow(
        expect.objectContaining({ code: "INVALID_PROFILE", message: expect.stringContaining(path) }),
      );
  });
});

describe("a provider profile as data", () => {
  test.each(["initOptions", "initKwargs", "init_kwargs", "init_options"])("%s holds its options", (key) => {
    expect(parseProviderProfileConfig({ [key]: { reasoning_effort: "low" } })).toEqual({
      initOptions: { reasoning_effort: "low" },
    });
  });

  test.each([
    [{ temperature: 0 }],
    [{ initOptions: 3 }],
    [{ initOptions: {}, init_kwargs: {} }],
    [null],
    ["x"],
  ])("%j is refused", (data) => {
    expect(() => parseProviderProfileConfig(data)).toThrow(refused(/./));
  });
});
