/** Decides the step after a model's reply: tools, a person, another turn, or the end. */
import type { AIMessage } from "@langchain/core/messages";
import { Send } from "@langchain/langgraph";
import { TASKS, type Write } from "../../engine/engine.ts";
import type { InputFile } from "../approval-rules/call-inputs.ts";
import { APPROVAL_NODE, exitNode, goTo, type Loop, TOOLS_NODE, turnNode } from "../contract/loop.ts";
import { isFailedAnswer } from "../contract/structured-output.ts";
import { lastTurn, type Messages } from "../messages/messages.ts";
import { outcomeOf } from "../messages/outcome.ts";
import { problemOf } from "../messages/reply.ts";
import { mayAsk } from "./approval-need.ts";

/** Input of a tool task: the id of the call, never the call itself; and the answer if it must not run. */
export interface CallPacket {
  readonly id: string;
  readonly index: number;
  readonly answer?: { readonly content: string; readonly status: "success" | "error" };
  /** Set for a call that a gate might ask about. Without it such a call does not run. */
  readonly pass?: CallPass;
}

/** The word of the approval node: this call, with just these arguments, may run. */
export interface CallPass {
  /** The id of the call's shape. */
  readonly shape: string;
  /** A person agreed to it, now or before. */
  readonly approved: boolean;
  /** The files they were shown it is about; absent: no gate knows. */
  readonly places?: readonly string[];
  /** The files it reads, as they were when the question was made; absent: its tool does not say. */
  readonly inputs?: readonly InputFile[];
}

export function sendCall(packet: CallPacket): Write {
  return [TASKS, new Send(TOOLS_NODE, packet)];
}

/** Routes after the model and its hooks; `messages` includes what this task is about to write. */
export function routeTurn(loop: Loop, messages: Messages, structured?: unknown): Write[] {
  const turn = lastTurn(messages);
  if (turn === undefined) return endRun(loop, undefined);
  const { message, pending } = turn;
  if (pending.length > 0) return routePending(loop, messages);
  if (structured !== undefined) return endRun(loop, message);
  const answeredByHooks = (message.tool_calls ?? []).length > 0;
  return answeredByHooks || isFailedAnswer(messages.at(-1)) ? goTo(turnNode(loop)) : endRun(loop, message);
}

/**
 * Routes to the unanswered calls. If a gate might ask about one, the route passes the approval node; nothing can jump
 * past it.
 */
export function routePending(loop: Loop, messages: Messages): Write[] {
  const turn = lastTurn(messages);
  const watched = turn?.pending.some(({ index }) => isWatched(loop, turn.message, index));
  return watched ? goTo(APPROVAL_NODE) : routeToTools(loop, messages);
}

/** Sends for every unanswered call; no question is asked. */
export function routeToTools(loop: Loop, messages: Messages): Write[] {
  const pending = lastTurn(messages)?.pending ?? [];
  return pending.length > 0 ? pending.map(sendCall) : goTo(turnNode(loop));
}

export function endRun(loop: Loop, message: AIMessage | undefined): Write[] {
  return [["outcome", outcomeOf(message)], ...goTo(exitNode(loop))];
}

/** A call that cannot run is answered with its problem, without a question to a person. */
export function isWatched(loop: Loop, message: AIMessage, index: number): boolean {
  const call = message.tool_calls?.[index];
  if (call === undefined || !mayAsk(loop, call.name)) return false;
  return problemOf(message, call.id ?? "") === undefined;
}
