/** Forks of a thread: a thread of its own that works on a copy of a directory. */
import type { ThreadClaim } from "../../saver/claim.ts";
import type { FileChange, NotCovered } from "../threads.ts";

export interface ForkOptions {
  /** The directory that is copied. It is only read. */
  readonly root: string;
  /** The step to fork from. Default: the newest. */
  readonly step?: number | string | undefined;
  /** The id of the new thread. Default: a random one. */
  readonly as?: string | undefined;
  /** The directory that copies are put in. Default: the one for temporary files. */
  readonly copiesIn?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A check command that ran in the copy after the fork's work. */
export interface ForkCheck {
  readonly command: string;
  readonly exitCode: number | null;
  readonly output: string;
}

/** Facts about a fork's runs from the caller, all optional. `compareThreads` shows them. */
export interface ForkReport {
  readonly model?: string | undefined;
  readonly check?: ForkCheck | undefined;
  readonly seconds?: number | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Dollars. */
  readonly cost?: number | undefined;
  /** How the run ended, in a word or two. */
  readonly end?: string | undefined;
}

export interface Fork {
  readonly threadId: string;
  /** The real path of the copy. Give it to the backend of the agent that runs the fork. */
  readonly directory: string;
  /** Entries of the directory that could not be copied. */
  readonly left: readonly string[];
  /**
   * Keeps the report and the changes with the fork's thread, and removes the copy. `threadId` names the thread that
   * worked in the copy, where that is another one.
   */
  finish(report?: ForkReport & { readonly threadId?: string }): Promise<void>;
  /** Removes the copy alone. Safe twice, and after `finish`. */
  close(): Promise<void>;
}

export interface ComparedThread extends ForkReport {
  readonly threadId: string;
  /** The last answer. */
  readonly answer: string;
  /** Changes of the thread in the directory, from its first state to its last. */
  readonly changes: readonly FileChange[];
  readonly notCovered: readonly NotCovered[];
  /** The directory that the fork was made of; absent: the thread is no fork. */
  readonly forkOf?: string | undefined;
}

export interface AdoptOptions {
  /** The directory that gets the changes. */
  readonly root: string;
  /** Says what would be done; nothing is written. */
  readonly dryRun?: boolean;
  /** A claim of the fork's thread that the caller holds, and releases. Default: one is taken, and released. */
  readonly claim?: ThreadClaim;
}
