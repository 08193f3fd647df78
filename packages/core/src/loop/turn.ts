/** What follows a model's reply: tools, a person, another turn, or the end. */
import type { AIMessage } from "@langchain/core/messages";
import { Send } from "@langchain/langgraph";
import { TASKS, type Write } from "../engine.ts";
import { APPROVAL_NODE, exitNode, goTo, type Loop, TOOLS_NODE, turnNode } from "./loop.ts";
import { lastTurn, type Messages } from "./messages.ts";
import { outcomeOf } from "./outcome.ts";
import { problemOf } from "./reply.ts";
import { isFailedAnswer } from "./structured-output.ts";

/** What a tool task is told: which call, never the call itself; and the answer if it must not run. */
export interface CallPacket {
  readonly id: string;
  readonly index: number;
  readonly answer?: { readonly content: string; readonly status: "success" | "error" };
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

/** To the unanswered calls, by way of a person where one must be asked; nobody jumps past that. */
export function routePending(loop: Loop, messages: Messages): Write[] {
  const turn = lastTurn(messages);
  const gated = turn?.pending.some(({ index }) => isGated(loop, turn.message, index));
  return gated ? goTo(APPROVAL_NODE) : routeToTools(loop, messages);
}

/** Sends for every unanswered call; no question is asked. */
export function routeToTools(loop: Loop, messages: Messages): Write[] {
  const pending = lastTurn(messages)?.pending ?? [];
  return pending.length > 0 ? pending.map(sendCall) : goTo(turnNode(loop));
}

export function endRun(loop: Loop, message: AIMessage | undefined): Write[] {
  return [["outcome", outcomeOf(message)], ...goTo(exitNode(loop))];
}

/** A call that cannot run is answered with its problem; nobody is asked about it. */
export function isGated(loop: Loop, message: AIMessage, index: number): boolean {
  const call = message.tool_calls?.[index];
  if (loop.approvals === undefined || call === undefined) return false;
  return loop.approvals.has(call.name) && problemOf(message, call.id ?? "") === undefined;
}
