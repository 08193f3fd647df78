/** The node `approval`: asks a person once about all calls of a turn that need it. */
import type { AIMessage, ToolCall } from "@langchain/core/messages";
import { interopSafeParse, isInteropZodSchema } from "@langchain/core/utils/types";
import { interrupt, Send } from "@langchain/langgraph";
import { isNewestAnswer, sendWrites, TASKS, type TaskConfig, type Write } from "../../engine/engine.ts";
import {
  APPROVAL_PLAN,
  APPROVALS,
  agentPathOf,
  type RememberedApproval,
  rememberAlways,
  rememberedCall,
  type ShownCall,
  shareApprovals,
  storeOf,
  threadApprovals,
} from "../approval-rules/approval-memory.ts";
import {
  approvalRequest,
  type Decision,
  type DecisionChecks,
  type Question,
  readDecisions,
  usualDescription,
} from "../approval-rules/approval-policy.ts";
import { boundFiles, type CallInputs, type InputFile, inputWords } from "../approval-rules/call-inputs.ts";
import { callShape } from "../approval-rules/call-shape.ts";
import { describeIssues } from "../contract/channels.ts";
import { APPROVAL_NODE, type Loop, readMessages } from "../contract/loop.ts";
import { jsonSchemaDetail, refusedArguments } from "../failures/argument-words.ts";
import { lastTurn } from "../messages/messages.ts";
import { withArguments } from "../messages/reply.ts";
import type { AnyTool } from "../providers/any-tool.ts";
import { offeredTools } from "../task/offered-tools.ts";
import { asksEveryTime, inputsOf, judgeCall, memoryShape, pathsOfCall, sceneOf } from "./approval-need.ts";
import { type CallPacket, type CallPass, isWatched, routeToTools, sendCall } from "./turn.ts";

type Turn = NonNullable<ReturnType<typeof lastTurn>>;
type Answer = NonNullable<CallPacket["answer"]>;

/** Plan for the calls of a turn; data, because it may have to wait in a checkpoint. */
interface Plan {
  /** The calls that go on as they are, in call order. */
  readonly settled: readonly CallPacket[];
  readonly asked: readonly Omit<Question, "call">[];
  readonly askedIds: readonly string[];
}

export async function runApproval(
  loop: Loop,
  input: unknown,
  config: TaskConfig,
): Promise<Record<string, unknown>> {
  const messages = readMessages(config);
  const turn = lastTurn(messages);
  if (turn === undefined || turn.pending.length === 0) {
    sendWrites(config, routeToTools(loop, messages));
    return {};
  }
  const known = (input as { [APPROVAL_PLAN]?: Plan } | undefined)?.[APPROVAL_PLAN];
  const plan = known ?? (await planTurn(loop, turn, config));
  if (plan.asked.length === 0) {
    sendWrites(config, plan.settled.map(sendCall));
    return {};
  }
  if (known === undefined && mayVary(loop, plan, config)) {
    sendWrites(config, [[TASKS, new Send(APPROVAL_NODE, { [APPROVAL_PLAN]: plan })]]);
    return {};
  }
  return askAbout(loop, turn, plan, config);
}

/**
 * Whether a second look could find other calls to ask about. If so, the findings are stored before a person is asked,
 * so that the answers belong to the calls that were shown.
 */
function mayVary(loop: Loop, { asked, settled }: Plan, config: TaskConfig): boolean {
  if (loop.gates.length > 0 || storeOf(config) !== undefined) return true;
  if (settled.some(({ answer }) => answer !== undefined)) return true;
  if (asked.some(({ inputs }) => inputs !== undefined)) return true;
  return [...(loop.approvals?.values() ?? [])].some(({ when }) => when !== undefined);
}

async function planTurn(loop: Loop, turn: Turn, config: TaskConfig): Promise<Plan> {
  const { refused, shown = [] } = threadApprovals(config);
  const places = await Promise.all(
    turn.pending.map(async ({ id, index }): Promise<CallPacket | Question> => {
      const call = turn.message.tool_calls?.[index] as ToolCall;
      if (refused.includes(id)) return { id, index, answer: decidedBefore(call.name) };
      if (!isWatched(loop, turn.message, index)) return { id, index };
      const tool = toolOf(loop, turn, call.name, config);
      const { question, shape, verdict, places, inputs } = await judgeCall(loop, call, tool, config);
      if (question !== undefined) {
        const problem = await refusedArguments(tool, call.args);
        if (problem !== undefined) return { id, index, answer: { content: problem, status: "error" } };
        return withInputWords(question, inputs, shown.find(({ call }) => call === shape.id)?.files);
      }
      const about = { ...(places && { places }), ...(inputs && { inputs: boundFiles(inputs) }) };
      return { id, index, pass: { shape: shape.id, approved: verdict === "approved", ...about } };
    }),
  );
  const questions = places.filter((place): place is Question => "call" in place);
  return {
    settled: places.filter((place): place is CallPacket => "id" in place),
    asked: questions.map(({ call: _, ...question }) => question),
    askedIds: questions.map(({ call }) => call.id as string),
  };
}

function withInputWords(
  question: Question,
  inputs: CallInputs | undefined,
  before: readonly InputFile[] | undefined,
): Question {
  const words = inputs === undefined ? "" : inputWords(inputs, before);
  if (words === "") return question;
  const { description = usualDescription(question.call) } = question;
  return { ...question, description: `${description}\n${words}` };
}

function toolOf(loop: Loop, turn: Turn, name: string, config: TaskConfig): AnyTool | undefined {
  return offeredTools(loop, config, turn.message)?.get(name) ?? loop.clientTools.get(name);
}

async function askAbout(
  loop: Loop,
  turn: Turn,
  plan: Plan,
  config: TaskConfig,
): Promise<Record<string, unknown>> {
  const calls = turn.message.tool_calls ?? [];
  const questions = plan.asked.map((question, i) => ({
    ...question,
    call: calls.find((call) => call.id === plan.askedIds[i]) as ToolCall,
  }));
  const decisions = await askUntilValid(loop, turn, plan, questions, config);
  const byCall = new Map(plan.askedIds.map((id, i) => [id, decisions[i] as Decision]));
  const edited = editedMessage(turn.message, byCall);
  const message = edited ?? turn.message;
  const settled = new Map(plan.settled.map((packet) => [packet.id, packet]));
  const packets = await Promise.all(
    turn.pending.map(async ({ id, index }) => {
      const decision = byCall.get(id);
      if (decision === undefined) return settled.get(id) ?? { id, index };
      const call = (message.tool_calls ?? [])[index] as ToolCall;
      const shape = callShape(agentPathOf(config), call, toolOf(loop, turn, call.name, config)).id;
      const about =
        decision.type === "edit" ? await nowAbout(loop, turn, call, config) : shownAbout(plan, id);
      return decidedPacket({ id, index }, decision, call, { shape, approved: true, ...about });
    }),
  );
  const memory = remember(loop, turn, plan, byCall, config);
  const update: Write[] = edited ? [["messages", [edited]]] : [];
  sendWrites(config, [...update, ...memory, ...packets.map(sendCall)]);
  return edited ? { messages: [edited] } : {};
}

type About = Pick<CallPass, "places" | "inputs">;

function shownAbout({ asked, askedIds }: Plan, id: string): About {
  const { places, inputs } = asked[askedIds.indexOf(id)] ?? {};
  return { ...(places && { places }), ...(inputs && { inputs }) };
}

/** For arguments that a person edited: the files as they are at this moment. */
async function nowAbout(loop: Loop, turn: Turn, call: ToolCall, config: TaskConfig): Promise<About> {
  const inputs = await inputsOf(loop, call, toolOf(loop, turn, call.name, config), config);
  return { ...(await pathsOfCall(loop, call, config)), ...(inputs && { inputs: boundFiles(inputs) }) };
}

/**
 * Asks again after a malformed answer, with the reason. It must not throw: the engine would keep the bad answer and
 * replay it for ever. Only the newest answer counts: earlier ones were refused, and the reason for that may no longer
 * exist.
 */
async function askUntilValid(
  loop: Loop,
  turn: Turn,
  plan: Plan,
  questions: readonly Question[],
  config: TaskConfig,
): Promise<readonly Decision[]> {
  const request = approvalRequest(questions, agentPathOf(config));
  const checks = checksFor(loop, turn, config);
  let problem: string | undefined;
  for (;;) {
    const answer = interrupt(problem === undefined ? request : { ...request, error: problem });
    if (problem !== undefined || !isNewestAnswer(config)) continue;
    const read = await readDecisions(answer, questions, checks);
    problem =
      "problem" in read ? read.problem : await keepingProblem(loop, turn, plan, read.decisions, config);
    if ("decisions" in read && problem === undefined) return read.decisions;
  }
}

/**
 * Stores approvals that were given for always. Returns a problem, and the person is asked again, if one cannot be
 * stored.
 */
async function keepingProblem(
  loop: Loop,
  turn: Turn,
  plan: Plan,
  decisions: readonly Decision[],
  config: TaskConfig,
): Promise<string | undefined> {
  for (const [i, id] of plan.askedIds.entries()) {
    const decision = decisions[i];
    if (decision?.type !== "approve" || decision.remember !== "always") continue;
    const call = turn.message.tool_calls?.find((one) => one.id === id) as ToolCall;
    if (!(await rememberAlways(config, approvalOf(loop, turn, plan, call, config))))
      return `Decision ${i + 1} (${call.name}): the store could not keep the approval; approve it for the thread, or once.`;
  }
  return undefined;
}

/** The approval in its stored form. */
function approvalOf(
  loop: Loop,
  turn: Turn,
  plan: Plan,
  call: ToolCall,
  config: TaskConfig,
): RememberedApproval {
  const shape = callShape(agentPathOf(config), call, toolOf(loop, turn, call.name, config));
  const { inputs } = shownAbout(plan, call.id as string);
  return rememberedCall(memoryShape(loop, call, shape, inputs), call.name, agentPathOf(config));
}

function checksFor(loop: Loop, turn: Turn, config: TaskConfig): DecisionChecks {
  return {
    edited: async (call) =>
      argumentProblem(toolOf(loop, turn, call.name, config), call.args) ??
      (await gateProblem(loop, call, config)),
    remembered: (scope, call) => {
      if (asksEveryTime(loop, call.name, config))
        return "every call has to be approved, so that no approval is remembered; leave 'remember' out.";
      return scope === "always" && storeOf(config) === undefined
        ? "the agent has no store to remember it in; approve it for the thread, or once."
        : undefined;
    },
  };
}

function argumentProblem(tool: AnyTool | undefined, args: Record<string, unknown>): string | undefined {
  const schema = (tool as { schema?: unknown } | undefined)?.schema;
  if (schema === undefined) return undefined;
  if (!isInteropZodSchema(schema)) return jsonSchemaDetail(schema, args) || undefined;
  const result = interopSafeParse(schema, args);
  // A check that throws or takes time reports no issues: then the tool's own check decides when it runs.
  const issues = result.success ? undefined : (result.error.issues as typeof result.error.issues | undefined);
  return issues && describeIssues(issues);
}

/**
 * Returns the failure of a gate as a problem. If it threw, the engine would keep the answer and fail again for ever.
 */
async function gateProblem(loop: Loop, call: ToolCall, config: TaskConfig): Promise<string | undefined> {
  const scene = sceneOf(loop, config);
  for (const gate of loop.gates) {
    if (!gate.watches(call.name)) continue;
    try {
      const problem = await gate.refuses?.(call, scene);
      if (problem !== undefined) return problem;
    } catch {
      config.signal?.throwIfAborted();
      return "whether they are allowed could not be found out.";
    }
  }
  return undefined;
}

/** A call that is not to run carries its answer, so that no executor can be reached for it. */
function decidedPacket(
  place: { readonly id: string; readonly index: number },
  decision: Decision,
  call: ToolCall,
  pass: CallPass,
): CallPacket {
  if (decision.type === "respond")
    return { ...place, answer: { content: decision.message, status: "success" } };
  if (decision.type === "reject") return { ...place, answer: refusal(call.name, decision) };
  return { ...place, pass };
}

function refusal(tool: string, { message, unattended }: Extract<Decision, { type: "reject" }>): Answer {
  const reason = message ? `: ${message}` : ".";
  const why = unattended
    ? "needs approval, no person could be asked, and it did not run"
    : "was rejected by a person and did not run";
  return { content: `The call of ${tool} ${why}${reason}`, status: "error" };
}

function decidedBefore(tool: string): Answer {
  return {
    content: `The call of ${tool} did not run: a person has decided about it already.`,
    status: "error",
  };
}

function editedMessage(message: AIMessage, decisions: ReadonlyMap<string, Decision>): AIMessage | undefined {
  const edits = new Map<string, Record<string, unknown>>();
  for (const [id, decision] of decisions)
    if (decision.type === "edit") edits.set(id, decision.editedAction.args);
  return edits.size > 0 ? withArguments(message, edits) : undefined;
}

/** Refused calls are stored by their ids, lasting approvals by the exact call. */
function remember(
  loop: Loop,
  turn: Turn,
  plan: Plan,
  decisions: ReadonlyMap<string, Decision>,
  config: TaskConfig,
): Write[] {
  const refused: string[] = [];
  const remembered: RememberedApproval[] = [];
  const shown: ShownCall[] = [];
  for (const call of turn.message.tool_calls ?? []) {
    const decision = decisions.get(call.id ?? "");
    if (decision?.type === "reject" || decision?.type === "respond") refused.push(call.id as string);
    if (decision === undefined) continue;
    const shape = callShape(agentPathOf(config), call, toolOf(loop, turn, call.name, config));
    const { inputs } = shownAbout(plan, call.id as string);
    if (inputs !== undefined && inputs.length > 0) shown.push({ call: shape.id, files: inputs });
    if (decision.type === "approve" && decision.remember === "thread")
      remembered.push(approvalOf(loop, turn, plan, call, config));
  }
  shareApprovals(config, remembered);
  const isNew = refused.length + remembered.length + shown.length > 0;
  return isNew ? [[APPROVALS, { remembered, refused, shown }]] : [];
}
