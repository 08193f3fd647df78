import { RunnableLambda } from "@langchain/core/runnables";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { createSubAgentMiddleware } from "../delegation.ts";
import { ConfigurationError } from "../errors.ts";
import { say, scriptedModel } from "../testing/index.ts";
import { isAsyncSubAgent } from "./spec.ts";

const base = { name: "a", description: "Does a." };
const build = (...subagents: unknown[]) =>
  createDeepAgent({ model: scriptedModel([say("done")]), subagents: subagents as never });

function errorOf(body: () => unknown): ConfigurationError {
  try {
    body();
  } catch (error) {
    return error as ConfigurationError;
  }
  throw new Error("nothing was thrown");
}

describe("a subagent that cannot be used is refused when the agent is made", () => {
  test.each<[string, unknown[], string, RegExp]>([
    ["no object", ["a"], "INVALID_OPTION", /subagents\[0\] is not a subagent/],
    ["no name", [{ description: "x" }], "INVALID_OPTION", /subagents\[0\] needs a name/],
    ["no description", [{ name: "a" }], "INVALID_OPTION", /'a' needs a description/],
    ["two of one name", [base, base], "DUPLICATE_SUBAGENT", /the name 'a'/],
    ["an unknown option", [{ ...base, prompt: "x" }], "UNKNOWN_OPTION", /'a' has no option 'prompt'/],
    ["an unknown mode", [{ ...base, mode: "clone" }], "INVALID_OPTION", /"isolated" or "fork"/],
    ["tools that are no list", [{ ...base, tools: {} }], "INVALID_OPTION", /'tools' of the subagent 'a'/],
    ["returns that are no list", [{ ...base, returns: "x" }], "INVALID_OPTION", /'returns' of/],
    ["a fork with skills", [{ ...base, mode: "fork", skills: ["/s"] }], "INVALID_OPTION", /is a fork/],
    ["a fork with permissions", [{ ...base, mode: "fork", permissions: [] }], "INVALID_OPTION", /is a fork/],
    ["a runnable that is none", [{ ...base, runnable: {} }], "INVALID_OPTION", /no 'invoke'/],
    ["an empty description", [{ ...base, description: " " }], "INVALID_OPTION", /'a' needs a description/],
    ["spaces around the name", [{ ...base, name: "a " }], "INVALID_OPTION", /'a ' of a subagent has spaces/],
    [
      "a prompt that is no text",
      [{ ...base, systemPrompt: 5 }],
      "INVALID_OPTION",
      /'systemPrompt' of .* 'a'/,
    ],
    ["a model that is none", [{ ...base, model: {} }], "INVALID_OPTION", /'model' of the subagent 'a'/],
    ["an empty model", [{ ...base, model: "" }], "INVALID_OPTION", /'model' of the subagent 'a'/],
    [
      "a tool that is none",
      [{ ...base, tools: ["search"] }],
      "INVALID_OPTION",
      /'tools' of the subagent 'a'/,
    ],
    ["a middleware that is none", [{ ...base, middleware: [null] }], "INVALID_OPTION", /'middleware' of/],
    ["a format that is none", [{ ...base, responseFormat: "json" }], "INVALID_OPTION", /'responseFormat' of/],
    [
      "a slip in interruptOn",
      [{ ...base, interruptOn: { ls: { allowedDecision: ["approve"] } } }],
      "INVALID_OPTION",
      /'a': interruptOn for 'ls' has an unknown key/,
    ],
    [
      "a slip in the budget",
      [{ ...base, budget: { maxToken: 5 } }],
      "UNKNOWN_OPTION",
      /'a': budget has no option/,
    ],
    ["a fork with a budget", [{ ...base, mode: "fork", budget: {} }], "INVALID_OPTION", /is a fork/],
    [
      "an async one with the name of another",
      [base, { ...base, graphId: "g" }],
      "DUPLICATE_SUBAGENT",
      /Two subagents have the name 'a'/,
    ],
    [
      "an async one with a slip",
      [{ ...base, graphId: "g", uri: "https://agents.example" }],
      "UNKNOWN_OPTION",
      /The async subagent 'a' has no option 'uri'/,
    ],
  ])("%s", (_, subagents, code, words) => {
    const error = errorOf(() => build(...subagents));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(words);
  });

  test("null means absent", () => {
    const given = { ...base, tools: null, model: null, middleware: null, skills: null, returns: null };
    expect(
      build(given)
        .describe()
        .subagents.map(({ name }) => name),
    ).toEqual(["general-purpose", "a"]);
  });
});

test("an async one takes no part in task", () => {
  const error = errorOf(() => createSubAgentMiddleware({ subagents: [{ ...base, graphId: "g" }] as never }));
  expect(error).toMatchObject({
    code: "NOT_SUPPORTED",
    message: expect.stringContaining("does not take part"),
  });
});

test("an async subagent is known by its graphId", () => {
  expect(isAsyncSubAgent({ ...base, graphId: "g" })).toBe(true);
  expect(isAsyncSubAgent(base)).toBe(false);
  expect(isAsyncSubAgent({ ...base, runnable: RunnableLambda.from(() => "x") })).toBe(false);
});
