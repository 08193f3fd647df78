/**
 * The `messages` channel: a list that grows. Tool results always stand behind their calls.
 *
 * The reducer never clones or inspects a message that did not change. An index beside the array holds the needed facts
 * about old messages (positions of ids, ids of calls) and is extended, so that adding to 10,000 messages costs one flat
 * array copy. Every update makes a new array, even if it brings a message that the list has: the message may have been
 * edited in place.
 */
import {
  AIMessage,
  type BaseMessage,
  coerceMessageLikeToMessage,
  isBaseMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import { MARKS } from "../../backends/harness-areas.ts";
import { cameIn, madeByLoop } from "../../channel-values.ts";
import { lacksRole, withRole } from "../failures/missing-role.ts";

export type Messages = readonly BaseMessage[];

interface MessageIndex {
  /** Position by message id. Shared by arrays that extend one another, so a hit is verified. */
  readonly positions: Map<string, number>;
  /** Position of the assistant message by tool call id; verified as well. */
  readonly calls: Map<string, number>;
  /** Whether a message of a person or a tool has content that is not plain text. */
  hasBlocks: boolean;
  /** Whether some message is marked. */
  hasMarks: boolean;
}

/** The key of `additional_kwargs` under which stages remember how a message is to be sent. */
export { MARKS };

const indexes = new WeakMap<Messages, MessageIndex>();
/** How many leading messages are known to form valid, finished turns. */
const checkedLengths = new WeakMap<Messages, number>();

export function newId(): string {
  return globalThis.crypto.randomUUID();
}

/** Messages with ids, from any form of messages that callers pass. */
export function coerceMessages(value: unknown): BaseMessage[] {
  if (value === undefined || value === null) return [];
  const list = isMessageTuple(value) || !Array.isArray(value) ? [value] : value;
  return list.map((item) => {
    const message = isBaseMessage(item) ? item : coerceMessageLikeToMessage(item as never);
    return withId(withRole(message));
  });
}

const ROLES = new Set(["human", "user", "ai", "assistant", "system", "developer", "tool"]);

/** `[role, text]` is one message; any other pair of strings is two. */
function isMessageTuple(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && ROLES.has(value[0]) && typeof value[1] === "string";
}

export function withId<M extends BaseMessage>(message: M): M {
  if (message.id === undefined || message.id === null || message.id === "") {
    message.id = newId();
    message.lc_kwargs.id = message.id;
  }
  return message;
}

/** The reducer of the `messages` channel. Same id replaces, RemoveMessage removes, the rest is added. */
export function messagesReducer(left: Messages | undefined, right: unknown): Messages {
  const base = left ?? [];
  const incoming = coerceMessages(right);
  if (incoming.length === 0) return base;
  const removeAll = incoming.findLastIndex(
    (m) => RemoveMessage.isInstance(m) && m.id === REMOVE_ALL_MESSAGES,
  );
  const draft = removeAll >= 0 ? new Draft([], emptyIndex(), []) : new Draft(base, indexOf(base), incoming);
  for (const message of incoming.slice(removeAll + 1)) draft.add(message);
  return draft.finish();
}

const knownIndexes = new WeakMap<object, ReadonlyMap<string, number>>();

/** The position of each call in its turn. It is cached, because all results of a large turn ask for it. */
function callIndexes(calls: readonly { readonly id?: string }[]): ReadonlyMap<string, number> {
  const known = knownIndexes.get(calls);
  if (known !== undefined) return known;
  const places = new Map<string, number>();
  for (const [place, { id = "" }] of calls.entries()) if (!places.has(id)) places.set(id, place);
  knownIndexes.set(calls, places);
  return places;
}

/** One application of the reducer: a copy of the array and the index that goes with it. */
class Draft {
  private list: BaseMessage[];
  private checked: number;
  private readonly removed = new Set<BaseMessage>();

  /** The copy has room for what comes: otherwise the first message that is added would copy the list again. */
  constructor(
    base: Messages,
    private index: MessageIndex,
    coming: Messages,
  ) {
    this.list = base.concat(coming);
    this.list.length = base.length;
    this.checked = checkedLengths.get(base) ?? 0;
  }

  add(message: BaseMessage): void {
    const position = positionOf(this.list, this.index, message.id as string);
    if (RemoveMessage.isInstance(message)) {
      if (position >= 0) this.removed.add(this.list[position] as BaseMessage);
      return;
    }
    cameIn(message);
    if (position >= 0) this.replace(position, message);
    else if (ToolMessage.isInstance(message)) this.addResult(message);
    else this.append(message);
  }

  private replace(position: number, message: BaseMessage): void {
    this.removed.delete(this.list[position] as BaseMessage);
    this.uncheckFrom(position);
    this.list[position] = message;
    registerCalls(this.index, message, position);
  }

  /** A turn is checked as a whole: a change of one result makes all of its turn unknown. */
  private uncheckFrom(position: number): void {
    this.checked = Math.min(this.checked, position, turnStart(this.list, position + 1));
  }

  private append(message: BaseMessage): void {
    register(this.index, message, this.list.length);
    this.list.push(message);
  }

  /** A result goes behind its call, in call order; a second result for one call replaces the first. */
  private addResult(message: ToolMessage): void {
    const caller = callerOf(this.list, this.index, message.tool_call_id);
    if (caller < 0) {
      this.append(message);
      return;
    }
    const calls = (this.list[caller] as AIMessage).tool_calls ?? [];
    const places = callIndexes(calls);
    const order = (id: string): number => places.get(id) ?? -1;
    let slot = caller + 1;
    for (; slot < this.list.length; slot += 1) {
      const other = this.list[slot] as BaseMessage;
      if (!ToolMessage.isInstance(other)) break;
      if (other.tool_call_id === message.tool_call_id) {
        this.replaceResult(slot, message);
        return;
      }
      if (order(other.tool_call_id) > order(message.tool_call_id)) break;
    }
    if (slot === this.list.length) this.append(message);
    else {
      this.list.splice(slot, 0, message);
      this.checked = Math.min(this.checked, caller);
      this.index = buildIndex(this.list);
    }
  }

  private replaceResult(position: number, message: ToolMessage): void {
    this.replace(position, message);
    this.index.positions.set(message.id as string, position);
  }

  finish(): Messages {
    if (this.removed.size > 0) {
      this.uncheckFrom(this.list.findIndex((message) => this.removed.has(message)));
      this.list = this.list.filter((message) => !this.removed.has(message));
    } else indexes.set(this.list, this.index);
    madeByLoop(this.list);
    checkedLengths.set(this.list, this.checked);
    return this.list;
  }
}

/** A list that becomes the whole of the channel: from an overwrite, or from a checkpoint. */
export function wholeList(given: Messages): Messages {
  const messages = given.some(lacksRole) ? given.map(withRole) : given;
  for (const message of messages) cameIn(message);
  madeByLoop(messages);
  return messages;
}

function indexOf(messages: Messages): MessageIndex {
  return indexes.get(messages) ?? buildIndex(messages);
}

function emptyIndex(): MessageIndex {
  return { positions: new Map(), calls: new Map(), hasBlocks: false, hasMarks: false };
}

function buildIndex(messages: Messages): MessageIndex {
  const index = emptyIndex();
  messages.forEach((message, position) => {
    register(index, message, position);
  });
  return index;
}

function register(index: MessageIndex, message: BaseMessage, position: number): void {
  if (message.id !== undefined) index.positions.set(message.id, position);
  registerCalls(index, message, position);
}

function registerCalls(index: MessageIndex, message: BaseMessage, position: number): void {
  if (AIMessage.isInstance(message)) {
    for (const call of message.tool_calls ?? []) if (call.id) index.calls.set(call.id, position);
  } else if (typeof message.content !== "string") index.hasBlocks = true;
  if (message.additional_kwargs?.[MARKS] !== undefined) index.hasMarks = true;
}

/** -1 when absent. Arrays that share an index may disagree about a position; then the list decides. */
function positionOf(list: Messages, index: MessageIndex, id: string): number {
  const position = index.positions.get(id);
  if (position === undefined) return -1;
  return list[position]?.id === id ? position : list.findLastIndex((message) => message.id === id);
}

function callerOf(list: Messages, index: MessageIndex, callId: string): number {
  const position = index.calls.get(callId);
  if (position === undefined) return -1;
  return hasCall(list[position], callId)
    ? position
    : list.findLastIndex((message) => hasCall(message, callId));
}

function hasCall(message: BaseMessage | undefined, callId: string): boolean {
  return AIMessage.isInstance(message) && (message.tool_calls ?? []).some((call) => call.id === callId);
}

/** False only where every message of people and tools is plain text; true also where that is not known. */
export function mayHaveBlocks(messages: Messages): boolean {
  return indexes.get(messages)?.hasBlocks ?? true;
}

/** False only where no message is marked; true also where that is not known. */
export function mayHaveMarks(messages: Messages): boolean {
  return indexes.get(messages)?.hasMarks ?? true;
}

/** The position of the message with this id, or -1. */
export function positionOfId(messages: Messages, id: string): number {
  return positionOf(messages, keptIndex(messages), id);
}

/** Whether some assistant message of this list already made a call with this id. */
export function isCallIdTaken(messages: Messages, callId: string): boolean {
  return callerOf(messages, keptIndex(messages), callId) >= 0;
}

/** Whether the call with this id has its result behind it. */
export function isCallAnswered(messages: Messages, callId: string): boolean {
  for (let i = callerOf(messages, keptIndex(messages), callId) + 1; i > 0 && i < messages.length; i += 1) {
    const message = messages[i] as BaseMessage;
    if (!ToolMessage.isInstance(message)) return false;
    if (message.tool_call_id === callId) return true;
  }
  return false;
}

export function isMessageIdTaken(messages: Messages, id: string | undefined): boolean {
  return id !== undefined && positionOfId(messages, id) >= 0;
}

function keptIndex(messages: Messages): MessageIndex {
  const index = indexOf(messages);
  indexes.set(messages, index);
  return index;
}

export function checkedLength(messages: Messages): number {
  return checkedLengths.get(messages) ?? 0;
}

export function markChecked(messages: Messages, length: number): void {
  checkedLengths.set(messages, length);
}

/** Where the turn begins that the message before `position` belongs to. */
export function turnStart(messages: Messages, position: number): number {
  let start = position - 1;
  while (start >= 0 && ToolMessage.isInstance(messages[start])) start -= 1;
  return start >= 0 && AIMessage.isInstance(messages[start]) ? start : start + 1;
}

export interface Turn {
  readonly message: AIMessage;
  /** Calls of the turn that have no result yet, with their place in the turn. */
  readonly pending: readonly { readonly id: string; readonly index: number }[];
  /** Whether anything but tool results follows the assistant message. */
  readonly interrupted: boolean;
}

/** The last assistant message and its unanswered calls; undefined before the first reply of the model. */
export function lastTurn(messages: Messages): Turn | undefined {
  const answered = new Set<string>();
  let interrupted = false;
  for (let i = messages.length - 1; i >= 0; i -= 1) {
    const message = messages[i] as BaseMessage;
    if (AIMessage.isInstance(message)) {
      const pending = (message.tool_calls ?? []).flatMap((call, index) =>
        call.id && !answered.has(call.id) ? [{ id: call.id, index }] : [],
      );
      return { message, pending, interrupted };
    }
    if (ToolMessage.isInstance(message)) answered.add(message.tool_call_id);
    else interrupted = true;
  }
  return undefined;
}
