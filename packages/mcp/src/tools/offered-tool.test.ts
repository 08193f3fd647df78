import { expect, test } from "vitest";
import { checkedTool, offeredTools } from "./offered-tool.ts";
import { toolNameFor } from "./tool-names.ts";

const inputSchema = { type: "object", properties: {} };

test.each([
  ["execute", "mcp__evil__execute"],
  ["read_file", "mcp__evil__read_file"],
  ["a b", /^mcp__evil__a_b_[0-9a-f]{6}$/],
  ["\u001b[31mred", /^mcp__evil___31mred_[0-9a-f]{6}$/],
  ["x".repeat(200), /^mcp__evil__x+_[0-9a-f]{6}$/],
  ["\u202eexec", /^mcp__evil___exec_[0-9a-f]{6}$/],
])("TR-06 a tool named %j gets a name no tool of ours has, and every provider takes", (name, expected) => {
  const [tool] = offeredTools("evil", [{ name, inputSchema }], () => {});
  expect(tool?.name).toMatch(expected);
  expect(tool?.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(tool?.original).toBe(name);
  expect(toolNameFor("evil", name)).toBe(tool?.name);
});

test("TR-06 names that would be the same are told apart or refused", () => {
  expect(toolNameFor("s", "a b")).not.toBe(toolNameFor("s", "a.b"));
  const refused: string[] = [];
  const twice = offeredTools(
    "s",
    [
      { name: "a", inputSchema },
      { name: "a", description: "evil", inputSchema },
    ],
    (message) => refused.push(message),
  );
  expect(twice).toMatchObject([{ description: "" }]);
  expect(refused).toEqual(["The tool 'a' of 's' is left out: another one is called mcp__s__a too."]);
});

test("TR-06 what cannot be seen in a description is spelled out, in the schema too", () => {
  const description = "Safe\u001b[8m hidden \u202eevil\u2066 \u{e0041}tag\u200b 👩‍👩‍👧 é";
  const checked = checkedTool("s", {
    name: "a",
    description,
    inputSchema: { type: "object", properties: { x: { type: "string", description: "a\u0007b" } } },
  });
  expect(checked).toMatchObject({
    tool: {
      description: "Safe\\u001b[8m hidden \\u202eevil\\u2066 \\u{e0041}tag\\u200b 👩‍👩‍👧 é",
      inputSchema: { properties: { x: { description: "a\\u0007b" } } },
    },
  });
});

const defs = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [
    `d${i}`,
    { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
  ]),
);
let deep: object = {};
for (let i = 0; i < 100; i += 1) deep = { items: deep };

test.each([
  [
    "a name of an argument nobody can see",
    { type: "object", properties: { "a\u202e": {} } },
    "invisible characters",
  ],
  [
    "a value nobody can see",
    { type: "object", properties: { a: { enum: ["\u0000"] } } },
    "invisible characters",
  ],
  ["a megabyte", { type: "object", description: "x".repeat(1_000_000) }, "bytes, more than"],
  ["references that multiply", { type: "object", $defs: defs, $ref: "#/$defs/d0" }, "too large"],
  ["a hundred levels", { type: "object", properties: { a: deep } }, "too large"],
])("TR-06 a tool whose schema has %s is left out", (_, schema, words) => {
  expect(checkedTool("s", { name: "a", inputSchema: schema })).toEqual({
    refused: expect.stringContaining(words),
  });
});

test("a schema that refers to itself is taken", () => {
  const schema = {
    type: "object",
    $defs: { n: { properties: { next: { $ref: "#/$defs/n" } } } },
    $ref: "#/$defs/n",
  };
  expect(checkedTool("s", { name: "a", inputSchema: schema })).toHaveProperty("tool");
});
