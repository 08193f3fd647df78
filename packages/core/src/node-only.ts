/** The public names that need Node: files on disk, and commands. */

export { FilesystemBackend } from "./backends/disk/filesystem.ts";
export type { FilesystemBackendOptions } from "./backends/disk/filesystem-options.ts";
export {
  type LangSmithCaptureSnapshotOptions,
  LangSmithSandbox,
  type LangSmithSandboxCreateOptions,
  type LangSmithSandboxOptions,
  type LangSmithSnapshot,
  type LangSmithStartSandboxOptions,
} from "./backends/langsmith/langsmith-sandbox.ts";
export { BaseSandbox, type BaseSandboxOptions } from "./backends/sandbox/base-sandbox.ts";
export { LocalShellBackend, type LocalShellBackendOptions } from "./backends/shell/local-shell.ts";
export { type AgentMemoryMiddlewareOptions, createAgentMemoryMiddleware } from "./middleware/agent-memory.ts";
export { createSettings, findProjectRoot, type Settings, type SettingsOptions } from "./node/settings.ts";
export { loadHarnessProfile, loadProviderProfile } from "./profiles/node/load-profile.ts";
export {
  type ListSkillsOptions,
  type LoaderSkillMetadata,
  listSkills,
  parseSkillMetadata,
} from "./skills/node/list-skills.ts";
