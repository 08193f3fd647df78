/** Runs the examples of docs/testing.md, so that the guide cannot say what is not so. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as deepwright from "../index.ts";

const guide = readFileSync(new URL("../../../../docs/testing.md", import.meta.url), "utf8");
const blocks = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code as string);
const [imports = "", ...examples] = blocks;

/** Names that the guide's import lines bring in. */
async function importedNames(): Promise<Map<string, unknown>> {
  const names = new Map<string, unknown>();
  for (const [, list = "", specifier = ""] of imports.matchAll(/import \{ (.*?) \} from "(.*?)";/g)) {
    const module = specifier === "deepwright" ? deepwright : await import(specifier);
    for (const name of list.split(", ")) names.set(name, (module as Record<string, unknown>)[name]);
  }
  return names;
}

const scope = await importedNames();

it("imports only what exists", () => {
  for (const [name, value] of scope) expect(value, name).toBeDefined();
  expect(examples.length).toBeGreaterThanOrEqual(4);
});

describe("the examples of the guide", () => {
  for (const example of examples) new Function(...scope.keys(), example)(...scope.values());
});
