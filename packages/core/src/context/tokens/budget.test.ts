import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { budgetFor, type ContextSize, isReached, sizeOf, sizesOf, summaryAllowance } from "./budget.ts";

describe("sizes", () => {
  it.each<[ContextSize, object]>([
    [{ fraction: 0.5 }, { fraction: 0.5 }],
    [{ tokens: 5 }, { tokens: 5 }],
    [
      { messages: 5, tokens: 9 },
      { messages: 5, tokens: 9 },
    ],
    [{ type: "messages", value: 3 }, { messages: 3 }],
    [["tokens", 100], { tokens: 100 }],
  ])("%j is taken", (given, expected) => expect(sizeOf(given, "keep")).toEqual(expected));

  it.each([
    [{}],
    [{ fraction: 2 }],
    [{ tokens: 0 }],
    [["bytes", 3]],
    [{ type: "x", value: 1 }],
    ["big"],
    [{ tokens: Number.NaN }],
  ])("%j is refused with the name of the option", (given) =>
    expect(() => sizeOf(given as never, "keep")).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining("'keep'") }),
    ),
  );

  it("a pair is one size, a list are several", () => {
    expect(sizesOf(["fraction", 0.5], "trigger")).toEqual([{ fraction: 0.5 }]);
    expect(sizesOf([{ tokens: 5 }, ["messages", 7]], "trigger")).toEqual([{ tokens: 5 }, { messages: 7 }]);
  });

  it("of several sizes any is enough, of one with two members both are needed", () => {
    const measure = { tokens: 100, messages: 10 };
    expect(isReached([{ tokens: 200 }, { messages: 10 }], measure, undefined)).toBe(true);
    expect(isReached([{ tokens: 200, messages: 10 }], measure, undefined)).toBe(false);
    expect(isReached([{ tokens: 100, messages: 10 }], measure, undefined)).toBe(true);
    expect(isReached([{ fraction: 0.5 }], measure, 200)).toBe(true);
    expect(isReached([{ fraction: 0.5 }], measure, 201)).toBe(true);
    expect(isReached([{ fraction: 0.5 }], measure, 202)).toBe(false);
    expect(isReached([], measure, 1)).toBe(false);
  });
});

describe("budgets", () => {
  it("of an unknown window are those of 170,000 tokens and six messages", () => {
    const budget = budgetFor({
      triggers: [{ fraction: 0.85 }],
      keep: undefined,
      window: undefined,
      fixed: 2000,
    });
    expect(budget.threshold).toBe(170_000);
    expect(budget.keepMessages).toBe(6);
  });

  it("of a known window are 85 % and 10 % of it", () => {
    const budget = budgetFor({ triggers: [{ fraction: 0.85 }], keep: undefined, window: 8000, fixed: 2000 });
    expect(budget).toMatchObject({ threshold: 6800, keepTokens: 800, keepMessages: Infinity });
  });

  it("give the messages room where prompt and tools take nearly all", () => {
    const budget = budgetFor({ triggers: [{ fraction: 0.85 }], keep: undefined, window: 8000, fixed: 6700 });
    expect(budget).toMatchObject({ threshold: 7600, usable: 900 });
  });

  it("always leave more than summary and tail take, in a window that holds more than prompt and tools", () => {
    const cases = fc.record({
      window: fc.integer({ min: 2000, max: 2_000_000 }),
      share: fc.double({ min: 0, max: 0.7, noNaN: true }),
      fraction: fc.double({ min: 0.5, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(cases, ({ window, share, fraction }) => {
        const fixed = Math.floor(window * share);
        const budget = budgetFor({ triggers: [{ fraction }], keep: undefined, window, fixed });
        expect(budget.threshold).toBeLessThanOrEqual(window);
        if (budget.usable > 1000)
          expect(fixed + summaryAllowance(budget) + budget.keepTokens).toBeLessThan(budget.threshold);
      }),
    );
  });
});
