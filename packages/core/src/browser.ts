/** The public names that work in any runtime; this file and all it imports use no Node module. */

export { createDeepAgent, DeepAgent } from "./agent.ts";
export type {
  AgentInput,
  AgentResult,
  CreateDeepAgentParams,
  RunOptions,
  StreamOptions,
} from "./agent-types.ts";
export type {
  AnyBackendProtocol,
  AnySandboxProtocol,
  BackendProtocolV1,
  SandboxBackendProtocolV1,
} from "./backends/adapt/adapt.ts";
export { adaptBackendProtocol, adaptSandboxProtocol } from "./backends/adapt/adapt-protocol.ts";
export { applyGrepMaxCount } from "./backends/adapt/grep-cap.ts";
export type * from "./backends/backend.ts";
export type {
  BackendProtocol as BackendProtocolV2,
  BackendRuntime as StateAndStore,
  SandboxBackendProtocol as SandboxBackendProtocolV2,
  TransferErrorCode as FileOperationError,
} from "./backends/backend.ts";
export { CompositeBackend } from "./backends/composite/composite.ts";
export { MapBackend } from "./backends/file-map/map-backend.ts";
export { isSandboxBackend, isSandboxProtocol } from "./backends/is-sandbox.ts";
export { ContextHubBackend, type ContextHubBackendOptions } from "./backends/langsmith/context-hub.ts";
export { type OpenCheck, withOpenCheck } from "./backends/open-check.ts";
export { type PreviewBackend, type PreviewChange, previewBackend } from "./backends/preview/preview.ts";
export type {
  FetchedFile,
  FilePrimitives,
  ListOptions,
  PutOptions,
} from "./backends/primitives/file-primitives.ts";
export { backendFromPrimitives } from "./backends/primitives/primitive-backend.ts";
export { resolveBackend } from "./backends/resolve.ts";
export { SandboxError } from "./backends/sandbox-error.ts";
export { filesValue } from "./backends/state/files-value.ts";
export { StateBackend } from "./backends/state/state.ts";
export { StoreBackend, type StoreBackendOptions } from "./backends/store/store.ts";
export type { StoreBackendContext, StoreBackendNamespaceFactory } from "./backends/store/store-namespace.ts";
export type { Budget } from "./budget/limits.ts";
export { MODEL_PRICES, type ModelPrice, type ModelPrices } from "./budget/prices.ts";
export type { Check as TodoCheck, CheckedTodo } from "./checks/check.ts";
export type { ContextSize } from "./context/tokens/budget.ts";
export { createSubAgent, createSubAgentMiddleware, type SubAgentMiddlewareOptions } from "./delegation.ts";
export type { AgentDescription } from "./describe.ts";
export {
  ConfigurationError,
  DeepwrightError,
  type ErrorCode,
  type ErrorCode as ConfigurationErrorCode,
  type SandboxErrorCode,
} from "./errors.ts";
export {
  listApprovals,
  type RememberedApproval,
  revokeApproval,
} from "./loop/approval-rules/approval-memory.ts";
export type {
  ActionRequest,
  ApprovalRequest,
  Decision,
  DecisionType,
  InterruptOn,
  InterruptOnConfig,
  RememberScope,
  WhenPredicate,
  WhenRequest,
} from "./loop/approval-rules/approval-policy.ts";
export { ModelError } from "./loop/failures/model-error.ts";
export type { FailureKind, ModelFailure } from "./loop/failures/model-failure.ts";
export type { Outcome, OutcomeKind } from "./loop/messages/outcome.ts";
export type { AgentUsage, RunUsage, Usage } from "./loop/messages/run-usage.ts";
export type { ModelFallback } from "./loop/model/model-fallback.ts";
export type { ModelRetry } from "./loop/model/model-retry.ts";
export { loadChatModel } from "./loop/providers/load-model.ts";
export {
  type AsyncSubAgentMiddlewareOptions,
  createAsyncSubAgentMiddleware,
} from "./middleware/async-subagents.ts";
export {
  type CompletionCallbackOptions,
  createCompletionCallbackMiddleware,
} from "./middleware/completion-callback.ts";
export {
  createFilesystemMiddleware,
  EXECUTION_SYSTEM_PROMPT,
  type FilesystemMiddlewareOptions,
  type FsToolName,
} from "./middleware/filesystem.ts";
export {
  createLoopDetectionMiddleware,
  type LoopDetectionMiddlewareOptions,
} from "./middleware/loop-detection.ts";
export { createMemoryMiddleware, type MemoryMiddlewareOptions } from "./middleware/memory.ts";
export {
  createModelFallbackMiddleware,
  type ModelFallbackMiddleware,
  type ModelFallbackMiddlewareOptions,
} from "./middleware/model-fallback.ts";
export {
  createModelRetryMiddleware,
  type ModelRetryMiddleware,
  type ModelRetryMiddlewareOptions,
} from "./middleware/model-retry.ts";
export { createPatchToolCallsMiddleware } from "./middleware/patch-tool-calls.ts";
export {
  createPromptCachingMiddleware,
  type PromptCachingMiddlewareOptions,
} from "./middleware/prompt-caching.ts";
export { createSkillsMiddleware, type SkillsMiddlewareOptions } from "./middleware/skills.ts";
export {
  computeSummarizationDefaults,
  createSummarizationMiddleware,
  type SummarizationDefaults,
  type SummarizationMiddlewareOptions,
  type TruncateArgsSettings,
} from "./middleware/summarization.ts";
export { createSummarizationToolMiddleware } from "./middleware/summarization-tool.ts";
export { createTodoListMiddleware, type TodoListMiddlewareOptions } from "./middleware/todo-list.ts";
export type { PromptParts as SystemPromptConfig } from "./options.ts";
export { type CanonicalPath, type CanonicalPathOptions, canonicalPath, isWithin } from "./paths.ts";
export { guardBackend } from "./permissions/guard.ts";
export {
  type AuditEvent,
  PolicyBackend,
  type PolicyCheck,
  type PolicyOperation,
  type PolicyOptions,
} from "./permissions/policy/policy.ts";
export {
  explainPermission,
  type FilesystemOperation,
  type FilesystemPermission,
  type PermissionExplanation,
  type PermissionList,
  type PermissionMode,
} from "./permissions/rules.ts";
export { type PermissionWarning, permissionWarnings } from "./permissions/warnings.ts";
export { createHarnessProfile, EMPTY_HARNESS_PROFILE } from "./profiles/create.ts";
export {
  generalPurposeSubagentConfigSchema,
  type HarnessProfileConfigData,
  harnessProfileConfigSchema,
  parseHarnessProfileConfig,
  parseHarnessProfileYaml,
  serializeProfile,
} from "./profiles/parse.ts";
export { registerProviderProfile } from "./profiles/provider.ts";
export { registerHarnessProfile } from "./profiles/registry.ts";
export { getHarnessProfile } from "./profiles/resolve.ts";
export {
  type GeneralPurposeSubagentConfig,
  type HarnessProfile,
  type HarnessProfileOptions,
  type ProviderProfile,
  REQUIRED_MIDDLEWARE_NAMES,
} from "./profiles/types.ts";
export { BASE_AGENT_PROMPT } from "./prompts.ts";
export {
  MAX_SKILL_DESCRIPTION_LENGTH,
  MAX_SKILL_FILE_SIZE,
  MAX_SKILL_NAME_LENGTH,
  type SkillMetadata,
  type SkillWarning,
  type SkillWarningCode,
} from "./skills/skill-metadata.ts";
export { type SkillMetadataEntry, skillsMetadataValue } from "./skills/skills-value.ts";
export type { DeepAgentRunStream, StreamPart, SubagentRunStream } from "./stream-types.ts";
export type { AsyncTask, AsyncTaskStatus, AsyncTasks } from "./subagents/async/async-task.ts";
export {
  type BackgroundTasks,
  backgroundTasks,
  reportOf as asyncTaskReport,
} from "./subagents/async/background-tasks.ts";
export {
  type BackgroundGraph,
  type GraphSource,
  type GraphSources,
  registerGraph,
} from "./subagents/async/graphs.ts";
export { ASYNC_TASK_HOST_CONFIG_KEY, type AsyncTaskHost } from "./subagents/async/host.ts";
export type { Mailbox } from "./subagents/async/mailbox.ts";
export { endOf as asyncTaskEnd } from "./subagents/async/open-tasks.ts";
export { remoteTasksOf as remoteAsyncTasks } from "./subagents/async/remote-tasks.ts";
export { isTaskNews as isAsyncTaskNews } from "./subagents/async/take-mail.ts";
export { tellEnd as tellAsyncTaskEnd } from "./subagents/async/tell-completion.ts";
export type { AsyncTransport } from "./subagents/async/transport.ts";
export { ASYNC_TASK_SYSTEM_PROMPT } from "./subagents/async/words.ts";
export {
  type A2aSubAgent,
  type AnySubAgent,
  type AsyncSubAgent,
  type CompiledSubAgent,
  type ForkedSubAgent,
  isAsyncSubAgent,
  type SubAgent,
} from "./subagents/spec.ts";
export {
  DEFAULT_GENERAL_PURPOSE_DESCRIPTION,
  DEFAULT_SUBAGENT_PROMPT,
  GENERAL_PURPOSE_SUBAGENT,
  SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY,
  TASK_SYSTEM_PROMPT,
} from "./subagents/words.ts";
export { normalizeReadPagination } from "./text/page.ts";
export { type ToolEffect, toolEffect } from "./tools/tool-effect.ts";
export type { Todo } from "./tools/write-todos.ts";
