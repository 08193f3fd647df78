/** What `deepwright/testing` offers: a model without a provider, and a checker of requests. */
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
  type RecordedCall,
  type Script,
  type ScriptedCallOptions,
  ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedRequest,
  scriptedModel,
  type TurnFunction,
} from "./scripted-model.ts";
export {
  callTool,
  type Reply,
  type ScriptedCall,
  type ScriptedTurn,
  type StreamCut,
  say,
  type Turn,
} from "./turn.ts";
