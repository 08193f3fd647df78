/** Tools marked `returnDirect`: when a turn called only such tools and all succeeded, the run ends. */
import { type AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { Loop } from "../contract/loop.ts";
import { lastTurn, type Messages } from "../messages/messages.ts";

export function isReturnDirect(loop: Loop, tool: string): boolean {
  return (loop.clientTools.get(tool) as { returnDirect?: boolean } | undefined)?.returnDirect === true;
}

export function callsOnlyReturnDirect(loop: Loop, message: AIMessage): boolean {
  return (message.tool_calls ?? []).every((call) => isReturnDirect(loop, call.name));
}

/**
 * Whether the run may leave now. Of several returnDirect calls in one turn some may have failed; then
 * the model is asked again in this same step and the exit must wait for it.
 */
export function isTurnReturned(loop: Loop, messages: Messages): boolean {
  const last = messages.at(-1) as BaseMessage | undefined;
  const turn = lastTurn(messages);
  if (!ToolMessage.isInstance(last) || turn === undefined) return true;
  if (!callsOnlyReturnDirect(loop, turn.message)) return true;
  const calls = turn.message.tool_calls ?? [];
  return messages
    .slice(-calls.length)
    .every((message) => ToolMessage.isInstance(message) && message.status !== "error");
}
