import { tool } from "@langchain/core/tools";
import { expect, test } from "vitest";
import { z } from "zod";
import { createCatalogue, type ServerTools } from "./catalogue.ts";
import { offeredTools } from "./offered-tool.ts";

function serverTools(server: string, ...names: string[]): ServerTools {
  const listed = names.map((name) => ({ name, inputSchema: { type: "object", properties: {} } }));
  const offered = offeredTools(server, listed, () => {});
  const tools = offered.map(({ name }) =>
    tool(() => server, { name, description: name, schema: z.object({}) }),
  );
  return { server, offered, tools: tools as never };
}

test("TR-06 of tools of two servers that would have one name none is offered, and it is told once", () => {
  const doubled: unknown[] = [];
  const catalogue = createCatalogue((...told) => doubled.push(told));
  catalogue.put(serverTools("a", "b__c", "z", "a"));
  catalogue.put(serverTools("a__b", "c"));
  expect(catalogue.current().tools.map(({ name }) => name)).toEqual(["mcp__a__a", "mcp__a__z"]);
  catalogue.put(serverTools("other", "d"));
  expect(catalogue.current().tools).toHaveLength(3);
  expect(doubled).toEqual([["mcp__a__b__c", ["a", "a__b"]]]);
});

test("a snapshot stays what it was while servers change, and equal ones are the same", () => {
  const catalogue = createCatalogue(() => {});
  catalogue.put(serverTools("s", "a"));
  const before = catalogue.current();
  catalogue.put(serverTools("s", "a", "b"));
  expect(catalogue.current().tools).toHaveLength(2);
  expect(catalogue.of(before.version)).toBe(before);
  expect(catalogue.of("of another process")).toBe(catalogue.current());
  catalogue.put(serverTools("s", "a"));
  expect(catalogue.current()).toBe(before);
});
