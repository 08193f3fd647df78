/** docs/limits.md has a row for each limit of the server, and says its default. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LIMITS } from "../packages/server/src/http/limits/limits.ts";

const page = readFileSync(new URL("../docs/limits.md", import.meta.url), "utf8");

it.each(Object.entries(LIMITS))("limits.%s is on the page, with its default", (name, value) => {
  const row = page.split("\n").find((line) => line.includes(`\`limits.${name}\``));
  expect(row).toBeDefined();
  for (const number of typeof value === "number" ? [value] : Object.values(value))
    expect(spellings(number as number).some((text) => row?.includes(text))).toBe(true);
});

function spellings(number: number): string[] {
  return [number.toLocaleString("en"), `${number / 1_000} s`, `${number / 1024 / 1024} MiB`];
}
