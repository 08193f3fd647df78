/** The public names that work in any runtime; this file and all it imports use no Node module. */

export { createDeepAgent, DeepAgent } from "./agent.ts";
export type {
  AgentInput,
  AgentResult,
  CreateDeepAgentParams,
  RunOptions,
  StreamOptions,
} from "./agent-types.ts";
export type * from "./backends/backend.ts";
export type {
  BackendProtocol as AnyBackendProtocol,
  BackendProtocol as BackendProtocolV2,
  BackendRuntime as StateAndStore,
} from "./backends/backend.ts";
export { filesValue } from "./backends/files-value.ts";
export { resolveBackend } from "./backends/resolve.ts";
export { StateBackend } from "./backends/state.ts";
export type { AgentDescription } from "./describe.ts";
export { ConfigurationError, DeepwrightError, type ErrorCode } from "./errors.ts";
export type { StreamPart } from "./loop/agent-graph.ts";
export type {
  ActionRequest,
  ApprovalRequest,
  Decision,
  DecisionType,
  InterruptOn,
  InterruptOnConfig,
} from "./loop/approval-policy.ts";
export type { ClaimingSaver, ClaimRequest, ThreadClaim, ThreadClaimOptions } from "./loop/claim.ts";
export type { Outcome, OutcomeKind } from "./loop/outcome.ts";
export {
  createFilesystemMiddleware,
  FILESYSTEM_TOOL_NAMES,
  type FsToolName,
} from "./middleware/filesystem.ts";
export { createPatchToolCallsMiddleware } from "./middleware/patch-tool-calls.ts";
export { createTodoListMiddleware } from "./middleware/todo-list.ts";
export type { PromptParts as SystemPromptConfig } from "./options.ts";
export { BASE_AGENT_PROMPT } from "./prompts.ts";
export { normalizeReadPagination } from "./text/page.ts";
export type { Todo } from "./tools/write-todos.ts";
