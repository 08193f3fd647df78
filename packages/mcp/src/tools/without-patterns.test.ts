import { describe, expect, test } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { langchainTools } from "./langchain-tools.ts";
import { checkedTool } from "./offered-tool.ts";
import { withoutPatterns } from "./without-patterns.ts";

describe("a pattern of a server", () => {
  test("TR-06 is words for the model, and is not run on what the model sends", async () => {
    const property = { type: "string", description: "What to look for.", pattern: "^(a+)+$" };
    const inputSchema = { type: "object", properties: { q: property }, required: ["q"] };
    const checked = checkedTool("evil", { name: "look", inputSchema });
    if (!("tool" in checked)) throw new Error(checked.refused);
    expect(checked.tool.inputSchema.properties).toEqual({
      q: { type: "string", description: "What to look for. Must match: ^(a+)+$" },
    });
    const connection = {
      call: async () => ({ content: [{ type: "text", text: "called" }] }),
      read: async () => ({}),
    };
    const [tool] = await langchainTools("evil", [checked.tool], connection as never, false);
    const answer = await withinCpuLimit("an MCP call with a hostile pattern in its schemas", () =>
      tool?.invoke({ q: `${"a".repeat(32)}!` }),
    );
    expect(answer).toContain("called");
  });

  test("is found wherever it stands", () => {
    const pattern = "^x$";
    const text = JSON.stringify(
      withoutPatterns({
        type: "object",
        properties: { a: { items: { pattern } }, b: { anyOf: [{ pattern }, { type: "null" }] } },
        propertyNames: { pattern },
        additionalProperties: { pattern },
        $defs: { c: { prefixItems: [{ pattern }] } },
      }),
    );
    expect(text).not.toContain('"pattern"');
  });

  test("that was all that allowed a name does not leave it forbidden", () => {
    expect(
      withoutPatterns({ type: "object", patternProperties: { "^x-": {} }, additionalProperties: false }),
    ).toEqual({ type: "object" });
    expect(
      withoutPatterns({
        not: { pattern: "a" },
        if: { pattern: "b" },
        else: false,
        contains: { pattern: "c" },
      }),
    ).toEqual({});
    expect(withoutPatterns({ oneOf: [{ pattern: "a" }, { type: "null" }] })).toEqual({
      allOf: [{ anyOf: [{ description: "Must match: a" }, { type: "null" }] }],
    });
  });
});

test("an argument that is called pattern, and data with such a name, stay as they are", () => {
  const schema = {
    type: "object",
    properties: { pattern: { type: "string" }, patternProperties: { type: "object" }, not: { const: 1 } },
    required: ["pattern"],
    default: { pattern: "*.ts" },
    oneOf: [{ type: "object" }],
  };
  expect(withoutPatterns(schema)).toBe(schema);
});
