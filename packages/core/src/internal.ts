/**
 * Names that the other packages of this repository use. They are not public: any release may change or remove them.
 * Programs import from `deepwright`.
 */

export { noteCommand } from "./backends/disk/note-command.ts";
export { CONTROL_NAMES, isControlPath } from "./backends/disk/root/control-files.ts";
export { openUndoTree, type UndoTree, undoTreeName } from "./backends/disk/undo-tree.ts";
export {
  type ProgramOptions,
  type ProgramResult,
  runProgramSync,
  type StartOptions as StartProgramOptions,
  startProgram,
} from "./backends/shell/child-process.ts";
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
export type { FileStoreAbilities } from "./backends/store/store-files.ts";
export { withMembers } from "./backends/with-members.ts";
export { putInOrder } from "./engine/engine-checkpoints.ts";
export type { ClaimingSaver, ClaimRequest, ThreadClaim, ThreadClaimOptions } from "./loop/task/claim.ts";
export { type MailboxMessage, mailMessage } from "./subagents/async/mailbox.ts";
export { checkAsyncGraphs } from "./subagents/async/remote-tasks.ts";
export { tellsEnds as tellsAsyncTaskEnds } from "./subagents/async/tell-completion.ts";
export type { AsyncCall, AsyncReport, AsyncRun } from "./subagents/async/transport.ts";
export type { UntrustedSources } from "./subagents/defaults.ts";
export { estimateTokens } from "./tokens.ts";
