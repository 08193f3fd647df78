/** The contract of verifiers: functions of a trial's result. */
import type { CaseTool, World } from "../format/case-tool.ts";

/** A tool call of the trial, in the order in which the calls were made. */
export interface CallRecord {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Undefined for a call that never got a result. */
  readonly result: string | undefined;
  readonly failed: boolean;
}

/** Everything verifiers may look at. */
export interface TrialOutput {
  /** Final files by absolute path. */
  readonly files: Readonly<Record<string, string>>;
  /** Text of the last reply. */
  readonly answer: string;
  /** Text of the last reply to each message of the task. */
  readonly answers: readonly string[];
  readonly calls: readonly CallRecord[];
  readonly structured: unknown;
  /** State of the harness after the last run, as the harness calls it. */
  readonly state: Readonly<Record<string, unknown>>;
  /** The data of the case after its tools changed it. */
  readonly world: World;
  /** Answered model calls. */
  readonly modelCalls: number;
  readonly tokens: number;
  /** How many times the agent asked a person. */
  readonly questions: number;
  /** Error that ended the trial, if one did. */
  readonly error: string | undefined;
}

/** Functions that a verifier may use beside the output. */
export interface VerifierTools {
  /** Runs a shell command in a sandbox that has the final files in its working directory. */
  runCommand(command: string, files: Readonly<Record<string, string>>): Promise<CommandEnd>;
  /** Asks the judge model; undefined when none was named. */
  readonly judge: ((question: string) => Promise<string>) | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface CommandEnd {
  readonly exitCode: number;
  readonly output: string;
}

export type Verdict =
  | { readonly passed: true; readonly reason?: undefined }
  | { readonly passed: false; readonly reason: string };

export interface Verifier {
  /** A short sentence for reports. */
  readonly name: string;
  /** Names of tools it speaks of. A name that neither the case nor a harness has is refused before a run. */
  readonly tools?: readonly string[];
  /** True when a model decides. Reports mark such results. */
  readonly judged?: boolean;
  check(output: TrialOutput, tools: VerifierTools): Verdict | Promise<Verdict>;
}

export const PASSED: Verdict = { passed: true };

export function failed(reason: string): Verdict {
  return { passed: false, reason };
}

/** Names a case may speak of: its own tools and those of harnesses. */
export function knownTools(own: readonly CaseTool[] | undefined): ReadonlySet<string> {
  return new Set([...BUILT_IN_TOOLS, ...(own ?? []).map(({ name }) => name)]);
}

/** Built-in tools of Deepwright, which deepagents has too. */
export const BUILT_IN_TOOLS: readonly string[] = [
  "ls",
  "read_file",
  "write_file",
  "edit_file",
  "delete",
  "glob",
  "grep",
  "execute",
  "write_todos",
  "task",
];
