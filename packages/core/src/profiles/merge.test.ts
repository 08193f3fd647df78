import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { createHarnessProfile, EMPTY_HARNESS_PROFILE } from "./create.ts";
import { extraMiddlewareOf, mergeHarnessProfiles } from "./merge.ts";
import type { HarnessProfileOptions } from "./types.ts";

const merged = (under: HarnessProfileOptions, over: HarnessProfileOptions) =>
  mergeHarnessProfiles(createHarnessProfile(under), createHarnessProfile(over));

const FULL: HarnessProfileOptions = {
  baseSystemPrompt: "Base.",
  systemPromptSuffix: "Suffix.",
  toolDescriptionOverrides: { ls: "Lists." },
  excludedTools: ["execute"],
  excludedMiddleware: ["SummarizationMiddleware"],
  generalPurposeSubagent: { enabled: false, description: "Helps." },
};

describe("one profile over another", () => {
  test("unset fields inherit", () => {
    expect(merged(FULL, {})).toEqual(createHarnessProfile(FULL));
    expect(merged({}, FULL)).toEqual(createHarnessProfile(FULL));
    expect(merged({}, {})).toEqual(EMPTY_HARNESS_PROFILE);
  });

  test.each<[string, HarnessProfileOptions, object]>([
    ["the base", { baseSystemPrompt: "Other." }, { baseSystemPrompt: "Other." }],
    ["the suffix by nothing", { systemPromptSuffix: "" }, { systemPromptSuffix: "" }],
    [
      "descriptions by tool",
      { toolDescriptionOverrides: { grep: "Finds." } },
      { toolDescriptionOverrides: { ls: "Lists.", grep: "Finds." } },
    ],
    [
      "the description of a tool",
      { toolDescriptionOverrides: { ls: "Shows." } },
      { toolDescriptionOverrides: { ls: "Shows." } },
    ],
    ["excluded tools add up", { excludedTools: ["ls"] }, { excludedTools: new Set(["execute", "ls"]) }],
    [
      "excluded middleware adds up",
      { excludedMiddleware: ["a"] },
      { excludedMiddleware: new Set(["SummarizationMiddleware", "a"]) },
    ],
    [
      "the subagent by field",
      { generalPurposeSubagent: { enabled: true, name: "helper" } },
      { generalPurposeSubagent: { enabled: true, name: "helper", description: "Helps." } },
    ],
  ])("overrides %s, and nothing else", (_what, over, expected) => {
    expect(merged(FULL, over)).toEqual({ ...createHarnessProfile(FULL), ...expected });
  });

  test("middleware of one name is replaced in its place, in whatever case", () => {
    const [a, b, otherA, c] = ["a", "b", "A", "c"].map((name) => createMiddleware({ name }));
    const both = merged({ extraMiddleware: [a!, b!] }, { extraMiddleware: [otherA!, c!] });
    expect(extraMiddlewareOf(both)).toEqual([otherA, b, c]);
  });

  test("functions that make middleware are called anew for each agent", () => {
    let made = 0;
    const make = () => {
      made += 1;
      return [createMiddleware({ name: "made" })];
    };
    const both = merged({ extraMiddleware: make }, { extraMiddleware: [createMiddleware({ name: "b" })] });
    expect(made).toBe(0);
    const [first, second] = [extraMiddlewareOf(both), extraMiddlewareOf(both)];
    expect(first.map(({ name }) => name)).toEqual(["made", "b"]);
    expect(first[0]).not.toBe(second[0]);
  });
});
