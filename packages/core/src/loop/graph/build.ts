/** Builds a loop from the decisions of the stack. Pure wiring: everything it calls is a function of its own. */
import { SystemMessage } from "@langchain/core/messages";
import { type ClientTool, tool as makeTool } from "@langchain/core/tools";
import type { AgentMiddleware } from "langchain";
import { approvalDemandOf } from "../../backends/approval-demand.ts";
import { durationMs } from "../../duration.ts";
import { ConfigurationError } from "../../errors.ts";
import { CALL_GATE, KEEPS_TIME } from "../../internal-symbols.ts";
import { APPROVALS, approvalsChannel } from "../approval-rules/approval-memory.ts";
import {
  type ApprovalPolicy,
  approvalPolicy,
  approvalSection,
  type CallGate,
  type InterruptOn,
  type WithCallGate,
} from "../approval-rules/approval-policy.ts";
import { buildState } from "../contract/channels.ts";
import { asksPeople, type Loop } from "../contract/loop.ts";
import { stagesOf } from "../contract/stages.ts";
import { responseStrategy } from "../contract/structured-output.ts";
import { shapedTools, type ToolShape, UNSHAPED } from "../contract/tool-shape.ts";
import { hookGroups } from "../hooks/hooks.ts";
import { isRunnable } from "../model/model-call.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import { type ModelSource, modelSource, namedModels, sameItems } from "../providers/model-source.ts";
import { approvalGate, requireApprovals } from "./require-approval.ts";

export interface LoopSpec {
  readonly name?: string | undefined;
  readonly model: unknown;
  /** Where that comes from, when another agent has it already. */
  readonly modelSource?: ModelSource | undefined;
  readonly tools: readonly unknown[];
  readonly middleware: readonly AgentMiddleware[];
  /** Parts of the system prompt before and after the sections of the middleware. */
  readonly promptBefore: readonly (string | SystemMessage)[];
  readonly promptAfter: readonly (string | SystemMessage)[];
  readonly stateSchema?: unknown;
  readonly responseFormat?: unknown;
  readonly interruptOn?: InterruptOn | undefined;
  readonly gates?: readonly CallGate[] | undefined;
  /** Agents inside this one may ask a person. */
  readonly asksInside?: boolean | undefined;
  readonly toolTimeout?: number | Readonly<Record<string, number>> | undefined;
  readonly toolConcurrency?: number | Readonly<Record<string, number>> | undefined;
  readonly toolShape?: ToolShape | undefined;
  /** Keys of the profiles that shaped the agent, for descriptions. */
  readonly profileKeys?: readonly string[] | undefined;
}

const DEFAULT_CONCURRENCY = 16;
const TASK_CONCURRENCY = 64;

export function buildLoop(spec: LoopSpec): Loop {
  const { middleware } = spec;
  const response = responseStrategy(spec.responseFormat);
  const toolShape = spec.toolShape ?? UNSHAPED;
  const tools = shapedTools(collectTools(spec.tools, middleware, response?.toolNames ?? []), toolShape);
  const stages = middleware.map(stagesOf).filter((stage) => stage !== undefined);
  const foreign = middleware.filter((m) => stagesOf(m) === undefined);
  const approvals = approvalPolicy(spec.interruptOn);
  const demand = middleware.map(approvalDemandOf).find((why) => why !== undefined);
  if (demand !== undefined) requireApprovals(tools, approvals, demand);
  const asking = {
    approvals,
    gates: [
      ...(spec.gates ?? []),
      ...middleware.flatMap((m) => (m as WithCallGate)[CALL_GATE] ?? []),
      ...(demand === undefined ? [] : [approvalGate(demand)]),
    ],
  };
  const state = buildState(
    [spec.stateSchema, ...middleware.map((m) => m.stateSchema)],
    asksPeople(asking) ? { [APPROVALS]: approvalsChannel() } : {},
  );
  const timeoutOf = perTool("toolTimeout", spec.toolTimeout, () => undefined, checkTimeout);
  return {
    name: spec.name,
    model: spec.modelSource ?? modelSource(spec.model),
    modelNamed: namedModels(),
    systemMessage: promptBuilder(spec, approvals),
    tools,
    toolShape,
    profileKeys: spec.profileKeys ?? [],
    clientTools: new Map(
      tools.filter(isRunnable).map((tool) => [(tool as ClientTool).name, tool as ClientTool]),
    ),
    middleware,
    stages,
    callStages: stages.filter((stage) => stage.call !== undefined).reverse(),
    outcomeStages: stages.filter((stage) => stage.outcome !== undefined),
    modelWrappers: foreign.filter((m) => m.wrapModelCall),
    toolWrappers: foreign.filter((m) => m.wrapToolCall),
    hooks: {
      beforeAgent: hookGroups("beforeAgent", "before_agent", foreign),
      beforeModel: hookGroups("beforeModel", "before_model", middleware),
      afterModel: hookGroups("afterModel", "after_model", middleware),
      afterAgent: hookGroups("afterAgent", "after_agent", middleware),
    },
    state,
    stateKeys: Object.keys(state.channels),
    responseFormat: spec.responseFormat,
    response,
    ...asking,
    asksInside: spec.asksInside ?? false,
    timeoutOf: (tool) => (keepsTime(tools, tool) ? undefined : timeoutOf(tool)),
    ownTimeoutOf: timeoutOf,
    concurrencyOf: slotGroups(spec.toolConcurrency),
  };
}

function keepsTime(tools: readonly AnyTool[], name: string): boolean {
  return tools.some((tool) => (tool as { name?: string }).name === name && KEEPS_TIME in tool);
}

/** A tool with a limit of its own shares it with no other tool. */
function slotGroups(setting: LoopSpec["toolConcurrency"]): Loop["concurrencyOf"] {
  const own = typeof setting === "number" ? {} : { task: TASK_CONCURRENCY, ...setting };
  const limitOf = perTool("toolConcurrency", typeof setting === "number" ? setting : own, () => undefined);
  return (tool) => ({
    group: Object.hasOwn(own, tool) ? tool : "",
    limit: limitOf(tool) ?? DEFAULT_CONCURRENCY,
  });
}

function perTool(
  option: string,
  setting: number | Readonly<Record<string, number>> | undefined,
  fallback: (tool: string) => number | undefined,
  check: (option: string, value: unknown) => void = checkPositive,
): (tool: string) => number | undefined {
  if (setting === undefined) return fallback;
  const values = typeof setting === "number" ? [setting] : Object.values(setting);
  for (const value of values) check(option, value);
  if (typeof setting === "number") return () => setting;
  return (tool) => (Object.hasOwn(setting, tool) ? setting[tool] : fallback(tool));
}

function checkTimeout(option: string, value: unknown): void {
  durationMs(option, value, { unit: "seconds", unlimited: true });
}

function checkPositive(option: string, value: unknown): void {
  if (typeof value === "number" && value > 0) return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    `The option '${option}' must be a positive number, not ${String(value)}.`,
  );
}

/**
 * Tools of the user first, by name, then those of the middleware; two tools with one name are refused. Servers list
 * their tools in any order, and providers cache the list.
 */
function collectTools(
  given: readonly unknown[],
  middleware: readonly AgentMiddleware[],
  answers: readonly string[],
): readonly AnyTool[] {
  const owners = new Map<string, string>();
  const add = (tool: AnyTool, owner: string): AnyTool => {
    const name = (tool as { name?: string }).name;
    const other = name === undefined ? undefined : owners.get(name);
    if (name !== undefined && other !== undefined)
      throw new ConfigurationError(
        "TOOL_NAME_COLLISION",
        `The tool '${name}' of ${owner} has the name of a tool of ${other}.`,
        {
          hint: "Rename one of them.",
        },
      );
    if (name !== undefined) owners.set(name, owner);
    return tool;
  };
  const builtIn = middleware.flatMap((m) =>
    (m.tools ?? []).map((tool) => add(tool as AnyTool, `middleware '${m.name}'`)),
  );
  const own = given.map((tool, i) => add(asTool(tool, i), "the option 'tools'"));
  for (const name of answers) add({ name } as AnyTool, "the option 'responseFormat'");
  return [...own.sort(byName), ...builtIn];
}

/** Tools of the provider, which may have no name, come last. */
function byName(one: AnyTool, other: AnyTool): number {
  const [first, second] = [one, other].map((tool) => (tool as { name?: string }).name ?? "\uffff");
  return (first as string) < (second as string) ? -1 : first === second ? 0 : 1;
}

/** A function with a schema is a tool too; a plain record is a tool the provider runs. */
function asTool(tool: unknown, index: number): AnyTool {
  if (typeof tool === "function" && !isRunnable(tool)) {
    const { name, description, schema } = tool as { name: string; description?: string; schema?: unknown };
    if (name && schema)
      return makeTool(
        tool as never,
        { name, description: description ?? name, schema } as never,
      ) as unknown as AnyTool;
  } else if (typeof tool === "object" && tool !== null) return tool as AnyTool;
  throw new ConfigurationError("INVALID_OPTION", `tools[${index}] is not a tool.`, {
    hint: "Pass LangChain tools, named functions with a `schema`, or the provider's tool records.",
  });
}

/** A part of the prompt. `spoken` holds the sections that are known only in a run. */
type Section = (visible: ReadonlySet<string>, spoken: readonly string[]) => string;

interface BuiltPrompt {
  readonly spoken: readonly string[];
  readonly message: SystemMessage | undefined;
}

const NOTHING_SPOKEN: readonly string[] = [];

/** Built once per set of visible tools and stays byte-identical, unless a section has something else to say. */
function promptBuilder(spec: LoopSpec, approvals: ApprovalPolicy | undefined): Loop["systemMessage"] {
  const sections = [...sectionsOf(spec.middleware), approvalSection(approvals)];
  const built = new WeakMap<ReadonlySet<string>, BuiltPrompt>();
  return (visible, spoken = NOTHING_SPOKEN) => {
    const known = built.get(visible);
    if (known !== undefined && sameItems(known.spoken, spoken)) return known.message;
    const message = composePrompt(spec, sections, visible, spoken);
    built.set(visible, { spoken, message });
    return message;
  };
}

function sectionsOf(middleware: readonly AgentMiddleware[]): readonly Section[] {
  let count = 0;
  return middleware.flatMap((m): Section[] => {
    const { prompt, section } = stagesOf(m) ?? {};
    const fixed: Section[] = prompt === undefined ? [] : [(visible) => prompt(visible)];
    if (section === undefined) return fixed;
    const index = count;
    count += 1;
    return [...fixed, (_, spoken) => spoken[index] ?? ""];
  });
}

function composePrompt(
  spec: LoopSpec,
  sections: readonly Section[],
  visible: ReadonlySet<string>,
  spoken: readonly string[],
): SystemMessage | undefined {
  const said = sections.map((section) => section(visible, spoken));
  const parts = [...spec.promptBefore, ...said, ...spec.promptAfter].filter((part) =>
    typeof part === "string" ? part !== "" : part.text !== "",
  );
  if (parts.length === 0) return undefined;
  if (parts.every((part) => typeof part === "string")) return new SystemMessage(parts.join("\n\n"));
  const blocks = separated(parts).flatMap((part) =>
    typeof part === "string" ? [{ type: "text", text: part }] : blocksOf(part),
  );
  return new SystemMessage({ content: blocks as never });
}

/** Blocks are joined without a break, so the text between them brings its own. */
function separated(parts: readonly (string | SystemMessage)[]): (string | SystemMessage)[] {
  return parts.map((part, i) => {
    if (typeof part !== "string") return part;
    const before = i > 0 ? "\n\n" : "";
    const after = i + 1 < parts.length && typeof parts[i + 1] !== "string" ? "\n\n" : "";
    return before + part + after;
  });
}

/** A system message given in blocks keeps them: they may carry cache markers. */
function blocksOf(message: SystemMessage): unknown[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}
