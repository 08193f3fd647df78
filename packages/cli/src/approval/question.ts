/** Questions for a person, read from the interrupts of a thread. */
import { isRecord } from "deepwright/check-options";

export type DecisionType = "approve" | "edit" | "reject" | "respond";

/** A call a person decides about. */
export interface CallQuestion {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** Why it is asked about; absent where the call itself says it all. */
  readonly description: string | undefined;
  readonly allowed: readonly DecisionType[];
}

/** Calls of one turn: they are answered together. */
export interface Question {
  readonly id: string;
  /** Subagents from the outermost down; empty: the agent itself. */
  readonly agentPath: readonly string[];
  /** Empty where a tool asks something of its own. */
  readonly calls: readonly CallQuestion[];
  /** The problem with the last answer. */
  readonly problem: string | undefined;
  /** As it came. */
  readonly value: unknown;
}

export type Decision =
  | { readonly type: "approve"; readonly remember?: "thread" }
  | { readonly type: "edit"; readonly editedAction: { readonly name: string; readonly args: object } }
  | { readonly type: "reject"; readonly message?: string; readonly unattended?: true }
  | { readonly type: "respond"; readonly message: string };

/** Answers by the ids of their questions. */
export type Answers = Readonly<Record<string, unknown>>;

const ALL: readonly DecisionType[] = ["approve", "edit", "reject", "respond"];

export function questionsOf(interrupts: readonly unknown[]): readonly Question[] {
  return interrupts.filter(isRecord).map(({ id, value }) => {
    const request = isRecord(value) ? value : {};
    const { actionRequests, reviewConfigs, agentPath, error } = request;
    const configs: readonly unknown[] = Array.isArray(reviewConfigs) ? reviewConfigs : [];
    return {
      id: String(id),
      agentPath: Array.isArray(agentPath) ? agentPath.map(String) : [],
      calls: Array.isArray(actionRequests) ? actionRequests.map((call, i) => callOf(call, configs[i])) : [],
      problem: typeof error === "string" ? error : undefined,
      value,
    };
  });
}

function callOf(request: unknown, config: unknown): CallQuestion {
  const { name, args, description } = isRecord(request) ? request : {};
  const allowed = isRecord(config) && Array.isArray(config.allowedDecisions) ? config.allowedDecisions : ALL;
  const tool = String(name);
  const says = typeof description === "string" ? description : undefined;
  const isUsual = says === `The agent wants to call ${tool} with ${JSON.stringify(args)}`;
  return {
    tool,
    args: isRecord(args) ? args : {},
    description: isUsual ? undefined : says,
    allowed: ALL.filter((type) => allowed.includes(type)),
  };
}

/** The tools a thread is waiting to be allowed to use. */
export function toolsOf(questions: readonly Question[]): readonly string[] {
  return [...new Set(questions.flatMap(({ calls }) => calls.map(({ tool }) => tool)))];
}
