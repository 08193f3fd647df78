/** Durable threads. SQLite and Postgres are in `@deepwright/checkpoint/sqlite` and `/postgres`. */

export type { ClaimOptions, ThreadClaim } from "./saver/claim.ts";
export { READ_LIMIT_KEY, type ReadLimit } from "./saver/reading/read-limit.ts";
export { SharedMemorySaver } from "./saver/shared-memory-saver.ts";
export { SharedSaver } from "./saver/shared-saver.ts";
export type {
  ImageRow,
  PruneResult,
  StorageCounts,
  ThreadFacts,
  ThreadSize,
  ThreadStorage,
} from "./storage/storage.ts";
export { type ConversationScope, conversationsOf } from "./threads/conversations.ts";
export { type CopyProgress, type CopyResult, copyThreads } from "./threads/copy-threads.ts";
export { changeBetween } from "./threads/file-changes.ts";
export { fileContent } from "./threads/file-content.ts";
export { removeStaleCopies } from "./threads/forks/directory-copy.ts";
export type {
  AdoptOptions,
  ComparedThread,
  Fork,
  ForkCheck,
  ForkOptions,
  ForkReport,
} from "./threads/forks/fork-types.ts";
export { adoptFork, compareThreads, forkThread } from "./threads/forks/forks.ts";
export { type FileImage, listImages, recordImage, type StoredImage } from "./threads/images.ts";
export { openThreads } from "./threads/open-threads.ts";
export { type RecordedCall, recordedCalls, type UsedByRun } from "./threads/recorded-calls.ts";
export type {
  BisectChange,
  BisectOptions,
  BisectResult,
  BisectTest,
  Blame,
  BlameAuthor,
  BlameLine,
  DiffRange,
  FileChange,
  NotCovered,
  PlacedChange,
  PruneOptions,
  RestorePart,
  RestoreResult,
  RewindConflict,
  RewindOptions,
  RewindResult,
  ThreadDetails,
  ThreadPage,
  ThreadStep,
  Threads,
} from "./threads/threads.ts";
