/** Formulas in Markdown. */
import { expect, test } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { tokensOf } from "./tokens.ts";

/** All texts between the marks of Markdown, and the kinds of the tokens that they stand in. */
const kindsOf = (text: string): readonly string[] => {
  const kinds = (tokens: readonly { type: string; tokens?: unknown }[]): string[] =>
    tokens.flatMap((token) => [token.type, ...kinds((token.tokens ?? []) as never)]);
  return kinds((tokensOf(text) ?? []) as never);
};

test.each([
  ["$a_1 * b_2 * c$", "$a_1 * b_2 * c$"],
  ["so $$x_i * y_i$$ holds", "$$x_i * y_i$$"],
  ["so \\(a_1 * b_1 * c\\) holds", "\\(a_1 * b_1 * c\\)"],
  ["before\n$$\na\n- b\n= *c*\n$$\nafter", "$$\na\n- b\n= *c*\n$$\n"],
  ["\\[\na * b * c\n\\]\n", "\\[\na * b * c\n\\]\n"],
])("a formula stays as it was written: %s", (text, formula) => {
  const [first, second] = tokensOf(text) ?? [];
  const all = [first, second, ...((first as { tokens?: readonly unknown[] }).tokens ?? [])];
  expect(all).toContainEqual(expect.objectContaining({ type: "math", raw: formula }));
  expect(kindsOf(text)).not.toContain("em");
});

test.each(["It costs $5, and **$6** tomorrow", "US$ or **CA$**", "`$a*b$`", "cash $ and *carry* $"])(
  "an amount of money is no formula: %s",
  (text) => {
    expect(kindsOf(text)).not.toContain("math");
  },
);

test("dollar signs and brackets without an end are read in time", async () => {
  for (const text of [
    "$ ".repeat(25_000),
    "$a".repeat(25_000),
    "\\(a".repeat(15_000),
    "\\[\n".repeat(15_000),
  ])
    await withinCpuLimit(
      "a hostile message of 50,000 characters is read as Markdown",
      () => void tokensOf(text),
    );
});
