/** State that a child gets, and the part of it that comes back. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { BaseChannel } from "@langchain/langgraph";
import { buildState } from "../loop/contract/channels.ts";
import type { Loop } from "../loop/contract/loop.ts";
import { REMINDERS } from "../loop/messages/reminders.ts";
import { once } from "../once.ts";
import { sameValue } from "./same-value.ts";
import { updateFor } from "./state-update.ts";
import { keyTaken } from "./words.ts";

/** Keys that belong to one conversation or one run. */
const OWN = new Set(["messages", "todos", "structuredResponse", "outcome", "jumpTo", "lg_tool_call"]);
/** Usage and repetitions so far count for the agent, not again for its fork. */
const COUNTED = new Set(["_budget", "_loop"]);
/** Public keys that our own middleware uses. */
const OF_MIDDLEWARE = new Set(["skillsMetadata", "memoryContents", "asyncTasks"]);

/** The state of the loop that calls a child; empty for a loop that is not ours. */
export interface ParentState {
  /** Keys that go into a child and come back, besides `files`. */
  sharedKeys(state: object): readonly string[];
  /** Keys that a fork gets too, `files` among them. */
  forkedKeys(): readonly string[];
  channel(key: string): BaseChannel | undefined;
  /** Whether a second value in one turn would replace the first. */
  isSingle(key: string): boolean;
}

/** Shares the keys of the agent's own schema. Keys of middleware stay private. */
export function stateOfLoop(loop: Loop, stateSchema: unknown): ParentState {
  const shared = once(() =>
    buildState([stateSchema]).inputKeys.filter((key) => isShared(key) && key !== "files"),
  );
  return {
    sharedKeys: shared,
    forkedKeys: () => loop.stateKeys.filter((key) => !OWN.has(key) && !COUNTED.has(key)),
    channel: (key) => loop.state.channels[key],
    isSingle: (key) => loop.state.singleValueKeys.has(key),
  };
}

/** Only the state is known of a foreign loop: two values of a key in one turn might end the run. */
export const stateOfAnyLoop: ParentState = {
  sharedKeys: (state) => Object.keys(state).filter((key) => isShared(key) && key !== "files"),
  forkedKeys: () => [],
  channel: () => undefined,
  isSingle: () => true,
};

function isShared(key: string): boolean {
  return !key.startsWith("_") && !OWN.has(key) && !OF_MIDDLEWARE.has(key) && key !== REMINDERS;
}

export type StateValues = Record<string, unknown>;

export function valuesOf(state: StateValues, keys: readonly string[]): StateValues {
  const values: StateValues = {};
  for (const key of keys) if (state[key] !== undefined) values[key] = state[key];
  return values;
}

export interface StateBack {
  readonly update: StateValues;
  readonly notes: readonly string[];
}

/** The custom keys that a child changed, as updates. A key that takes one value a turn is set by the first child. */
export function stateBack(
  parent: ParentState,
  before: StateValues,
  after: StateValues,
  claim: (key: string) => boolean,
): StateBack {
  const update: StateValues = {};
  const notes: string[] = [];
  for (const key of parent.sharedKeys({ ...before, ...after })) {
    const value = after[key];
    if (value === undefined || sameValue(value, before[key])) continue;
    if (parent.isSingle(key) && !claim(key)) notes.push(keyTaken(key));
    else update[key] = updateFor(parent.channel(key), before[key], value);
  }
  return { update, notes };
}

const claimed = new WeakMap<object, Map<string, string>>();

/** Gives each key of a turn to the call that asks first. */
export function claimFor(turn: object | undefined, callId: string): (key: string) => boolean {
  if (turn === undefined) return () => true;
  const owners = claimed.get(turn) ?? new Map<string, string>();
  claimed.set(turn, owners);
  return (key) => {
    const owner = owners.get(key) ?? callId;
    owners.set(key, owner);
    return owner === callId;
  };
}

/** The place in a conversation of the message that makes this call; -1 when there is none. */
export function turnIndex(messages: readonly BaseMessage[], callId: string): number {
  return messages.findLastIndex(
    (message) => AIMessage.isInstance(message) && (message.tool_calls ?? []).some(({ id }) => id === callId),
  );
}
