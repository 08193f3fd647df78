/** The one result of a call, made from any message that a tool or a middleware returned. */
import { type AIMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";
import { withoutSecretsInFailure } from "../failures/safe-failure.ts";
import { isMessageIdTaken, type Messages, newId, withId } from "./messages.ts";
import { unmarked } from "./untrusted-marks.ts";

/** Message ids that calls of a turn have given to their results, by the call that did. */
const idsOfTurn = new WeakMap<AIMessage, Map<string, string>>();

/**
 * The given message when it answers this call and fits the thread, else a corrected copy. A tool may return the same
 * message for several calls, so it is never changed.
 */
export function resultFor(
  call: ToolCall & { readonly id: string },
  returned: ToolMessage,
  turn: AIMessage,
  history: Messages,
): ToolMessage {
  const given = withoutSecretsInFailure(unmarked(returned));
  const isFree = claimId(turn, call.id, given.id) && !isMessageIdTaken(history, given.id);
  if (isFree && given.tool_call_id === call.id && given.name !== undefined) return withId(given);
  const { content, status, artifact, metadata, additional_kwargs, response_metadata } = given;
  return new ToolMessage({
    ...given.lc_kwargs,
    ...{ content, status, artifact, metadata, additional_kwargs, response_metadata },
    id: isFree && given.id ? given.id : newId(),
    tool_call_id: call.id,
    name: given.name ?? call.name,
  } as never);
}

/** Two results with one id would replace each other. */
function claimId(turn: AIMessage, callId: string, messageId: string | undefined): boolean {
  if (!messageId) return true;
  const owners = idsOfTurn.get(turn) ?? new Map<string, string>();
  idsOfTurn.set(turn, owners);
  const owner = owners.get(messageId) ?? callId;
  owners.set(messageId, owner);
  return owner === callId;
}
