import { tool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AnyTool } from "../providers/any-tool.ts";
import { isExcluded, shapedTools, toolName, UNSHAPED } from "./tool-shape.ts";

const one = tool(({ n }) => `one ${n}`, {
  name: "one",
  description: "One.",
  schema: z.object({ n: z.number() }),
});
const two = { type: "function", function: { name: "two", description: "Two.", parameters: {} } };
const anthropic = { name: "three", description: "Three.", input_schema: { type: "object" } };
const search = { type: "web_search_20250305", name: "web_search" };
const tools = [one, two, anthropic, search] as unknown as readonly AnyTool[];

const shaped = (excluded: readonly string[], descriptions: Record<string, string> = {}) =>
  shapedTools(tools, { excluded: new Set(excluded), descriptions });

describe("tools for a model", () => {
  test("are the very list where nothing of it changes", () => {
    expect(shapedTools(tools, UNSHAPED)).toBe(tools);
    expect(shaped(["nobody"], { nobody: "x", one: "One." })).toBe(tools);
  });

  test.each([
    ["one", [two, anthropic, search]],
    ["two", [one, anthropic, search]],
    ["three", [one, two, search]],
    ["web_search", [one, two, anthropic]],
    ["web_search_20250305", [one, two, anthropic]],
  ])("leave %s out", (name, left) => {
    expect(shaped([name])).toEqual(left);
    expect(
      tools.filter((given) => isExcluded(given, { excluded: new Set([name]), descriptions: {} })),
    ).toHaveLength(1);
  });

  test("have other words, each in the form it had", () => {
    const [first, second, third] = shaped([], { one: "1", two: "2", three: "3" }) as unknown[];
    expect(convertToOpenAITool(first as never).function.description).toBe("1");
    expect(second).toEqual({ ...two, function: { ...two.function, description: "2" } });
    expect(third).toEqual({ ...anthropic, description: "3" });
    expect([one.description, two.function.description, anthropic.description]).toEqual([
      "One.",
      "Two.",
      "Three.",
    ]);
  });

  test("with other words are one object per wording, and the tool in all else", async () => {
    const [copy] = shaped([], { one: "1" }) as [typeof one];
    expect(shaped([], { one: "1" })[0]).toBe(copy);
    expect(shaped([], { one: "another" })[0]).not.toBe(copy);
    expect(copy).toBeInstanceOf(one.constructor);
    expect(copy.schema).toBe(one.schema);
    expect("returnDirect" in copy).toBe("returnDirect" in one);
    expect({ ...copy }).toMatchObject({ name: "one", description: "1" });
    expect(Object.keys(copy)).toEqual(Object.keys(one));
    expect(copy.invoke).toBe(copy.invoke);
    await expect(copy.invoke({ n: 3 })).resolves.toBe("one 3");
  });

  test("a name that only prototypes have is no description", () => {
    const odd = { name: "toString", description: "Odd." } as unknown as AnyTool;
    expect(shapedTools([odd], { excluded: new Set(["x"]), descriptions: {} })[0]).toBe(odd);
    expect(toolName({ type: "web_search" })).toBe("");
  });
});
