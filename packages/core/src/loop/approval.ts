/** The node `approval`: asks a person once about all gated calls of a turn. */
import type { AIMessage, ToolCall } from "@langchain/core/messages";
import { interopSafeParse, isInteropZodSchema } from "@langchain/core/utils/types";
import { interrupt } from "@langchain/langgraph";
import { sendWrites, type TaskConfig, type Write } from "../engine.ts";
import {
  type ApprovalPolicy,
  type ApprovalRequest,
  approvalRequest,
  type Decision,
  readDecisions,
} from "./approval-policy.ts";
import { describeIssues } from "./channels.ts";
import { jsonSchemaDetail } from "./failure-words.ts";
import { type Loop, readMessages, stateView } from "./loop.ts";
import { lastTurn } from "./messages.ts";
import { withArguments } from "./reply.ts";
import { runtimeFor } from "./runtime.ts";
import { type CallPacket, isGated, routeToTools, sendCall } from "./turn.ts";

type Answer = CallPacket["answer"];

export async function runApproval(loop: Loop, config: TaskConfig): Promise<Record<string, unknown>> {
  const messages = readMessages(config);
  const turn = lastTurn(messages);
  const gated = turn?.pending.filter(({ index }) => isGated(loop, turn.message, index)) ?? [];
  if (turn === undefined || gated.length === 0) {
    sendWrites(config, routeToTools(loop, messages));
    return {};
  }
  const calls = gated.map(({ index }) => turn.message.tool_calls?.[index] as ToolCall);
  const scene = { state: stateView(loop, config), runtime: runtimeFor(undefined, config) };
  const request = await approvalRequest(loop.approvals as ApprovalPolicy, calls, scene);
  const decisions = askUntilValid(loop, calls, request);
  const byCall = new Map(calls.map((call, i) => [call.id as string, decisions[i] as Decision]));
  const packets = turn.pending.map(({ id, index }) => packetFor(id, index, turn.message, byCall.get(id)));
  const edited = editedMessage(turn.message, byCall);
  const update: Write[] = edited ? [["messages", [edited]]] : [];
  sendWrites(config, [...update, ...packets.map(sendCall)]);
  return edited ? { messages: [edited] } : {};
}

/**
 * A malformed answer is asked for again, with the reason. It must not throw: the engine would keep
 * the bad answer and replay it for ever.
 */
function askUntilValid(
  loop: Loop,
  calls: readonly ToolCall[],
  request: ApprovalRequest,
): readonly Decision[] {
  const policy = loop.approvals as ApprovalPolicy;
  let problem: string | undefined;
  for (;;) {
    const answer = interrupt(problem === undefined ? request : { ...request, error: problem });
    const read = readDecisions(answer, policy, calls, (tool, args) => argumentProblem(loop, tool, args));
    if ("decisions" in read) return read.decisions;
    problem = read.problem;
  }
}

function argumentProblem(loop: Loop, tool: string, args: Record<string, unknown>): string | undefined {
  const schema = (loop.clientTools.get(tool) as { schema?: unknown } | undefined)?.schema;
  if (schema === undefined) return undefined;
  if (!isInteropZodSchema(schema)) return jsonSchemaDetail(schema, args) || undefined;
  const result = interopSafeParse(schema, args);
  // A check that throws or takes time reports no issues: then the tool's own check decides when it runs.
  const issues = result.success ? undefined : (result.error.issues as typeof result.error.issues | undefined);
  return issues && describeIssues(issues);
}

/** A call that is not simply run carries its answer, so that no executor can be reached for it. */
function packetFor(
  id: string,
  index: number,
  message: AIMessage,
  decision: Decision | undefined,
): CallPacket {
  const answer = answerFor(message.tool_calls?.[index]?.name ?? "", decision);
  return answer ? { id, index, answer } : { id, index };
}

function answerFor(tool: string, decision: Decision | undefined): Answer {
  if (decision?.type === "respond") return { content: decision.message, status: "success" };
  if (decision?.type !== "reject") return undefined;
  const reason = decision.message ? `: ${decision.message}` : ".";
  return {
    content: `The call of ${tool} was rejected by a person and did not run${reason}`,
    status: "error",
  };
}

function editedMessage(message: AIMessage, decisions: ReadonlyMap<string, Decision>): AIMessage | undefined {
  const edits = new Map<string, Record<string, unknown>>();
  for (const [id, decision] of decisions)
    if (decision.type === "edit") edits.set(id, decision.editedAction.args);
  return edits.size > 0 ? withArguments(message, edits) : undefined;
}
