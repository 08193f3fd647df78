import { expect, test } from "vitest";
import { fileOperations } from "../cases/file-operations.ts";
import { toolUse } from "../cases/tool-use.ts";
import { defineCase, type EvalCase } from "../format/eval-case.ts";
import { deepwrightHarness } from "../harness/deepwright-harness.ts";
import type { HarnessSetup } from "../harness/harness.ts";
import { say } from "../policies/plan.ts";
import { answerContains } from "../verifiers/answer-verifiers.ts";
import { scriptedSource } from "./model-source.ts";
import { runEvals } from "./run-evals.ts";

const harnesses = [deepwrightHarness({ retryWait: "none" })];
const models = [scriptedSource];

const good = defineCase({
  id: "says-hello",
  task: "Say hello.",
  limits: { modelCalls: 2 },
  verify: [answerContains("hello")],
  script: { policy: "careful", plan: [say("Hello!")] },
});

test("a case whose result is right passes, and its record has usage and trace", async () => {
  const { records, complete } = await runEvals({ suites: [fileOperations], harnesses, models });
  expect(complete).toBe(true);
  expect(records[0]).toMatchObject({ status: "passed", usage: { modelCalls: 3, invalidRequests: 0 } });
  expect(records[0]?.trace.map(({ kind }) => kind)).toEqual([
    "user",
    "reply",
    "result",
    "reply",
    "result",
    "reply",
  ]);
});

test.each<[string, Partial<EvalCase>, string]>([
  ["no verifier", { verify: [] }, "no verifier"],
  ["no budget", { limits: {} as never }, "no budget"],
  ["an unknown tool", { builtInTools: ["read_flie"] }, "unknown built-in tool 'read_flie'"],
  ["an unknown field", { taks: "x" } as never, "unknown field 'taks'"],
])("a case with %s is refused before the model is asked", async (_, change, problem) => {
  let opened = 0;
  const counted = {
    ...scriptedSource,
    open: (...given: Parameters<typeof scriptedSource.open>) => {
      opened += 1;
      return scriptedSource.open(...given);
    },
  };
  const suites = [{ category: "own", cases: [good, { ...good, id: "bad", ...change }] }];
  await expect(runEvals({ suites, harnesses, models: [counted] })).rejects.toThrow(`own/bad: ${problem}`);
  expect(opened).toBe(0);
});

test("a budget ends a run, and its records are not played again when it is continued", async () => {
  const suites = [{ category: "own", cases: ["a", "b", "c"].map((id) => ({ ...good, id })) }];
  const plan = { suites, harnesses, models };
  const stopped = await runEvals({ ...plan, budget: { tokens: 1 } });
  expect(stopped).toMatchObject({ complete: false, stopReason: "the budget of 1 tokens is used up" });
  expect(stopped.records.map((record) => record.case)).toEqual(["a"]);
  const played: string[] = [];
  const whole = await runEvals({
    ...plan,
    done: stopped.records,
    onRecord: (record, { done, of }) => played.push(`${record.case} ${done}/${of}`),
  });
  expect(played).toEqual(["b 2/3", "c 3/3"]);
  expect(whole).toMatchObject({ complete: true, records: [{ case: "a" }, { case: "b" }, { case: "c" }] });
});

test("trials run at once up to the limit, and the report is the same as one by one", async () => {
  let [open, most] = [0, 0];
  const counting = {
    name: "counting",
    create: async (setup: HarnessSetup) => {
      open += 1;
      most = Math.max(most, open);
      return harnesses[0]!.create(setup);
    },
    close: async () => {
      open -= 1;
    },
  };
  const run = async (parallel: number) => {
    const { records } = await runEvals({ suites: [toolUse], harnesses: [counting], models, parallel });
    return records.map((record) => JSON.stringify({ ...record, times: undefined }));
  };
  const one = await run(1);
  expect(most).toBe(1);
  expect(await run(3)).toEqual(one);
  expect(most).toBe(3);
});
