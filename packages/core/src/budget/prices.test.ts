import { expect, test } from "vitest";
import { costOf, MODEL_PRICES, priceOf } from "./prices.ts";

test.each([
  ["claude-sonnet-4-6", "claude-sonnet-4-6"],
  ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
  ["claude-sonnet-4-20250514", "claude-sonnet-4"],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
  ["anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"],
  ["claude-haiku-4-5@20251001", "claude-haiku-4-5"],
  ["claude-3-5-haiku-latest", "claude-3-5-haiku"],
  ["gpt-5", "gpt-5"],
  ["gpt-5-2025-08-07", "gpt-5"],
  ["gpt-5-mini", "gpt-5-mini"],
  ["gpt-5.1-codex", "gpt-5.1-codex"],
  ["openai/gpt-4.1-mini", "gpt-4.1-mini"],
  ["o3", "o3"],
  ["models/gemini-2.5-pro", "gemini-2.5-pro"],
  ["gemini-3-pro-preview", "gemini-3-pro"],
  ["zai-org/GLM-5", "glm-5"],
])("%s has the price of %s", (name, key) => {
  expect(priceOf(name)).toBe(MODEL_PRICES[key]);
});

test.each(["", "gpt-6", "gpt-5-huge", "my-deployment", "claude-sonnet-5", "proto3", "gpt-4.1-mini:free"])(
  "%j has no known price",
  (name) => {
    expect(priceOf(name)).toBeUndefined();
  },
);

test("a stated price counts before the built-in one, under any spelling of the name", () => {
  const mine = { input: 1, output: 2 };
  expect(priceOf("gpt-5", { "gpt-5": mine })).toBe(mine);
  expect(priceOf("openai/gpt-5-2025-08-07", { "gpt-5": mine })).toBe(mine);
  expect(priceOf("my-deployment", { "my-deployment": mine })).toBe(mine);
  expect(priceOf("gpt-5-mini", { "gpt-5": mine })).toBe(MODEL_PRICES["gpt-5-mini"]);
});

test("each part of a request has its own price", () => {
  const price = { input: 10, output: 100, cacheRead: 1, cacheWrite: 20 };
  const tokens = { input: 1000, output: 10, cacheRead: 700, cacheWrite: 200 };
  expect(costOf(tokens, price)).toBeCloseTo((100 * 10 + 700 * 1 + 200 * 20 + 10 * 100) / 1e6, 12);
  expect(costOf(tokens, { input: 10, output: 100 })).toBeCloseTo((1000 * 10 + 10 * 100) / 1e6, 12);
});

test("a long request is dearer as a whole where the provider says so", () => {
  const price = { input: 1, output: 10, above: { inputTokens: 200_000, input: 2, output: 20 } };
  const request = { output: 100, cacheRead: 0, cacheWrite: 0 };
  expect(costOf({ ...request, input: 200_000 }, price)).toBeCloseTo(0.201, 12);
  expect(costOf({ ...request, input: 200_001 }, price)).toBeCloseTo((400_002 + 2000) / 1e6, 12);
});

test("no model of the table is free, and reading from a cache never costs more than reading", () => {
  for (const [name, { input, output, cacheRead = input }] of Object.entries(MODEL_PRICES)) {
    expect(Math.min(input, output, cacheRead), name).toBeGreaterThan(0);
    expect(cacheRead, name).toBeLessThanOrEqual(input);
  }
});
