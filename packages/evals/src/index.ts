/** The public names of `@deepwright/evals`. */
export { BUILT_IN_SUITES } from "./cases/index.ts";
export { type Cassette, cassetteText, parseCassette } from "./cassette/cassette.ts";
export type { Played, TapeFault } from "./cassette/play-tape.ts";
export { recordCase } from "./cassette/record-case.ts";
export {
  CassetteDivergence,
  type CassetteOptions,
  cassetteOf,
  type ReplayOptions,
  replayCassette,
} from "./cassette/record-cassette.ts";
export { testFileOf } from "./cassette/test-file.ts";
export { checkedHarness } from "./completion/checked-harness.ts";
export { COMPLETION_SUITE } from "./completion/completion-suite.ts";
export type { CaseTool, JsonSchema, World } from "./format/case-tool.ts";
export { checkSuites, problemsOfCase } from "./format/check-case.ts";
export {
  type ApprovalRule,
  type CaseFault,
  type CaseLimits,
  type CaseSubagent,
  defineCase,
  type EvalCase,
  type HarnessBudget,
  type PathRule,
  type Script,
  type Suite,
} from "./format/eval-case.ts";
export { EvalsError } from "./format/evals-error.ts";
export { type ImportModule, loadSuites } from "./format/load-suite.ts";
export type { TaskFiles } from "./formats/harbor-environment.ts";
export { type HarborTask, readHarborTask } from "./formats/harbor-task.ts";
export { casesFromJsonl } from "./formats/import-jsonl.ts";
export { type HarborEnd, type RunHarborOptions, runHarborTask } from "./formats/run-harbor.ts";
export {
  type DeepwrightHarnessOptions,
  deepwrightHarness,
  interruptOn,
  subagent,
} from "./harness/deepwright-harness.ts";
export { FEATURES, type Feature } from "./harness/feature-switches.ts";
export type { Harness, HarnessAgent, HarnessSetup } from "./harness/harness.ts";
export { type Behaviour, POLICIES, type PolicyName } from "./policies/behaviours.ts";
export {
  type Action,
  call,
  delegate,
  edit,
  note,
  type Plan,
  read,
  type Step,
  say,
  structured,
  tell,
  together,
  write,
} from "./policies/plan.ts";
export { type ChangedCase, changedCases, compareText, worseThan } from "./report/compare.ts";
export { featureHarnesses, featureTable } from "./report/feature-table.ts";
export { htmlOf } from "./report/html.ts";
export { junitOf } from "./report/junit.ts";
export { readReport } from "./report/read-report.ts";
export { bootstrap, type Interval, pairedDifference } from "./report/statistics.ts";
export { tableOf } from "./report/table.ts";
export { runInSandbox } from "./runner/command-runner.ts";
export { Journal, planHash } from "./runner/journal.ts";
export { liveSource, type ModelSource, scriptedSource, type TrialModel } from "./runner/model-source.ts";
export {
  checkPlan,
  keyOf,
  type Progress,
  type RunBudget,
  type RunEvalsOptions,
  runEvals,
} from "./runner/run-evals.ts";
export type {
  RunReport,
  TraceStep,
  TrialRecord,
  TrialStatus,
  TrialUsage,
  VerdictRecord,
} from "./runner/trial-record.ts";
export type { CallTokens, Priced } from "./runner/usage-meter.ts";
export {
  answerContains,
  answerLacks,
  answerNumber,
  mostModelCalls,
  stateIs,
  structuredIs,
  verify,
  worldIs,
} from "./verifiers/answer-verifiers.ts";
export {
  type CallCount,
  called,
  calledInOrder,
  notCalled,
  onlyCalled,
} from "./verifiers/call-verifiers.ts";
export { type CommandExpectation, commandExits } from "./verifiers/command-verifier.ts";
export { fileContains, fileEquals, fileLacks, fileMissing, onlyChanged } from "./verifiers/file-verifiers.ts";
export { judged } from "./verifiers/judge-verifier.ts";
export {
  type CallRecord,
  type CommandEnd,
  failed,
  PASSED,
  type TrialOutput,
  type Verdict,
  type Verifier,
  type VerifierTools,
} from "./verifiers/verifier.ts";
