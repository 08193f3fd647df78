/** The format of a case: what an agent is asked, what it gets, what it may use, and how its result is checked. */
import type { HarborTask } from "../formats/harbor-task.ts";
import type { Verifier } from "../verifiers/verifier.ts";
import type { CaseTool, JsonSchema } from "./case-tool.ts";

/** At least `modelCalls` is required: a case without a budget could cost anything. */
export interface CaseLimits {
  /** Answered model calls of the whole trial, subagents included. */
  readonly modelCalls: number;
  /** Tokens in and out of the whole trial. */
  readonly tokens?: number;
  /** Dollars of the whole trial, for models with a known price. */
  readonly cost?: number;
  /** Wall-clock seconds of the whole trial; default 300. */
  readonly seconds?: number;
}

/** A limit that is part of the case: the harness must end the run itself. */
export interface HarnessBudget {
  readonly maxSteps?: number;
  readonly maxTokens?: number;
}

/** An answer of the person when the agent asks before a call. The first rule that matches counts. */
export interface ApprovalRule {
  readonly tool: string;
  readonly answer: "approve" | "reject" | "edit";
  /** New arguments of an edit. */
  readonly args?: Record<string, unknown>;
  readonly message?: string;
}

/** A rule for paths, in the form of Deepwright and deepagents. */
export interface PathRule {
  readonly operations: readonly ("read" | "write")[];
  readonly paths: readonly string[];
  readonly mode?: "allow" | "deny";
}

export interface CaseSubagent {
  readonly name: string;
  readonly description: string;
  readonly systemPrompt: string;
  /** Names of tools of the case; default: all. */
  readonly tools?: readonly string[];
}

/** Something that goes wrong outside of the harness, at the numbered model call (from 1) or the numbered run of a tool. */
export type CaseFault =
  | { readonly kind: "rate-limit" | "server" | "connection" | "overflow"; readonly call: number }
  | { readonly kind: "cut-stream"; readonly call: number; readonly after: number }
  | { readonly kind: "crash"; readonly call: number }
  | { readonly kind: "crash-in-tool"; readonly tool: string; readonly run: number };

/** Instructions for the scripted model of level 0. Live models never see them. */
export interface Script {
  /** Name of the behaviour; see `POLICIES`. */
  readonly policy: string;
  readonly plan: readonly unknown[];
}

export interface EvalCase {
  /** Unique within its suite: small letters, digits and hyphens. */
  readonly id: string;
  /** The messages of the user, in turn. The next one is sent when the run before has ended. */
  readonly task: string | readonly string[];
  /** Files in the agent's file system at the start, by absolute path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Tools of the case, beside those of the harness. */
  readonly tools?: readonly CaseTool[];
  /** Built-in tools of the harness that the agent may use; default: all. */
  readonly builtInTools?: readonly string[];
  readonly limits: CaseLimits;
  readonly verify: readonly Verifier[];
  /** Instructions before the harness's own prompt. */
  readonly systemPrompt?: string;
  /** Paths of files that the harness shows in its prompt. */
  readonly memory?: readonly string[];
  readonly permissions?: readonly PathRule[];
  /** Calls that a person must approve, and the answers. */
  readonly approvals?: readonly ApprovalRule[];
  readonly subagents?: readonly CaseSubagent[];
  readonly budget?: HarnessBudget;
  /** JSON schema of the structured answer. */
  readonly responseSchema?: JsonSchema;
  /** Tokens of the model's window; scripted models only. */
  readonly window?: number;
  readonly faults?: readonly CaseFault[];
  /** Each message of the task gets a thread of its own; files go from one to the next. */
  readonly newThreads?: boolean;
  readonly script?: Script;
  /** Set for a Harbor task, which is played in a sandbox; see `loadSuites`. */
  readonly harbor?: HarborTask;
}

/** Cases of one category. */
export interface Suite {
  readonly category: string;
  readonly cases: readonly EvalCase[];
}

/** Returns the case as it is; its type is checked by the compiler. Use it as the default export of a `*.case.ts` file. */
export function defineCase(given: EvalCase): EvalCase {
  return given;
}
