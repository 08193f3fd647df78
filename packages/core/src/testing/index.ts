/** Entry of `deepwright/testing`: a model without a provider, and a checker of requests. */

export type { BackendCase, BackendSuiteOptions, OpenBackend } from "./backend-suite/backend-case.ts";
export { BACKEND_SUITE_SIZE, backendSuite } from "./backend-suite/backend-suite.ts";
export { fault, ProviderError } from "./fault.ts";
export {
  assertValidRequest,
  type CheckOptions,
  checkIds,
  checkRequest,
  checkRequestFor,
  type Provider,
  RequestViolation,
  type Violation,
} from "./request-checker.ts";
export {
  type AnyRequest,
  explainPrefix,
  firstDifference,
  type PrefixDifference,
  prefixShare,
  type RequestPart,
  type RequestRecorder,
  recordRequests,
  requestBytes,
  requestParts,
} from "./request-prefix.ts";
export type { OpenSandbox, SandboxCase, SandboxSuiteOptions } from "./sandbox-suite/sandbox-case.ts";
export { SANDBOX_SUITE_SIZE, sandboxSuite } from "./sandbox-suite/sandbox-suite.ts";
export {
  type RecordedCall,
  type Script,
  type ScriptedCallOptions,
  ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedRequest,
  scriptedModel,
  type TurnFunction,
} from "./scripted-model.ts";
export type { SuiteRunner } from "./suite/suite-runner.ts";
export {
  callTool,
  type Reply,
  type ScriptedCall,
  type ScriptedTurn,
  type StreamCut,
  say,
  type Turn,
} from "./turn.ts";
