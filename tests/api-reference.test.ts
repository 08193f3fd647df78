import { readFileSync } from "node:fs";
import { routes } from "@deepwright/protocol";
import { expect, test } from "vitest";
import { apiReference } from "../scripts/api-reference.ts";

test("docs/api.md is what the schemas say; `npm run docs:api` writes it", () => {
  expect(readFileSync("docs/api.md", "utf8")).toBe(apiReference());
});

test("every route is in it", () => {
  const text = apiReference();
  for (const { name } of routes) expect(text).toContain(`\`${name}\``);
});

test("every place the reference links to is in it", () => {
  const text = apiReference();
  const headings = [...text.matchAll(/^#{2,3} (.+)$/gm)].map(([, title]) => title?.toLowerCase());
  for (const [, place] of text.matchAll(/\]\(#([^)]+)\)/g)) expect(headings).toContain(place);
});
