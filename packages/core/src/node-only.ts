/** The public names that need Node: files on disk, and commands. */

export { FilesystemBackend } from "./backends/disk/filesystem.ts";
export type { FilesystemBackendOptions } from "./backends/disk/filesystem-options.ts";
export { noteCommand } from "./backends/disk/note-command.ts";
export { CONTROL_NAMES, isControlPath } from "./backends/disk/root/control-files.ts";
export { openUndoTree, type UndoTree, undoTreeName } from "./backends/disk/undo-tree.ts";
export {
  type LangSmithCaptureSnapshotOptions,
  LangSmithSandbox,
  type LangSmithSandboxCreateOptions,
  type LangSmithSandboxOptions,
  type LangSmithSnapshot,
  type LangSmithStartSandboxOptions,
} from "./backends/langsmith/langsmith-sandbox.ts";
export { BaseSandbox, type BaseSandboxOptions } from "./backends/sandbox/base-sandbox.ts";
export {
  type ProgramOptions,
  type ProgramResult,
  runProgramSync,
  type StartOptions as StartProgramOptions,
  startProgram,
} from "./backends/shell/child-process.ts";
export { LocalShellBackend, type LocalShellBackendOptions } from "./backends/shell/local-shell.ts";
export {
  type LongProcess,
  type LongProcessOptions,
  startLongProcess,
} from "./backends/shell/long-process.ts";
export { type OutputPipe, openOutputPipe } from "./backends/shell/output-pipe.ts";
export { type CollectedOutput, OutputRing } from "./backends/shell/output-ring.ts";
export {
  type BegunCommand,
  type CommandExit,
  type CommandLaunch,
  type RunCommandOptions,
  runCommand,
} from "./backends/shell/run-command.ts";
export { type AgentMemoryMiddlewareOptions, createAgentMemoryMiddleware } from "./middleware/agent-memory.ts";
export { createSettings, findProjectRoot, type Settings, type SettingsOptions } from "./node/settings.ts";
export { loadHarnessProfile, loadProviderProfile } from "./profiles/node/load-profile.ts";
export {
  type ListSkillsOptions,
  type LoaderSkillMetadata,
  listSkills,
  parseSkillMetadata,
} from "./skills/node/list-skills.ts";
