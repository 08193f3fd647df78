/** Decides which calls need a person, and which decisions are valid. Pure: no graph here. */
import type { ToolCall } from "@langchain/core/messages";
import { ConfigurationError } from "../../errors.ts";
import type { CALL_GATE } from "../../internal-symbols.ts";
import type { InputFile } from "./call-inputs.ts";

export type DecisionType = "approve" | "edit" | "reject" | "respond";
export const DECISION_TYPES: readonly DecisionType[] = ["approve", "edit", "reject", "respond"];

/** How long an approval holds: for exactly this call, in this thread or in every thread of the project. */
export type RememberScope = "thread" | "always";

export type Decision =
  | { readonly type: "approve"; readonly remember?: RememberScope }
  | {
      readonly type: "edit";
      readonly editedAction: { readonly name: string; readonly args: Record<string, unknown> };
    }
  /** `unattended`: no person could be asked. The result says so to the model. */
  | { readonly type: "reject"; readonly message?: string; readonly unattended?: true }
  | { readonly type: "respond"; readonly message: string };

/** Input of `when`; the arguments as the tool's schema reads them, absolute paths of file tools canonical. */
export interface WhenRequest {
  readonly toolCall: { readonly id?: string; readonly name: string; readonly args: Record<string, any> };
  readonly tool: unknown;
  readonly state: any;
  readonly runtime: any;
}

/** Decides whether to ask about this call. Only `false` means no: any other answer, and an error, asks. */
export type WhenPredicate = (request: WhenRequest) => boolean | Promise<boolean>;

export interface InterruptOnConfig {
  /** Absent: all calls of the tool are asked about. */
  readonly when?: WhenPredicate;
  readonly allowedDecisions?: readonly DecisionType[];
  /** Text for the person; a function gets the call, the state and the runtime. */
  readonly description?: string | ((call: any, state: any, runtime: any) => string | Promise<string>);
  /** Another name of `description`. */
  readonly actionDescription?: string;
  /** Sent to the client in `reviewConfigs`. Edited arguments are checked against the tool's own schema. */
  readonly argsSchema?: Record<string, any>;
  /**
   * Names the place where the calls take effect, such as the sandbox of commands. A remembered approval applies only to
   * the same place. Absent: to all.
   */
  readonly rememberedFor?: string;
  /** Ignored; older programs pass it. */
  readonly type?: "tool";
}

/** By the name of a tool, or by how names begin: `github_*`. The name counts before the beginning, a longer one before a shorter. */
export type InterruptOn = Record<string, boolean | InterruptOnConfig>;

export interface ActionRequest {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly description: string;
}

/** Request to a person: one batch a turn. `error` is the problem of the last answer. */
export interface ApprovalRequest {
  readonly actionRequests: readonly ActionRequest[];
  readonly reviewConfigs: readonly {
    readonly actionName: string;
    readonly allowedDecisions: readonly DecisionType[];
    readonly argsSchema?: Record<string, any>;
  }[];
  /** The agent that asks, from the outermost one's child down; absent: the outermost itself. */
  readonly agentPath?: readonly string[];
  readonly error?: string;
}

export interface ApprovalRule {
  readonly when: WhenPredicate | undefined;
  readonly allowedDecisions: readonly DecisionType[];
  readonly argsSchema?: Record<string, any> | undefined;
  readonly rememberedFor?: string | undefined;
  readonly description: InterruptOnConfig["description"];
}

export type ApprovalPolicy = Pick<ReadonlyMap<string, ApprovalRule>, "get" | "has" | "values">;

const KNOWN = new Set([
  "when",
  "argsSchema",
  "allowedDecisions",
  "allowed_decisions",
  "description",
  "actionDescription",
  "action_description",
  "rememberedFor",
  "type",
]);

/** Throws INVALID_OPTION for anything it does not understand: a gate must not be open by a typing slip. */
export function approvalPolicy(interruptOn: InterruptOn | undefined | null): ApprovalPolicy | undefined {
  const exact = new Map<string, ApprovalRule | undefined>();
  const begins: { readonly prefix: string; readonly rule: ApprovalRule | undefined }[] = [];
  for (const [tool, setting] of Object.entries(interruptOn ?? {})) {
    if (setting === undefined || setting === null) continue;
    const rule = setting === false ? undefined : readRule(tool, setting);
    if (tool.endsWith("*")) begins.push({ prefix: tool.slice(0, -1), rule });
    else exact.set(tool, rule);
  }
  // Removing a file is a change as well: programs that gate writes and do not know `delete` mean it, too.
  const write = exact.get("write_file") ?? exact.get("edit_file");
  const namesDelete = exact.has("delete") || begins.some(({ prefix }) => "delete".startsWith(prefix));
  if (write !== undefined && !namesDelete) exact.set("delete", { ...write, argsSchema: undefined });
  const rules = [...exact.values(), ...begins.map(({ rule }) => rule)].filter((rule) => rule !== undefined);
  if (rules.length === 0) return undefined;
  begins.sort((a, b) => b.prefix.length - a.prefix.length);
  const get = (tool: string): ApprovalRule | undefined =>
    exact.has(tool) ? exact.get(tool) : begins.find(({ prefix }) => tool.startsWith(prefix))?.rule;
  return { get, has: (tool) => get(tool) !== undefined, values: () => rules.values() };
}

/** The part of the system prompt that names the tools which wait for a person; empty when the model sees none of them. */
export function approvalSection(
  approvals: ApprovalPolicy | undefined,
): (visible: ReadonlySet<string>) => string {
  return (visible) => {
    const waiting = [...visible].filter((tool) => approvals?.has(tool));
    if (waiting.length === 0) return "";
    return `## Approvals

A person decides about calls of these tools before they run: ${waiting.map((tool) => `\`${tool}\``).join(", ")}.

- Call them when the task needs it. Do not ask for permission in words first.
- The person may change the arguments. The thread then shows the call that ran.
- A rejected call did not run. Read the reason, do not reach for the same effect in another way, and go on without it or ask what to do.`;
  };
}

/** Whether an agent with these options may ask a person; all else about them is checked where it is built. */
export function mayAskByOptions(options: object): boolean {
  const { interruptOn, permissions } = options as { interruptOn?: object | null; permissions?: unknown };
  if (Object.values(interruptOn ?? {}).some(Boolean)) return true;
  return Array.isArray(permissions) && permissions.some((rule) => rule?.mode === "interrupt");
}

function readRule(tool: string, setting: true | InterruptOnConfig): ApprovalRule {
  if (setting === true) return { when: undefined, allowedDecisions: DECISION_TYPES, description: undefined };
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
  const { when, rememberedFor } = setting;
  if (when !== undefined && when !== null && typeof when !== "function")
    throw invalid(tool, "has a 'when' that is no function");
  if (rememberedFor !== undefined && rememberedFor !== null && typeof rememberedFor !== "string")
    throw invalid(tool, "has a 'rememberedFor' that is no text");
  return {
    when: when ?? undefined,
    allowedDecisions: allowed,
    description: setting.description ?? setting.actionDescription ?? older.action_description,
    argsSchema: setting.argsSchema,
    rememberedFor: rememberedFor ?? undefined,
  };
}

function invalid(tool: string, problem: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `interruptOn for '${tool}' ${problem}.`);
}

/** A reason to ask about a call that lies in its arguments; permissions bring one. */
export interface CallGate {
  /** Remembered approvals do not count: a person is asked about each call. */
  readonly everyTime?: boolean;
  /**
   * The gate does not ask in a run without a checkpointer, where asking is impossible. Absent: such a run is refused.
   */
  readonly asksIfPossible?: boolean;
  /** Whether it might ask about calls of this tool: looked at before anything else. */
  watches(tool: string): boolean;
  /** Why a person must decide about this call; undefined: there is no need. */
  asks(call: ToolCall, scene: ApprovalScene): GateReason | undefined | Promise<GateReason | undefined>;
  /**
   * The reason why this call cannot run even with an approval. The gateway checks arguments that a person edited with
   * it.
   */
  refuses?(call: ToolCall, scene: ApprovalScene): string | undefined | Promise<string | undefined>;
  /**
   * The files of this call, by all of their names. An approval covers these files and directories, with everything
   * below.
   */
  places?(call: ToolCall, scene: ApprovalScene): readonly string[] | Promise<readonly string[]>;
}

/** A middleware that brings a gate of its own. */
export interface WithCallGate {
  readonly [CALL_GATE]?: CallGate;
}

export interface GateReason {
  readonly description: string;
  /** Absent: all four. */
  readonly allowedDecisions?: readonly DecisionType[];
}

/** Context for descriptions, predicates and gates, beside the call. */
export interface ApprovalScene {
  readonly state?: unknown;
  readonly runtime?: unknown;
  /** The config of the task. A backend is opened with it. */
  readonly config?: unknown;
  /** The question that a call of another tool would lead to; undefined: it may run. Absent: the loop does not say. */
  readonly questionOf?: (call: ToolCall) => Promise<Question | undefined>;
}

/** A call and the decisions that a person may make about it. */
export interface Question {
  readonly call: ToolCall;
  readonly allowedDecisions: readonly DecisionType[];
  /** Absent: the tool and its arguments. */
  readonly description?: string;
  readonly argsSchema?: Record<string, any>;
  /** The files the call is about; absent: no gate knows. */
  readonly places?: readonly string[];
  /**
   * The files that the call reads, with their present content: the approval covers this content only. Absent: the tool
   * does not name its files.
   */
  readonly inputs?: readonly InputFile[];
}

/** The text of a question without a description of its own. */
export function usualDescription({ name, args }: Pick<ToolCall, "name" | "args">): string {
  return `The agent wants to call ${name} with ${JSON.stringify(args)}`;
}

export function approvalRequest(
  questions: readonly Question[],
  agentPath: readonly string[] = [],
): ApprovalRequest {
  return {
    actionRequests: questions.map(({ call, description }) => ({
      name: call.name,
      args: call.args,
      description: description ?? usualDescription(call),
    })),
    reviewConfigs: questions.map(({ call, allowedDecisions, argsSchema }) => ({
      actionName: call.name,
      allowedDecisions,
      ...(argsSchema ? { argsSchema } : {}),
    })),
    ...(agentPath.length > 0 ? { agentPath } : {}),
  };
}

type Read = { readonly decisions: readonly Decision[] } | { readonly problem: string };

/** Reasons against a well-formed decision; undefined: none. */
export interface DecisionChecks {
  /** The call has the edited arguments. */
  edited(call: ToolCall): string | undefined | Promise<string | undefined>;
  remembered(scope: RememberScope, call: ToolCall): string | undefined;
}

/** Reads an answer strictly: one bad decision, and none is taken. */
export async function readDecisions(
  answer: unknown,
  questions: readonly Question[],
  checks: DecisionChecks,
): Promise<Read> {
  const list = (answer as { decisions?: unknown } | null | undefined)?.decisions;
  if (!Array.isArray(list))
    return { problem: "Answer with {decisions: [...]}, one decision for each action." };
  if (list.length !== questions.length)
    return {
      problem: `${questions.length} decision(s) are needed, in the order of the actions; ${list.length} came.`,
    };
  const decisions: Decision[] = [];
  for (const [i, question] of questions.entries()) {
    const read = await readDecision(list[i], question, checks);
    if (typeof read === "string") return { problem: `Decision ${i + 1} (${question.call.name}): ${read}` };
    decisions.push(read);
  }
  return { decisions };
}

async function readDecision(
  item: unknown,
  { call, allowedDecisions }: Question,
  checks: DecisionChecks,
): Promise<Decision | string> {
  const given = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
  const type = given.type as DecisionType;
  if (!DECISION_TYPES.includes(type)) return `the type must be one of ${DECISION_TYPES.join(", ")}.`;
  if (!allowedDecisions.includes(type))
    return `'${type}' is not allowed here; ${allowedDecisions.join(", ")} are.`;
  if (type === "approve") return readApproval(given, call, checks);
  if (given.remember !== undefined && given.remember !== "once") return "only an approval can be remembered.";
  if (type === "edit") return readEdit(given, call, checks);
  const { message } = given;
  if (message !== undefined && typeof message !== "string") return "the message must be text.";
  if (type === "reject")
    return {
      type,
      ...(message !== undefined && { message }),
      ...(given.unattended === true && { unattended: true as const }),
    };
  return message === undefined ? "a 'respond' decision needs a message." : { type, message };
}

function readApproval(
  { remember }: Record<string, unknown>,
  call: ToolCall,
  checks: DecisionChecks,
): Decision | string {
  if (remember === undefined || remember === "once") return { type: "approve" };
  if (remember !== "thread" && remember !== "always")
    return "'remember' must be 'thread' or 'always'; leave it out to approve this one call.";
  return checks.remembered(remember, call) ?? { type: "approve", remember };
}

async function readEdit(
  given: Record<string, unknown>,
  call: ToolCall,
  checks: DecisionChecks,
): Promise<Decision | string> {
  const action = (given.editedAction ?? given.edited_action) as
    | { name?: unknown; args?: unknown }
    | undefined;
  if (typeof action !== "object" || action === null)
    return "an 'edit' decision needs editedAction: {name, args}.";
  if (action.name !== call.name) return `an edit may change the arguments, not the tool ('${call.name}').`;
  const { args } = action;
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return "editedAction.args must be an object.";
  const editedAction = { name: call.name, args: args as Record<string, unknown> };
  const problem = await checks.edited({ ...call, args: editedAction.args });
  if (problem !== undefined) return `the edited arguments are not valid: ${problem}`;
  return { type: "edit", editedAction };
}
