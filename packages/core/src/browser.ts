/** The public names that work in any runtime; this file and all it imports use no Node module. */

export { createDeepAgent, DeepAgent } from "./agent.ts";
export type {
  AgentInput,
  AgentResult,
  CreateDeepAgentParams,
  RunOptions,
  StreamOptions,
} from "./agent-types.ts";
export {
  type AnyBackendProtocol,
  type AnySandboxProtocol,
  adaptBackendProtocol,
  adaptSandboxProtocol,
  type BackendProtocolV1,
  type SandboxBackendProtocolV1,
} from "./backends/adapt.ts";
export type * from "./backends/backend.ts";
export type {
  BackendProtocol as BackendProtocolV2,
  BackendRuntime as StateAndStore,
  SandboxBackendProtocol as SandboxBackendProtocolV2,
  TransferErrorCode as FileOperationError,
} from "./backends/backend.ts";
export { CompositeBackend } from "./backends/composite.ts";
export type { FetchedFile, FilePrimitives, ListOptions, PutOptions } from "./backends/file-primitives.ts";
export { filesValue } from "./backends/files-value.ts";
export { applyGrepMaxCount } from "./backends/grep-cap.ts";
export { isSandboxBackend, isSandboxProtocol } from "./backends/is-sandbox.ts";
export { MapBackend } from "./backends/map.ts";
export {
  type AuditEvent,
  PolicyBackend,
  type PolicyCheck,
  type PolicyOperation,
  type PolicyOptions,
} from "./backends/policy.ts";
export { type PreviewBackend, type PreviewChange, previewBackend } from "./backends/preview.ts";
export { backendFromPrimitives } from "./backends/primitive-backend.ts";
export { resolveBackend } from "./backends/resolve.ts";
export { StateBackend } from "./backends/state.ts";
export { StoreBackend, type StoreBackendOptions } from "./backends/store.ts";
export type { FileStoreAbilities } from "./backends/store-files.ts";
export type { StoreBackendContext, StoreBackendNamespaceFactory } from "./backends/store-namespace.ts";
export type { ConsolidateOptions, ConsolidationReport } from "./consolidation/consolidate.ts";
export {
  type ConsolidationAgent,
  type ConsolidationAgentOptions,
  createConsolidationAgent,
} from "./consolidation/consolidation-agent.ts";
export type * from "./consolidation/conversations.ts";
export type { MemoryFileChange } from "./consolidation/memory-changes.ts";
export { CONSOLIDATION_PROMPT } from "./consolidation/words.ts";
export type { ContextSize } from "./context/budget.ts";
export type { AgentDescription } from "./describe.ts";
export {
  ConfigurationError,
  DeepwrightError,
  type ErrorCode,
  type ErrorCode as ConfigurationErrorCode,
  type SandboxErrorCode,
} from "./errors.ts";
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
export { isMediaReference, type MediaReference } from "./loop/request-media-block.ts";
export {
  createFilesystemMiddleware,
  EXECUTION_SYSTEM_PROMPT,
  FILESYSTEM_TOOL_NAMES,
  type FilesystemMiddlewareOptions,
  type FsToolName,
} from "./middleware/filesystem.ts";
export { createMemoryMiddleware, type MemoryMiddlewareOptions } from "./middleware/memory.ts";
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
export { createTodoListMiddleware } from "./middleware/todo-list.ts";
export type { PromptParts as SystemPromptConfig } from "./options.ts";
export { type CanonicalPath, type CanonicalPathOptions, canonicalPath, isWithin } from "./paths.ts";
export { BASE_AGENT_PROMPT } from "./prompts.ts";
export { SandboxError } from "./sandbox-error.ts";
export {
  MAX_SKILL_DESCRIPTION_LENGTH,
  MAX_SKILL_FILE_SIZE,
  MAX_SKILL_NAME_LENGTH,
  type SkillMetadata,
  type SkillWarning,
  type SkillWarningCode,
} from "./skills/skill-metadata.ts";
export { type SkillMetadataEntry, skillsMetadataValue } from "./skills/skills-value.ts";
export { normalizeReadPagination } from "./text/page.ts";
export type { Todo } from "./tools/write-todos.ts";
