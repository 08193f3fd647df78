import { emptyScreen, foldEvents } from "@deepwright/protocol";
import { expect, test } from "vitest";
import { budgetLeft, spendingOf, usageSince } from "./spending.ts";

const reply = (id: string, model: string | undefined, input: number, cached: number, place = "") => ({
  event: `updates${place}`,
  data: {
    model_request: {
      messages: [
        {
          type: "ai",
          id,
          content: "x",
          response_metadata: model === undefined ? {} : { model_name: model },
          usage_metadata: {
            input_tokens: input,
            output_tokens: 5,
            total_tokens: input + 5,
            input_token_details: { cache_read: cached },
          },
        },
      ],
    },
  },
});

test("tokens are summed by agent and model, with those from the cache", () => {
  const screen = foldEvents(emptyScreen, [
    reply("a", "big", 100, 0),
    reply("b", "big", 200, 150),
    reply("c", undefined, 10, 0),
    reply("d", "small", 50, 20, "|tools:1"),
  ]);
  expect(spendingOf(screen, "other")).toEqual([
    { agent: "agent", model: "big", usage: { input: 300, output: 10, total: 310, cached: 150 } },
    { agent: "agent", model: "other", usage: { input: 10, output: 5, total: 15 } },
    { agent: "subagent", model: "small", usage: { input: 50, output: 5, total: 55, cached: 20 } },
  ]);
  expect(screen.usage.cached).toBe(170);
  expect(usageSince(screen.usage, { input: 300, output: 10, total: 310, cached: 150 })).toEqual({
    input: 60,
    output: 10,
    total: 70,
    cached: 20,
  });
});

test.each([
  [{}, { tokens: 5, cost: 1 }, undefined],
  [{ maxCost: 2 }, { tokens: 5, cost: 0.5 }, "$1.50 of $2 left"],
  [{ maxCost: 2 }, { tokens: 5, cost: undefined }, "≤ $2 a run"],
  [{ maxTokens: 50_000 }, { tokens: 20_000, cost: undefined }, "30.0k of 50.0k tokens left"],
  [{ maxTokens: 100 }, { tokens: 200, cost: undefined }, "0 of 100 tokens left"],
])("of the budget %o with %o used the status line says %s", (budget, used, words) => {
  expect(budgetLeft(budget, used)).toBe(words);
});
