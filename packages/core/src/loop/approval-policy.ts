/** Which calls a person must decide about, and what a decision may look like. Pure: no graph here. */
import type { ToolCall } from "@langchain/core/messages";
import { ConfigurationError } from "../errors.ts";

export type DecisionType = "approve" | "edit" | "reject" | "respond";
export const DECISION_TYPES: readonly DecisionType[] = ["approve", "edit", "reject", "respond"];

export type Decision =
  | { readonly type: "approve" }
  | {
      readonly type: "edit";
      readonly editedAction: { readonly name: string; readonly args: Record<string, unknown> };
    }
  | { readonly type: "reject"; readonly message?: string }
  | { readonly type: "respond"; readonly message: string };

export interface InterruptOnConfig {
  readonly allowedDecisions?: readonly DecisionType[];
  /** What the person reads; a function gets the call, the state and the runtime. */
  readonly description?: string | ((call: any, state: any, runtime: any) => string | Promise<string>);
  /** Another name of `description`. */
  readonly actionDescription?: string;
  /** Handed to the person's side in `reviewConfigs`; the tool's own schema is what edits are checked by. */
  readonly argsSchema?: Record<string, any>;
  /** Ignored; older programs pass it. */
  readonly type?: "tool";
}

export type InterruptOn = Record<string, boolean | InterruptOnConfig>;

export interface ActionRequest {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly description: string;
}

/** What a person is asked: one batch a turn. `error` says what was wrong with the last answer. */
export interface ApprovalRequest {
  readonly actionRequests: readonly ActionRequest[];
  readonly reviewConfigs: readonly {
    readonly actionName: string;
    readonly allowedDecisions: readonly DecisionType[];
    readonly argsSchema?: Record<string, any>;
  }[];
  readonly error?: string;
}

interface Rule {
  readonly allowedDecisions: readonly DecisionType[];
  readonly argsSchema?: Record<string, any> | undefined;
  readonly description: InterruptOnConfig["description"];
}

export type ApprovalPolicy = ReadonlyMap<string, Rule>;

const KNOWN = new Set([
  "argsSchema",
  "allowedDecisions",
  "allowed_decisions",
  "description",
  "actionDescription",
  "action_description",
  "type",
]);

/** Throws INVALID_OPTION for anything it does not understand: a gate must not be open by a typing slip. */
export function approvalPolicy(interruptOn: InterruptOn | undefined | null): ApprovalPolicy | undefined {
  const rules = new Map<string, Rule>();
  for (const [tool, setting] of Object.entries(interruptOn ?? {})) {
    if (setting === false || setting === undefined || setting === null) continue;
    rules.set(tool, readRule(tool, setting));
  }
  return rules.size > 0 ? rules : undefined;
}

function readRule(tool: string, setting: true | InterruptOnConfig): Rule {
  if (setting === true) return { allowedDecisions: DECISION_TYPES, description: undefined };
  if (typeof setting !== "object") throw invalid(tool, "must be true, false or an object");
  const unknown = Object.keys(setting).find((key) => !KNOWN.has(key));
  if (unknown !== undefined) throw invalid(tool, `has an unknown key '${unknown}'`);
  const older = setting as { allowed_decisions?: readonly DecisionType[]; action_description?: string };
  const allowed = setting.allowedDecisions ?? older.allowed_decisions ?? DECISION_TYPES;
  if (
    !Array.isArray(allowed) ||
    allowed.length === 0 ||
    !allowed.every((type) => DECISION_TYPES.includes(type))
  )
    throw invalid(tool, `allows '${String(allowed)}'; the decisions are ${DECISION_TYPES.join(", ")}`);
  return {
    allowedDecisions: allowed,
    description: setting.description ?? setting.actionDescription ?? older.action_description,
    argsSchema: setting.argsSchema,
  };
}

function invalid(tool: string, problem: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `interruptOn for '${tool}' ${problem}.`);
}

/** A reason to ask about a call that lies in its arguments; permissions bring one. */
export interface CallGate {
  /** Whether it might ask about calls of this tool: looked at before anything else. */
  watches(tool: string): boolean;
  /** Why a person must decide about this call; undefined: there is no need. */
  asks(call: ToolCall, scene: ApprovalScene): GateReason | undefined | Promise<GateReason | undefined>;
  /** Why this call cannot be made at all, whoever approves it: asked about arguments a person edited. */
  refuses?(call: ToolCall, scene: ApprovalScene): string | undefined | Promise<string | undefined>;
}

export interface GateReason {
  readonly description: string;
  /** Absent: all four. */
  readonly allowedDecisions?: readonly DecisionType[];
}

/** What a description may look at beside the call. */
export interface ApprovalScene {
  readonly state?: unknown;
  readonly runtime?: unknown;
}

export async function approvalRequest(
  policy: ApprovalPolicy,
  calls: readonly ToolCall[],
  scene: ApprovalScene = {},
): Promise<ApprovalRequest> {
  const ruleOf = (call: ToolCall): Rule => policy.get(call.name) as Rule;
  const descriptions = await Promise.all(calls.map((call) => describe(ruleOf(call), call, scene)));
  return {
    actionRequests: calls.map(({ name, args }, i) => ({
      name,
      args,
      description: descriptions[i] as string,
    })),
    reviewConfigs: calls.map((call) => {
      const { allowedDecisions, argsSchema } = ruleOf(call);
      return { actionName: call.name, allowedDecisions, ...(argsSchema ? { argsSchema } : {}) };
    }),
  };
}

function describe(rule: Rule, call: ToolCall, { state, runtime }: ApprovalScene): string | Promise<string> {
  if (typeof rule.description === "function") return rule.description(call, state, runtime);
  return rule.description ?? `The agent wants to call ${call.name} with ${JSON.stringify(call.args)}`;
}

type Read = { readonly decisions: readonly Decision[] } | { readonly problem: string };

/** Reads an answer strictly. `checkArgs` says what is wrong with edited arguments, if anything. */
export function readDecisions(
  answer: unknown,
  policy: ApprovalPolicy,
  calls: readonly ToolCall[],
  checkArgs: (tool: string, args: Record<string, unknown>) => string | undefined,
): Read {
  const list = (answer as { decisions?: unknown } | null | undefined)?.decisions;
  if (!Array.isArray(list))
    return { problem: "Answer with {decisions: [...]}, one decision for each action." };
  if (list.length !== calls.length)
    return {
      problem: `${calls.length} decision(s) are needed, in the order of the actions; ${list.length} came.`,
    };
  const decisions: Decision[] = [];
  for (const [i, item] of list.entries()) {
    const call = calls[i] as ToolCall;
    const read = readDecision(item, call, policy.get(call.name) as Rule, checkArgs);
    if (typeof read === "string") return { problem: `Decision ${i + 1} (${call.name}): ${read}` };
    decisions.push(read);
  }
  return { decisions };
}

function readDecision(
  item: unknown,
  call: ToolCall,
  rule: Rule,
  checkArgs: (tool: string, args: Record<string, unknown>) => string | undefined,
): Decision | string {
  const given = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
  const type = given.type as DecisionType;
  if (!DECISION_TYPES.includes(type)) return `the type must be one of ${DECISION_TYPES.join(", ")}.`;
  if (!rule.allowedDecisions.includes(type))
    return `'${type}' is not allowed here; ${rule.allowedDecisions.join(", ")} are.`;
  if (type === "approve") return { type };
  if (type === "edit") return readEdit(given, call, checkArgs);
  const { message } = given;
  if (message !== undefined && typeof message !== "string") return "the message must be text.";
  if (type === "reject") return message === undefined ? { type } : { type, message };
  return message === undefined ? "a 'respond' decision needs a message." : { type, message };
}

function readEdit(
  given: Record<string, unknown>,
  call: ToolCall,
  checkArgs: (tool: string, args: Record<string, unknown>) => string | undefined,
): Decision | string {
  const action = (given.editedAction ?? given.edited_action) as
    | { name?: unknown; args?: unknown }
    | undefined;
  if (typeof action !== "object" || action === null)
    return "an 'edit' decision needs editedAction: {name, args}.";
  if (action.name !== call.name) return `an edit may change the arguments, not the tool ('${call.name}').`;
  const { args } = action;
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return "editedAction.args must be an object.";
  const problem = checkArgs(call.name, args as Record<string, unknown>);
  if (problem !== undefined) return `the edited arguments are not valid: ${problem}`;
  return { type: "edit", editedAction: { name: call.name, args: args as Record<string, unknown> } };
}
