import { expect, test } from "vitest";
import type { RunReport, TrialRecord } from "../runner/trial-record.ts";
import { compareText, worseThan } from "./compare.ts";

/** A report with as many cases as there are shares; each has four trials, of which the share passed. */
function reportOf(shares: readonly number[], model = "openai:a", harness = "deepwright"): RunReport {
  const records = shares.flatMap((share, index) =>
    Array.from({ length: 4 }, (_, trial) => ({
      harness,
      model,
      category: "numbers",
      case: `case-${index}`,
      status: trial < share * 4 ? "passed" : "failed",
    })),
  );
  return {
    version: 1,
    harnesses: [harness],
    models: [model],
    trials: 4,
    complete: true,
    records: records as unknown as TrialRecord[],
  };
}

const good = [1, 1, 1, 1, 1, 1, 1, 1];

test("a live run is worse than its baseline when the difference is shown", () => {
  expect(worseThan(reportOf(good), reportOf([0, 0, 0, 0, 0, 0, 0, 0.5]))).toMatch(
    /openai:a is worse.*-93\.8/,
  );
  expect(worseThan(reportOf(good), reportOf([1, 1, 1, 0.75, 1, 1, 1, 1]))).toBeUndefined();
  expect(worseThan(reportOf([1, 1]), reportOf([0, 0]))).toMatch(
    /2 cases, too few for an interval; p = 0\.00/,
  );
  expect(worseThan(reportOf([1]), reportOf([0.5])), "by chance").toBeUndefined();
});

test("a scripted case that passed in the baseline must not fail", () => {
  const [before, after] = [reportOf(good, "scripted"), reportOf([1, 0, 1, 1, 1, 1, 1, 1], "scripted")];
  expect(worseThan(before, after)).toBe("deepwright fails numbers/case-1, which passed in the baseline.");
  expect(worseThan(after, before)).toBeUndefined();
});

test("a baseline that has nothing to compare is no pass", () => {
  const other = { ...reportOf(good), records: reportOf(good).records.map((one) => ({ ...one, case: "x" })) };
  expect(worseThan(other, reportOf([1]))).toContain("no case of this run");
  const two = reportOf(good, "openai:b");
  expect(worseThan({ ...two, harnesses: ["b", "c"] }, reportOf(good))).toContain("nothing to compare");
});

test("runs of two models are compared, and each case that changed has its confidence", () => {
  const text = compareText(reportOf(good), reportOf([0, 0.75, 1, 1, 1, 1, 1, 1], "openai:b"));
  expect(text).toContain("deepwright · openai:b (B) compared with deepwright · openai:a (A): no difference");
  expect(text).toContain("2 cases changed:");
  expect(text).toMatch(/worse {2}numbers\/case-0 {2}100 % → 0 % {2}\(openai:a; p = 0\.03\)/);
  expect(text).toMatch(/worse {2}numbers\/case-1 {2}100 % → 75 % {2}\(openai:a; p = 1\.00, may be chance\)/);
  expect(compareText(reportOf(good), reportOf(good))).toContain("No case changed.");
});
