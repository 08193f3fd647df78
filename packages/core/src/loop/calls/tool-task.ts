/** The node `tools`: one task per call. Its packet holds the call's id; everything else is looked up. */
import { AIMessage, type BaseMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";
import { type Command, isGraphBubbleUp, Overwrite } from "@langchain/langgraph";
import { onTheSide } from "../../channel-values.ts";
import { sendWrites, type TaskConfig, type Write } from "../../engine/engine.ts";
import { type CallPacket, endRun } from "../approval/turn.ts";
import { goTo, type Loop, readMessages, turnNode } from "../contract/loop.ts";
import { isRefusedAnswer, markFailedAnswer } from "../contract/structured-output.ts";
import { type Messages, messagesReducer } from "../messages/messages.ts";
import { outcomeOf } from "../messages/outcome.ts";
import { overwritten } from "../messages/overwrite.ts";
import { problemOf } from "../messages/reply.ts";
import { failedResult } from "../messages/request.ts";
import { resultFor } from "../messages/result.ts";
import { withFinalOutcome } from "../task/final-outcome.ts";
import { offeredTools } from "../task/offered-tools.ts";
import { LoopTask } from "../task/stage-task.ts";
import { type CommandParts, commandParts, isAnyCommand, unknownTarget } from "../task/updates.ts";
import { type GateResult, passGate } from "./gateway.ts";
import { callsOnlyReturnDirect, isReturnDirect } from "./return-direct.ts";

type IdentifiedCall = ToolCall & { readonly id: string };

/** Returns the result messages for listeners of the node. */
export async function runToolTask(
  loop: Loop,
  packet: CallPacket,
  config: TaskConfig,
): Promise<{ messages: BaseMessage[] }> {
  const turn = turnOf(readMessages(config), packet.id);
  const call = turn?.tool_calls?.find((candidate) => candidate.id === packet.id) as
    | IdentifiedCall
    | undefined;
  if (turn === undefined || call === undefined) {
    // The call was taken out of the thread meanwhile: nothing to answer, and the run must not end here.
    sendWrites(config, goTo(turnNode(loop)));
    return { messages: [] };
  }
  const result = await answer(loop, packet, turn, call, config);
  return record(loop, turn, call, result, config);
}

function turnOf(messages: Messages, callId: string): AIMessage | undefined {
  return messages.findLast(
    (message) =>
      AIMessage.isInstance(message) && (message.tool_calls ?? []).some((call) => call.id === callId),
  ) as AIMessage | undefined;
}

async function answer(
  loop: Loop,
  packet: CallPacket,
  turn: AIMessage,
  call: IdentifiedCall,
  config: TaskConfig,
): Promise<GateResult> {
  if (packet.answer) return new ToolMessage({ ...packet.answer, tool_call_id: call.id, name: call.name });
  const problem = problemOf(turn, call.id);
  if (problem === undefined)
    return passGate({
      ...{ loop, config, call, turn },
      pass: packet.pass,
      extraTools: offeredTools(loop, config, turn),
    });
  const refusal = failedResult(call, `Error: ${problem}`);
  return isRefusedAnswer(turn, call.id) ? markFailedAnswer(refusal) : refusal;
}

async function record(
  loop: Loop,
  turn: AIMessage,
  call: IdentifiedCall,
  result: GateResult,
  config: TaskConfig,
): Promise<{ messages: BaseMessage[] }> {
  const task = new LoopTask(loop, config);
  const claim: Claim = (given) => resultFor(call, given, turn, readMessages(config));
  const parts = isAnyCommand(result) ? readCommand(loop, result, call) : result;
  if (ToolMessage.isInstance(parts)) {
    const message = await takeResult(loop, claim(parts), call, task);
    const end = withFinalOutcome(loop, config, onwards(loop, turn, message, call));
    sendWrites(config, [...task.writes(), ["messages", [message]], ...end]);
    return { messages: [message] };
  }
  const { messages, writes } = commandWrites(loop, turn, call, parts, claim);
  const given = messages[0] as ToolMessage;
  const taken = await takeResult(loop, given, call, task);
  const told = withFinalOutcome(loop, config, writes);
  sendWrites(config, [...task.writes(), ...told.map((write) => replaced(write, given, taken))]);
  return { messages: [taken, ...messages.slice(1)] };
}

async function takeResult(
  loop: Loop,
  given: ToolMessage,
  call: IdentifiedCall,
  task: LoopTask,
): Promise<ToolMessage> {
  let message = given;
  for (const stages of loop.stages) if (stages.result) message = await stages.result(message, call, task);
  return message;
}

function replaced([key, value]: Write, given: ToolMessage, taken: ToolMessage): Write {
  if (key !== "messages" || taken === given) return [key, value];
  const whole = overwritten(value);
  const list = (whole ? whole.value : value) as BaseMessage[];
  const messages = list.map((message) => (message === given ? taken : message));
  return [key, whole ? new Overwrite(messages) : messages];
}

/** Makes a message the result of the call at hand. */
type Claim = (given: ToolMessage) => ToolMessage;

/** A command that cannot be followed is the tool's failure: a result, not the end of the run. */
function readCommand(loop: Loop, command: Command, call: IdentifiedCall): CommandParts | ToolMessage {
  const unknown = unknownTarget(loop, command);
  if (unknown !== undefined)
    return failedResult(
      call,
      `Error: Tool '${call.name}' wanted to go to '${unknown}', which does not exist.`,
    );
  try {
    return commandParts(loop, command);
  } catch (error) {
    if (isGraphBubbleUp(error)) throw error;
    return failedResult(call, `Error: Tool '${call.name}' returned messages that are none.`);
  }
}

function commandWrites(
  loop: Loop,
  turn: AIMessage,
  call: IdentifiedCall,
  { writes, routes, ends }: CommandParts,
  claim: Claim,
): { messages: BaseMessage[]; writes: Write[] } {
  const messageWrites = writes.filter(([key]) => key === "messages").map(([, value]) => value);
  const whole = messageWrites.map(overwritten).find((value) => value !== undefined);
  const given = (whole ? whole.value : messageWrites.flat()) as BaseMessage[];
  const { kept, conflicts } = claimKeys(
    loop,
    turn,
    call,
    writes.filter(([key]) => key !== "messages"),
  );
  const messages = oneResult(given, call, conflicts, claim);
  const update = whole ? new Overwrite(withResult(given, messages[0] as ToolMessage)) : messages;
  const result = messages.find(ToolMessage.isInstance) as ToolMessage;
  const next = ends || routes.length > 0 ? routes : onwards(loop, turn, result, call);
  if (ends) kept.push(["outcome", outcomeOf(turn)]);
  const back = routes.length > 0 && !ends ? goTo(turnNode(loop)) : [];
  return { messages, writes: [...kept, ["messages", update], ...next, ...back] };
}

/** A tool that replaces the whole list gets its result into it, if its call is still there. */
function withResult(list: readonly BaseMessage[], result: ToolMessage): BaseMessage[] {
  if (list.includes(result) || turnOf(list, result.tool_call_id) === undefined) return [...list];
  return [...onTheSide(() => messagesReducer(list, [result]))];
}

/** Exactly one ToolMessage for this call, first; results for other calls are not this tool's to give. */
function oneResult(
  given: readonly BaseMessage[],
  call: IdentifiedCall,
  conflicts: readonly string[],
  claim: Claim,
): BaseMessage[] {
  const own = given.find((message) => ToolMessage.isInstance(message) && message.tool_call_id === call.id);
  const others = given.filter((message) => !ToolMessage.isInstance(message));
  const result =
    conflicts.length > 0
      ? failedResult(
          call,
          `Error: Another call of this turn already set ${conflicts.join(", ")}; its value was kept.`,
        )
      : ((own as ToolMessage | undefined) ??
        new ToolMessage({ content: `${call.name} is done.`, tool_call_id: call.id, name: call.name }));
  return [claim(result), ...others];
}

const claimed = new WeakMap<AIMessage, Map<string, string>>();

/** A key without a reducer takes one value a turn; the second call that sets it gets an error. */
function claimKeys(
  loop: Loop,
  turn: AIMessage,
  call: IdentifiedCall,
  writes: readonly Write[],
): { kept: Write[]; conflicts: string[] } {
  const owners = claimed.get(turn) ?? new Map<string, string>();
  claimed.set(turn, owners);
  const isFree = ([key]: Write): boolean => {
    const owner = owners.get(key);
    if (!loop.state.singleValueKeys.has(key) || owner === undefined || owner === call.id) {
      owners.set(key, owner ?? call.id);
      return true;
    }
    return false;
  };
  const kept = writes.filter(isFree);
  return { kept, conflicts: writes.filter((write) => !kept.includes(write)).map(([key]) => `'${key}'`) };
}

/** Back to the model, unless this was the last word of a turn that only called returnDirect tools. */
function onwards(loop: Loop, turn: AIMessage, result: ToolMessage, call: ToolCall): Write[] {
  if (result.status === "error" || !isReturnDirect(loop, call.name)) return goTo(turnNode(loop));
  return callsOnlyReturnDirect(loop, turn) ? endRun(loop, turn) : [];
}
