/** The stored result of one trial, and of a whole run. Plain JSON. */

export interface TrialUsage {
  /** Answered model calls, summaries and subagents included. */
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** Dollars; undefined where a model has no known price. */
  readonly cost: number | undefined;
  readonly requestBytes: number;
  /** Bytes of the requests that repeat the beginning of an earlier one, so that a provider can cache them. */
  readonly prefixBytes: number;
  /** Requests that a provider would refuse; scripted models only. */
  readonly invalidRequests: number;
  /** Edits that the harness reported as done and that are not in the file. */
  readonly lostEdits: number;
}

export interface VerdictRecord {
  readonly name: string;
  readonly passed: boolean;
  readonly reason?: string;
  /** A model decided. */
  readonly judged?: boolean;
}

/** One step of the trace: a message of the user, a reply with its calls, or a result. */
export interface TraceStep {
  readonly kind: "user" | "reply" | "result" | "person" | "fault";
  readonly text: string;
  readonly calls?: readonly { readonly name: string; readonly args: string }[];
  readonly failed?: boolean;
}

export type TrialStatus = "passed" | "failed" | "infrastructure";

export interface TrialRecord {
  readonly harness: string;
  readonly model: string;
  readonly category: string;
  readonly case: string;
  /** From 1. */
  readonly trial: number;
  readonly status: TrialStatus;
  /** Why it did not pass. */
  readonly reason?: string;
  readonly verdicts: readonly VerdictRecord[];
  readonly usage: TrialUsage;
  readonly trace: readonly TraceStep[];
  /** Differs from run to run; everything else of a scripted trial does not. */
  readonly times: { readonly cpuMs: number; readonly wallMs: number };
}

/** All trials of a run, in order of suite, case, harness, model and trial. */
export interface RunReport {
  readonly version: 1;
  readonly harnesses: readonly string[];
  readonly models: readonly string[];
  /** By harness, where one says its version. */
  readonly versions?: Readonly<Record<string, string>>;
  readonly trials: number;
  /** False when the run was stopped, or its budget was used up. */
  readonly complete: boolean;
  readonly stopReason?: string;
  readonly records: readonly TrialRecord[];
}
