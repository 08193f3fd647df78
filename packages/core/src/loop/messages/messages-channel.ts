/** The channel `messages`: no result of a call is lost when other writes come in the same superstep. */
import { type BaseMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { BinaryOperatorAggregate, REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import { forSavers, fromSavers, isMadeByLoop } from "../../channel-values.ts";
import {
  coerceMessages,
  isCallAnswered,
  isCallIdTaken,
  type Messages,
  messagesReducer,
  wholeList,
} from "./messages.ts";
import { overwritten } from "./overwrite.ts";

/**
 * The calls of a turn write in one superstep, and one of them may replace the whole list without knowing the writes of
 * the others. Their results are put back if their calls are still in the list.
 */
export class MessagesChannel extends BinaryOperatorAggregate<unknown, unknown> {
  constructor() {
    super(messagesReducer as (a: unknown, b: unknown) => unknown, () => []);
  }

  /** Checks every message of a list from storage. Messages that came through the channel were checked before. */
  override fromCheckpoint(checkpoint?: unknown): this {
    const next = new MessagesChannel();
    const value = fromSavers(checkpoint);
    if (value !== undefined)
      next.value = Array.isArray(value) && !isMadeByLoop(value) ? wholeList(value) : value;
    return next as this;
  }

  override checkpoint(): unknown {
    return forSavers(super.checkpoint());
  }

  override update(values: unknown[]): boolean {
    for (const value of values) {
      const whole = overwritten(value);
      this.value = whole
        ? wholeList(coerceMessages(whole.value))
        : messagesReducer(this.value as Messages, value);
    }
    if (values.length > 0 && values.some(replacesAll)) this.restoreResults(values.flatMap(addedResults));
    return values.length > 0;
  }

  private restoreResults(results: readonly ToolMessage[]): void {
    for (const result of results) {
      const list = this.value as Messages;
      const { tool_call_id: id } = result;
      if (isCallIdTaken(list, id) && !isCallAnswered(list, id)) this.value = messagesReducer(list, [result]);
    }
  }
}

function replacesAll(value: unknown): boolean {
  return overwritten(value) !== undefined || listed(value).some(removesAll);
}

function removesAll(message: BaseMessage): boolean {
  return RemoveMessage.isInstance(message) && message.id === REMOVE_ALL_MESSAGES;
}

function addedResults(value: unknown): ToolMessage[] {
  return listed(overwritten(value)?.value ?? value).filter((message) => ToolMessage.isInstance(message));
}

/** The messages of a write. The loop writes lists; other forms do not matter here. */
function listed(value: unknown): readonly BaseMessage[] {
  return Array.isArray(value) ? value : [];
}
