/** Whether a person must decide about a call: by the policy, or because a gate finds a reason in its arguments. */
import type { ToolCall } from "@langchain/core/messages";
import { interopSafeParseAsync, isInteropZodSchema } from "@langchain/core/utils/types";
import type { TaskConfig } from "../../engine/engine.ts";
import { agentPathOf, isInsideEveryTime, isRemembered } from "../approval-rules/approval-memory.ts";
import {
  type ApprovalRule,
  type ApprovalScene,
  DECISION_TYPES,
  type DecisionType,
  type GateReason,
  type Question,
} from "../approval-rules/approval-policy.ts";
import { boundFiles, type CallInputs, type InputFile, workspaceUse } from "../approval-rules/call-inputs.ts";
import {
  type CallShape,
  callShape,
  shapeAt,
  withCanonicalPaths,
  withInputs,
} from "../approval-rules/call-shape.ts";
import { asksPeople, type Loop, stateView } from "../contract/loop.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import { runtimeFor } from "../task/runtime.ts";
import { LoopTask } from "../task/stage-task.ts";

/** Whether calls of this tool might be asked about; looks at nothing but the name. */
export function mayAsk(loop: Loop, tool: string): boolean {
  if (!asksPeople(loop)) return false;
  return loop.approvals?.has(tool) === true || loop.gates.some((gate) => gate.watches(tool));
}

export interface Judged {
  readonly shape: CallShape;
  /** `approved`: a person has agreed to exactly this call before. */
  readonly verdict: "free" | "approved" | "ask";
  readonly question?: Question;
  /** The files the call is about, where a gate knows. */
  readonly places?: readonly string[];
  /** The files that the call reads, if its tool names them and an approval is needed. */
  readonly inputs?: CallInputs;
}

/** Decides about a call of a tool that is watched. */
export async function judgeCall(
  loop: Loop,
  call: ToolCall,
  tool: AnyTool | undefined,
  config: TaskConfig,
): Promise<Judged> {
  const shape = callShape(agentPathOf(config), call, tool);
  const question = await questionAbout(loop, call, tool, sceneOf(loop, config), config);
  if (question === undefined) return { shape, verdict: "free" };
  const places = await pathsOfCall(loop, call, config);
  const inputs = await inputsOf(loop, call, tool, config);
  const bound = inputs && boundFiles(inputs);
  const about = { ...places, ...(inputs && { inputs }) };
  const isKnown =
    !asksEveryTime(loop, call.name, config) &&
    (await isRemembered(memoryShape(loop, call, shape, bound), config));
  return isKnown
    ? { shape, verdict: "approved", ...about }
    : {
        shape,
        verdict: "ask",
        ...about,
        question: { ...question, ...places, ...(bound && { inputs: bound }) },
      };
}

/** The files a call reads now; undefined where its tool does not say. */
export async function inputsOf(
  loop: Loop,
  { args }: ToolCall,
  tool: AnyTool | undefined,
  config: TaskConfig,
): Promise<CallInputs | undefined> {
  const use = workspaceUse(tool);
  if (use?.inputs === undefined) return undefined;
  const { runtime } = new LoopTask(loop, config);
  const unknown: CallInputs = { files: [], isOpen: true };
  return orWhenItFails(unknown, config.signal, () => use.inputs?.(args, runtime, config.signal) ?? unknown);
}

/** Whether each call of this tool needs an approval of its own. */
export function asksEveryTime(loop: Loop, tool: string, config: TaskConfig): boolean {
  return isInsideEveryTime(config) || loop.gates.some((gate) => gate.everyTime && gate.watches(tool));
}

/** The shape that a remembered approval of this call has, with the files the call reads. */
export function memoryShape(
  loop: Loop,
  { name }: ToolCall,
  shape: CallShape,
  inputs?: readonly InputFile[],
): CallShape {
  return withInputs(shapeAt(shape, loop.approvals?.get(name)?.rememberedFor), inputs);
}

/** Paths that an approval of this call would cover; none if no gate knows. */
export async function pathsOfCall(
  loop: Loop,
  call: ToolCall,
  config: TaskConfig,
): Promise<{ readonly places?: readonly string[] }> {
  const knowing = loop.gates.filter((gate) => gate.places !== undefined && gate.watches(call.name));
  if (knowing.length === 0) return {};
  const scene = sceneOf(loop, config);
  const found = await Promise.all(
    knowing.map((gate) =>
      orWhenItFails<readonly string[]>([], config.signal, () => gate.places?.(call, scene) ?? []),
    ),
  );
  return { places: found.flat() };
}

export function sceneOf(loop: Loop, config: TaskConfig): Required<ApprovalScene> {
  return {
    state: stateView(loop, config),
    runtime: runtimeFor(undefined, config),
    config,
    questionOf: async (call) => {
      if (!mayAsk(loop, call.name)) return undefined;
      return (await judgeCall(loop, call, loop.clientTools.get(call.name), config)).question;
    },
  };
}

async function questionAbout(
  loop: Loop,
  call: ToolCall,
  tool: AnyTool | undefined,
  scene: Required<ApprovalScene>,
  { signal }: TaskConfig,
): Promise<Question | undefined> {
  const rule = loop.approvals?.get(call.name);
  const byRule = rule !== undefined && (await applies(rule, call, tool, scene, signal));
  const reasons = await gateReasons(loop, call, scene, signal);
  if (!byRule && reasons.length === 0) return undefined;
  const words = byRule ? await described(rule, call, scene, signal) : undefined;
  const description = [words, ...reasons.map((reason) => reason.description)].filter(Boolean).join("\n");
  const allowed = [byRule ? rule.allowedDecisions : undefined, ...reasons.map((r) => r.allowedDecisions)];
  return {
    call,
    allowedDecisions: allowedByAll(allowed),
    ...(description === "" ? {} : { description }),
    ...(byRule && rule.argsSchema ? { argsSchema: rule.argsSchema } : {}),
  };
}

async function applies(
  { when }: ApprovalRule,
  call: ToolCall,
  tool: AnyTool | undefined,
  { state, runtime }: ApprovalScene,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (when === undefined) return true;
  return orWhenItFails(true, signal, async () => {
    const args = withCanonicalPaths(tool, await parsedArguments(call, tool));
    return (await when({ toolCall: { ...call, args }, tool, state, runtime })) !== false;
  });
}

/** As the tool will read them. Throws where its schema refuses them. */
async function parsedArguments(
  call: ToolCall,
  tool: AnyTool | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  const { schema } = (tool ?? {}) as { schema?: unknown };
  if (!isInteropZodSchema(schema)) return call.args;
  const result = await interopSafeParseAsync(schema, call.args);
  if (!result.success) throw result.error;
  return result.data as Record<string, unknown>;
}

/** Words that cannot be had are no reason not to ask. */
function described(
  { description }: ApprovalRule,
  call: ToolCall,
  { state, runtime }: ApprovalScene,
  signal: AbortSignal | undefined,
): string | undefined | Promise<string | undefined> {
  if (typeof description !== "function") return description;
  return orWhenItFails(undefined, signal, () => description(call, state, runtime));
}

async function gateReasons(
  loop: Loop,
  call: ToolCall,
  scene: ApprovalScene,
  signal: AbortSignal | undefined,
): Promise<GateReason[]> {
  const unknown: GateReason = { description: "Whether this call needs approval could not be found out." };
  const watching = loop.gates.filter((gate) => gate.watches(call.name));
  const found = await Promise.all(
    watching.map((gate) => orWhenItFails(unknown, signal, () => gate.asks(call, scene))),
  );
  return found.filter((reason) => reason !== undefined);
}

/** A check that fails counts as a check that asks. An aborted run stops. */
async function orWhenItFails<Value>(
  fallback: Value,
  signal: AbortSignal | undefined,
  check: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    return await check();
  } catch {
    signal?.throwIfAborted();
    return fallback;
  }
}

/** In the order of the first list. A call that two reasons allow nothing in common for can only be rejected. */
function allowedByAll(lists: readonly (readonly DecisionType[] | undefined)[]): readonly DecisionType[] {
  const [first = DECISION_TYPES, ...others] = lists.filter((list) => list !== undefined);
  const allowed = first.filter((type) => others.every((list) => list.includes(type)));
  return allowed.length > 0 ? allowed : ["reject"];
}
