/** Forms of a subagent, and checks of subagents that cannot be used. */
import { SystemMessage } from "@langchain/core/messages";
import { type Budget, limitsOf } from "../budget/limits.ts";
import { checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";
import { approvalPolicy, type InterruptOn } from "../loop/approval-rules/approval-policy.ts";
import { checkPermissions, type PermissionList } from "../permissions/rules.ts";

/** `"isolated"`: sees its task alone. `"fork"`: goes on from the conversation of the agent that calls it. */
export type SubAgentMode = "isolated" | "fork";

/** null means absent. */
export interface SubAgent {
  readonly name: string;
  /** By this the model chooses. */
  readonly description: string;
  /** Under `mode: "fork"` it stands behind the prompt of the agent. */
  readonly systemPrompt?: string | SystemMessage | null;
  /** Default `"isolated"`. */
  readonly mode?: SubAgentMode | null;
  /** Absent: the agent's tools. `[]`: the built-in ones only. */
  readonly tools?: readonly object[] | null;
  /** Absent: the agent's model. */
  readonly model?: string | { invoke: (...args: never[]) => unknown } | null;
  /** Its own; the agent's is not inherited. */
  readonly middleware?: readonly object[] | null;
  /** Laid over the agent's, tool by tool. */
  readonly interruptOn?: InterruptOn | null;
  /** Directories of skills; the agent's are not inherited. */
  readonly skills?: readonly string[] | null;
  /** The result is then the JSON of the structured response. */
  readonly responseFormat?: unknown;
  /** Given, they replace the agent's. */
  readonly permissions?: PermissionList | null;
  /** Limits of one task with all runs inside it; the budgets around it apply too. */
  readonly budget?: Budget | null;
  /** Keys of the state that may come back, `files` among them; absent: all that the child changed. */
  readonly returns?: readonly string[] | null;
}

export interface ForkedSubAgent extends SubAgent {
  readonly mode: "fork";
}

/** Anything that runs: an agent, a graph of LangGraph, another runnable. */
export interface CompiledSubAgent<Runnable extends object = any> {
  readonly name: string;
  readonly description: string;
  readonly runnable: Runnable;
  /** A fork gets the conversation; its prompt is its own. */
  readonly mode?: SubAgentMode | null;
  readonly returns?: readonly string[] | null;
}

/** An agent that works in the background: in this process, or on a server that speaks the Agent Protocol. null means absent. */
export interface AsyncSubAgent {
  readonly name: string;
  /** By this the model chooses. */
  readonly description: string;
  /** Id of a registered agent of this process, or of the graph or assistant on the server. */
  readonly graphId: string;
  /** Address of the server; absent: this process. */
  readonly url?: string | null;
  /** Headers of every request to the server. */
  readonly headers?: Readonly<Record<string, string>> | null;
  /** Whether the server may be in a private network; default false. Loopback always may. */
  readonly allowPrivate?: boolean | null;
  /** The agent on the server has `createCompletionCallbackMiddleware` and tells of its end itself: it is looked at rarely; default false. */
  readonly callback?: boolean | null;
}

/** Another agent that speaks A2A. It works in the background, too. null means absent. */
export interface A2aSubAgent {
  readonly name: string;
  /** By this the model chooses. */
  readonly description: string;
  /** Address of the agent, or of its card if it ends in `.json`. */
  readonly a2a: string;
  /** Headers of every request to the agent. */
  readonly headers?: Readonly<Record<string, string>> | null;
  /** Whether the agent may be in a private network; default false. Loopback always may. */
  readonly allowPrivate?: boolean | null;
}

export type BackgroundSubAgent = AsyncSubAgent | A2aSubAgent;
export type LocalSubAgent = SubAgent | CompiledSubAgent;
export type AnySubAgent = LocalSubAgent | BackgroundSubAgent;

export function isAsyncSubAgent(subAgent: AnySubAgent): subAgent is BackgroundSubAgent {
  return "graphId" in subAgent || "a2a" in subAgent;
}

/** Whether its tasks are done by an agent of this process, or of its host. */
export function isHere(subAgent: BackgroundSubAgent): subAgent is AsyncSubAgent {
  return "graphId" in subAgent && subAgent.url == null;
}

export function isCompiled(subAgent: LocalSubAgent): subAgent is CompiledSubAgent {
  return "runnable" in subAgent;
}

const COMPILED_KEYS = ["name", "description", "runnable", "mode", "returns"];
const DECLARED_KEYS = [
  ...["name", "description", "systemPrompt", "mode", "tools", "model", "middleware", "interruptOn"],
  ...["skills", "responseFormat", "permissions", "budget", "returns"],
];

/**
 * The subagents, checked without looking into tools, models or middleware. Async ones go to `takeAsync`; without it
 * they are refused.
 */
export function checkedSubAgents(
  given: readonly unknown[],
  takeAsync?: (subAgent: BackgroundSubAgent) => void,
): readonly LocalSubAgent[] {
  const names = new Set<string>();
  return given.flatMap((item, index) => {
    const subAgent = checked(item, index);
    if (names.has(subAgent.name))
      throw new ConfigurationError("DUPLICATE_SUBAGENT", `Two subagents have the name '${subAgent.name}'.`, {
        hint: "Give each its own name.",
      });
    names.add(subAgent.name);
    if (!isAsyncSubAgent(subAgent)) return [subAgent];
    if (takeAsync === undefined) throw notHere(subAgent.name);
    takeAsync(subAgent);
    return [];
  });
}

function checked(item: unknown, index: number): AnySubAgent {
  if (typeof item !== "object" || item === null || Array.isArray(item))
    throw invalid(`subagents[${index}] is not a subagent`);
  const { name, description } = item as Partial<AnySubAgent>;
  if (typeof name !== "string" || name.trim() === "") throw invalid(`subagents[${index}] needs a name`);
  if (name !== name.trim()) throw invalid(`The name '${name}' of a subagent has spaces around it`);
  if (typeof description !== "string" || description.trim() === "")
    throw invalid(`The subagent '${name}' needs a description`);
  if (isAsyncSubAgent(item as AnySubAgent)) return item as BackgroundSubAgent;
  const subAgent = item as LocalSubAgent;
  if (isCompiled(subAgent)) checkCompiled(subAgent);
  else checkDeclared(subAgent);
  checkMode(subAgent);
  checkTexts(subAgent, "returns");
  return subAgent;
}

function checkCompiled(subAgent: CompiledSubAgent): void {
  checkNames(`The compiled subagent '${subAgent.name}'`, present(subAgent), COMPILED_KEYS);
  const { runnable } = subAgent as { runnable?: { invoke?: unknown } };
  if (typeof runnable?.invoke !== "function")
    throw invalid(`The 'runnable' of the subagent '${subAgent.name}' cannot be run: it has no 'invoke'`);
}

function checkDeclared(subAgent: SubAgent): void {
  const { name, mode, skills, permissions, budget, tools, middleware } = subAgent;
  checkNames(`The subagent '${name}'`, present(subAgent), DECLARED_KEYS);
  for (const [key, list] of Object.entries({ tools, middleware }))
    if (list != null && !Array.isArray(list))
      throw invalid(`'${key}' of the subagent '${name}' must be a list`);
  checkParts(subAgent);
  checkTexts(subAgent, "skills");
  if (permissions != null) checkPermissions(permissions, `permissions of the subagent '${name}'`);
  if (mode === "fork")
    for (const [key, given] of Object.entries({ skills, permissions, budget }))
      if (given != null) throw invalid(`The subagent '${name}' is a fork and has the ${key} of the agent`);
}

/** Checks parts that would fail when the child is built later. */
function checkParts({
  name,
  model,
  systemPrompt,
  responseFormat,
  interruptOn,
  budget,
  ...lists
}: SubAgent): void {
  if (systemPrompt != null && typeof systemPrompt !== "string" && !SystemMessage.isInstance(systemPrompt))
    throw invalid(`'systemPrompt' of the subagent '${name}' must be a string or a SystemMessage`);
  if (model != null && !isModel(model))
    throw invalid(`'model' of the subagent '${name}' must be a 'provider:model' string or a chat model`);
  if (responseFormat != null && typeof responseFormat !== "object" && typeof responseFormat !== "function")
    throw invalid(`'responseFormat' of the subagent '${name}' must be a schema or a strategy`);
  for (const key of ["tools", "middleware"] as const)
    if (lists[key]?.some((item) => !isPart(item)))
      throw invalid(`'${key}' of the subagent '${name}' has an invalid entry`);
  inSubAgent(name, () => {
    approvalPolicy(interruptOn);
    limitsOf(budget);
  });
}

function isModel(model: unknown): boolean {
  if (typeof model === "string") return model.trim() !== "";
  return typeof (model as { invoke?: unknown }).invoke === "function";
}

function isPart(item: unknown): boolean {
  return typeof item === "function" || (typeof item === "object" && item !== null);
}

/** Adds the name of the subagent to errors about its options. */
export function inSubAgent(name: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(error.code, `The subagent '${name}': ${error.message}`, { cause: error });
  }
}

function checkMode({ name, mode }: LocalSubAgent): void {
  if (mode != null && mode !== "isolated" && mode !== "fork")
    throw invalid(`The mode of the subagent '${name}' must be "isolated" or "fork", not ${String(mode)}`);
}

function checkTexts(subAgent: LocalSubAgent, key: "returns" | "skills"): void {
  const list = (subAgent as SubAgent)[key];
  if (list == null || (Array.isArray(list) && list.every((item) => typeof item === "string"))) return;
  throw invalid(`'${key}' of the subagent '${subAgent.name}' must be a list of strings`);
}

function present(subAgent: object): object {
  return Object.fromEntries(Object.entries(subAgent).filter(([, value]) => value != null));
}

function invalid(problem: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `${problem}.`, {
    hint: "A subagent is {name, description, systemPrompt, …} or {name, description, runnable}.",
  });
}

function notHere(name: string): ConfigurationError {
  return new ConfigurationError(
    "NOT_SUPPORTED",
    `'${name}' is an async subagent (it has a 'graphId'): it does not take part in 'task'.`,
    { hint: "Give it to createDeepAgent as one of 'subagents', or to createAsyncSubAgentMiddleware." },
  );
}
