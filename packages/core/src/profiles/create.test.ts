import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { createHarnessProfile, EMPTY_HARNESS_PROFILE } from "./create.ts";
import { REQUIRED_MIDDLEWARE_NAMES } from "./types.ts";

const refused = (message: RegExp) =>
  expect.objectContaining({
    name: "ConfigurationError",
    code: "INVALID_PROFILE",
    message: expect.stringMatching(message),
  });

describe("createHarnessProfile(options)", () => {
  test("of nothing says nothing", () => {
    for (const profile of [createHarnessProfile(), createHarnessProfile({}), EMPTY_HARNESS_PROFILE])
      expect(profile).toEqual({
        baseSystemPrompt: undefined,
        systemPromptSuffix: undefined,
        toolDescriptionOverrides: {},
        excludedTools: new Set(),
        excludedMiddleware: new Set(),
        extraMiddleware: [],
        generalPurposeSubagent: undefined,
      });
  });

  test("keeps what it was given, and nobody can change it afterwards", () => {
    const excludedTools = ["execute"];
    const toolDescriptionOverrides = { ls: "Lists." };
    const profile = createHarnessProfile({
      baseSystemPrompt: "",
      systemPromptSuffix: "Be brief.",
      toolDescriptionOverrides,
      excludedTools,
      excludedMiddleware: new Set(["SummarizationMiddleware"]),
      generalPurposeSubagent: { enabled: false, name: "helper" },
    });
    excludedTools.push("ls");
    toolDescriptionOverrides.ls = "Changed.";
    expect(profile.excludedTools).toEqual(new Set(["execute"]));
    expect(profile.toolDescriptionOverrides).toEqual({ ls: "Lists." });
    expect(profile.baseSystemPrompt).toBe("");
    expect(profile.generalPurposeSubagent).toEqual({ enabled: false, name: "helper" });
    for (const frozen of [profile, profile.toolDescriptionOverrides, profile.generalPurposeSubagent])
      expect(Object.isFrozen(frozen)).toBe(true);
  });

  test("takes a finished profile, and null for absent", () => {
    const profile = createHarnessProfile({ systemPromptSuffix: "Be brief.", excludedTools: ["ls"] });
    expect(createHarnessProfile(profile)).toEqual(profile);
    const nothing = Object.fromEntries(Object.keys(EMPTY_HARNESS_PROFILE).map((key) => [key, null]));
    expect(createHarnessProfile(nothing)).toEqual(EMPTY_HARNESS_PROFILE);
  });

  test.each([...REQUIRED_MIDDLEWARE_NAMES, "subAgentMiddleware", "filesystemmiddleware"])(
    "does not exclude %s",
    (name) => {
      expect(() => createHarnessProfile({ excludedMiddleware: [name] })).toThrow(
        refused(new RegExp(`cannot exclude.*'${name}'`)),
      );
    },
  );

  test.each<[string, object, RegExp]>([
    ["an unknown field", { exludedTools: [] }, /no field 'exludedTools'.*excludedTools/],
    ["a list", [], /must be an object/],
    ["a prompt that is no text", { baseSystemPrompt: 3 }, /'baseSystemPrompt' must be text/],
    ["tools as one string", { excludedTools: "ls" }, /'excludedTools' must be a list of names/],
    ["a tool without a name", { excludedTools: [" "] }, /'excludedTools' must be a list of names/],
    ["middleware by number", { excludedMiddleware: [1] }, /'excludedMiddleware' must be a list/],
    ["a description that is no text", { toolDescriptionOverrides: { ls: 1 } }, /toolDescriptionOverrides/],
    ["middleware without a name", { extraMiddleware: [{}] }, /extraMiddleware/],
    ["an unknown field further in", { generalPurposeSubagent: { on: true } }, /no field 'on'.*enabled/],
    ["a subagent that is a word", { generalPurposeSubagent: "off" }, /must be an object/],
    ["enabled as a word", { generalPurposeSubagent: { enabled: "no" } }, /'enabled' must be true or false/],
    ["an empty name", { generalPurposeSubagent: { name: "" } }, /name of the general-purpose/],
  ])("%s is refused", (_what, options, message) => {
    expect(() => createHarnessProfile(options)).toThrow(refused(message));
  });

  test("middleware may be a list or a function that makes one", () => {
    const list = [createMiddleware({ name: "extra" })];
    expect(createHarnessProfile({ extraMiddleware: list }).extraMiddleware).toEqual(list);
    const make = () => list;
    expect(createHarnessProfile({ extraMiddleware: make }).extraMiddleware).toBe(make);
  });
});
