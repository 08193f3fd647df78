/**
 * The last check before a tool runs: a call that needs approval has it, for exactly these arguments.
 *
 * It runs after all middleware. A wrapper may change a call or make calls of its own; each watched call still needs an
 * approval from the approval node, or runs because no gate asks about it.
 */
import type { ToolCall } from "@langchain/core/messages";
import type { TaskConfig } from "../../engine/engine.ts";
import { agentPathOf, threadApprovals } from "../approval-rules/approval-memory.ts";
import { boundFiles, type InputFile } from "../approval-rules/call-inputs.ts";
import { callShape } from "../approval-rules/call-shape.ts";
import type { Loop } from "../contract/loop.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import { judgeCall, mayAsk } from "./approval-need.ts";
import type { CallPass } from "./turn.ts";

export interface Permit {
  readonly toolCall: ToolCall;
  /** A person agreed to it. */
  readonly approved: boolean;
  /** The files it was about then; absent: no gate knows. */
  readonly places?: readonly string[] | undefined;
  /** The files it reads, as they were then; absent: its tool does not say. */
  readonly inputs?: readonly InputFile[] | undefined;
}

export interface PermitRequest {
  readonly loop: Loop;
  readonly config: TaskConfig;
  /** The call as the model made it. */
  readonly call: ToolCall;
  readonly pass?: CallPass | undefined;
  /** Call that the middleware wants to run. */
  readonly toolCall: ToolCall;
  readonly tool: AnyTool;
}

/** The call to run, or why it must not run; for a loop that asks people. */
export async function permitCall(request: PermitRequest): Promise<Permit | { readonly refusal: string }> {
  const { loop, config, toolCall } = request;
  const { refused } = threadApprovals(config);
  if ([request.call.id, toolCall.id].some((id) => refused.includes(id ?? "")))
    return { refusal: `Error: The call of ${toolCall.name} did not run: a person decided that it must not.` };
  const names = new Set([toolCall.name, (request.tool as { name?: string }).name ?? toolCall.name]);
  const watched = [...names].filter((name) => mayAsk(loop, name));
  return watched.length === 0 ? { toolCall, approved: false } : permitWatched(request, watched);
}

async function permitWatched(
  request: PermitRequest,
  names: readonly string[],
): Promise<Permit | { readonly refusal: string }> {
  const { loop, config, call, pass, tool } = request;
  const toolCall = asData(request.toolCall);
  if (toolCall === undefined) return { refusal: words(request.toolCall.name) };
  const { id } = callShape(agentPathOf(config), toolCall, tool);
  const isSame = names.length === 1 && names[0] === call.name && toolCall.id === call.id;
  if (pass !== undefined && isSame && pass.shape === id)
    return { toolCall, approved: pass.approved, places: pass.places, inputs: pass.inputs };
  const judged = await Promise.all(names.map((name) => judgeCall(loop, { ...toolCall, name }, tool, config)));
  if (judged.some(({ verdict }) => verdict === "ask")) return { refusal: words(toolCall.name) };
  const approved = judged.every(({ verdict }) => verdict === "approved");
  const known = judged.flatMap(({ places }) => (places ? [places] : []));
  const [inputs] = judged.flatMap(({ inputs: read }) => (read ? [boundFiles(read)] : []));
  return { toolCall, approved, places: known.length > 0 ? known.flat() : undefined, inputs };
}

/** A copy that later changes do not reach; undefined if the arguments are not data that a model can send. */
function asData(call: ToolCall): ToolCall | undefined {
  try {
    const args = structuredClone(call.args);
    return isJson(args) ? { ...call, name: String(call.name), args } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether its JSON is complete. Two values with the same JSON would share one approval. */
function isJson(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (Array.isArray(value)) return Array.from(value).every(isJson);
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.values(value).every((item) => item === undefined || isJson(item));
}

function words(tool: string): string {
  return `Error: The call of ${tool} did not run: it needs a person's approval, and no person approved it with these arguments.`;
}
