import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { after, durationMs, every, signalAfter, stopwatch } from "./duration.ts";

const MONTH_MS = 30 * 86_400_000;

describe("an option", () => {
  test.each([
    [15, { unit: "seconds" }, 15_000],
    [0.5, { unit: "seconds" }, 500],
    [3e9, { unit: "milliseconds" }, 3e9],
    [1e9, { unit: "seconds" }, 1e12],
    [2, { unit: "minutes" }, 120_000],
    [0, { unit: "seconds", zero: true }, 0],
    [Number.POSITIVE_INFINITY, { unit: "seconds", unlimited: true }, Number.POSITIVE_INFINITY],
    [86_400, { unit: "seconds", most: 86_400 }, 86_400_000],
  ] as const)("%d with %j is %d milliseconds", (value, rules, milliseconds) => {
    expect(durationMs("each", value, rules)).toBe(milliseconds);
  });

  test.each([
    [Number.NaN, { unit: "seconds", unlimited: true, zero: true }],
    [Number.POSITIVE_INFINITY, { unit: "seconds" }],
    [Number.NEGATIVE_INFINITY, { unit: "seconds", unlimited: true }],
    [-1, { unit: "seconds", zero: true }],
    [0, { unit: "seconds" }],
    [1e300, { unit: "seconds" }],
    [86_401, { unit: "seconds", most: 86_400 }],
    ["30", { unit: "seconds" }],
    [null, { unit: "seconds" }],
    [undefined, { unit: "seconds" }],
    [30n, { unit: "seconds" }],
    [new Date(30), { unit: "seconds" }],
  ] as const)("%s with %j is refused by its name", (value, rules) => {
    expect(() => durationMs("claimTtl", value, rules)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining("'claimTtl'") }),
    );
  });
});

describe("a timer", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("longer than Node's own fires when it is due, and once", () => {
    const act = vi.fn();
    after(3 * MONTH_MS, act);
    vi.advanceTimersByTime(3 * MONTH_MS - 1);
    expect(act).not.toHaveBeenCalled();
    vi.advanceTimersByTime(3 * MONTH_MS);
    expect(act).toHaveBeenCalledTimes(1);
  });

  test("that was stopped does not fire, however long it was", () => {
    const act = vi.fn();
    const stop = after(2 * MONTH_MS, act);
    vi.advanceTimersByTime(MONTH_MS);
    stop();
    vi.advanceTimersByTime(12 * MONTH_MS);
    expect(act).not.toHaveBeenCalled();
  });

  test("without end is none", () => {
    after(Number.POSITIVE_INFINITY, () => {});
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that repeats does so after each of its times, until it is stopped", () => {
    const act = vi.fn();
    const stop = every(MONTH_MS, act);
    vi.advanceTimersByTime(2 * MONTH_MS);
    expect(act).toHaveBeenCalledTimes(2);
    stop();
    vi.advanceTimersByTime(2 * MONTH_MS);
    expect(act).toHaveBeenCalledTimes(2);
  });

  test("can be stopped by what it calls", () => {
    const act = vi.fn(() => stop());
    const stop = every(10, act);
    vi.advanceTimersByTime(100);
    expect(act).toHaveBeenCalledTimes(1);
  });

  test("that counts up goes on when the clock is set back, and counts what the machine slept", () => {
    const since = stopwatch();
    vi.setSystemTime(Date.now() - MONTH_MS);
    vi.advanceTimersByTime(1_000);
    expect(since()).toBe(1_000);
    vi.setSystemTime(Date.now() + 2 * MONTH_MS);
    expect(since()).toBe(MONTH_MS + 1_000);
  });

  test("of a signal may be longer than Node's, and has the name of Node's", () => {
    const signal = signalAfter(MONTH_MS);
    vi.advanceTimersByTime(MONTH_MS - 1);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });
});
