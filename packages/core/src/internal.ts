/**
 * Names that the other packages of this repository use. They are not public: any release may change or remove them.
 * Programs import from `deepwright`.
 */

export { systemCode } from "./backends/disk/file-errors.ts";
export { recordedCommand, snapshotsOf } from "./backends/disk/note-command.ts";
export { CONTROL_NAMES, isControlPath } from "./backends/disk/root/control-files.ts";
export { type PathLockOptions, withPathLock } from "./backends/disk/root/path-locks.ts";
export { type CopyTreeOptions, copyTree } from "./backends/disk/snapshots/copy-tree.ts";
export { DirectorySnapshots } from "./backends/disk/snapshots/directory-snapshots.ts";
export {
  type EntrySet,
  PLACES,
  pathsOfSet,
  type SnapshotLog,
  snapshotLogOf,
} from "./backends/disk/snapshots/snapshot-log.ts";
export { isKeyFile, whyNotKept } from "./backends/disk/snapshots/snapshot-policy.ts";
export { sameBytes, sameEntry, type TreeEntry } from "./backends/disk/snapshots/tree-entry.ts";
export { type FoundEntry, RESTORED_MODE, WorkTree } from "./backends/disk/snapshots/work-tree.ts";
export { openUndoTree, type UndoTree, undoTreeName } from "./backends/disk/undo-tree.ts";
export { countOpenSandbox, openSandboxCounts } from "./backends/sandbox/open-sandboxes.ts";
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
export type { ImageAuthor, StoredImageRow } from "./backends/undo-log.ts";
export { withMembers } from "./backends/with-members.ts";
export { costOf, priceOf } from "./budget/prices.ts";
export { limitsOfRun, RUN_BUDGET_KEY } from "./budget/run-budget.ts";
export { windowOf } from "./context/tokens/known-windows.ts";
export { putInOrder } from "./engine/engine-checkpoints.ts";
export { CallListener, type CallMetadata, messageOfReply } from "./loop/task/call-listener.ts";
export type { ClaimingSaver, ClaimRequest, ThreadClaim, ThreadClaimOptions } from "./loop/task/claim.ts";
export { SUBAGENT_CONTROL_CONFIG_KEY, SubagentControl } from "./loop/task/subagent-control.ts";
export { type MailboxMessage, mailMessage } from "./subagents/async/mailbox.ts";
export { checkAsyncGraphs } from "./subagents/async/remote-tasks.ts";
export { tellsEnds as tellsAsyncTaskEnds } from "./subagents/async/tell-completion.ts";
export type { AsyncCall, AsyncReport, AsyncRun } from "./subagents/async/transport.ts";
export type { UntrustedSources } from "./subagents/defaults.ts";
export { estimateTokens } from "./tokens.ts";
