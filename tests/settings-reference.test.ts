import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PAGES } from "../scripts/settings-reference.ts";

test.each(Object.entries(PAGES))(
  "%s is what the schema says; `npm run docs:settings` writes it",
  (path, text) => {
    expect(readFileSync(path, "utf8")).toBe(text());
  },
);
