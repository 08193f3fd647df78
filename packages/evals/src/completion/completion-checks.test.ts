import { expect, test } from "vitest";
import { deepwrightHarness } from "../harness/deepwright-harness.ts";
import { scriptedSource } from "../runner/model-source.ts";
import { runEvals } from "../runner/run-evals.ts";
import { checkedHarness } from "./checked-harness.ts";
import { COMPLETION_SUITE } from "./completion-suite.ts";

test("completion checks get work done that a model calls done too early, and call nothing done that is not", async () => {
  const { records } = await runEvals({
    suites: [COMPLETION_SUITE],
    harnesses: [deepwrightHarness({ retryWait: "none" }), checkedHarness()],
    models: [scriptedSource],
  });
  const solvedBy = (name: string) =>
    records.filter(({ harness, status }) => harness === name && status === "passed").map((each) => each.case);
  expect(solvedBy("deepwright")).toEqual(["careful-model-needs-no-check"]);
  const all = COMPLETION_SUITE.cases.map(({ id }) => id);
  expect(solvedBy("deepwright with checks")).toEqual(all.filter((id) => id !== "weak-check-proves-little"));
});
