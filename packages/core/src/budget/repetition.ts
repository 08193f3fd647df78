/**
 * Detects a thread that repeats itself: the last turns have the same calls and the same results as those before.
 *
 * A turn counts as the same only if calls, arguments and results are the same. Asking again for something that changes
 * is progress, and so are other arguments. Text beside calls does not count; a turn without calls is compared by its
 * text.
 */
import { AIMessage, type BaseMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";
import type { Messages } from "../loop/messages/messages.ts";
import { textHash } from "../text/text-hash.ts";

/** The longest circle that is looked for, in turns. */
export const LONGEST_PERIOD = 5;

export interface Repetition {
  /** Turns in one round. */
  readonly period: number;
  /** How many whole rounds stand at the end of the thread. */
  readonly rounds: number;
  /** Tools called in a round; empty for text alone. */
  readonly tools: readonly string[];
}

interface Turn {
  readonly message: AIMessage;
  readonly results: readonly ToolMessage[];
}

/**
 * The circle at the end of a thread with the most rounds; undefined for none. Turns up to and with the message `since`
 * are not looked at, nor are more rounds than `enough`. Looks at a handful of turns where nothing repeats.
 */
export function repetitionIn(
  thread: Messages,
  since: string | undefined,
  enough: number,
): Repetition | undefined {
  const turns = new TurnsBackwards(thread, since);
  const last = turns.at(0);
  if (last === undefined) return undefined;
  for (let period = 1; period <= LONGEST_PERIOD; period += 1) {
    let same = 0;
    while (same < period * (enough - 1) && turns.isSame(same, same + period)) same += 1;
    const rounds = Math.floor(same / period) + 1;
    if (rounds > 1) return { period, rounds, tools: toolsOf(turns, period) };
  }
  return undefined;
}

function toolsOf(turns: TurnsBackwards, period: number): string[] {
  const names = new Set<string>();
  for (let back = period - 1; back >= 0; back -= 1)
    for (const { name } of turns.at(back)?.message.tool_calls ?? []) names.add(name);
  return [...names];
}

/** The turns of a thread, the newest first; read as far as they are asked for. */
class TurnsBackwards {
  readonly #thread: Messages;
  readonly #since: string | undefined;
  readonly #found: Turn[] = [];
  #position: number;

  constructor(thread: Messages, since: string | undefined) {
    this.#thread = thread;
    this.#since = since;
    this.#position = thread.length - 1;
  }

  at(back: number): Turn | undefined {
    while (this.#found.length <= back) {
      const next = this.#next();
      if (next === undefined) return undefined;
      this.#found.push(next);
    }
    return this.#found[back];
  }

  isSame(one: number, other: number): boolean {
    const [first, second] = [this.at(one), this.at(other)];
    return first !== undefined && second !== undefined && isSameTurn(first, second);
  }

  #next(): Turn | undefined {
    const results: ToolMessage[] = [];
    for (; this.#position >= 0; this.#position -= 1) {
      const message = this.#thread[this.#position] as BaseMessage;
      const { kind, id } = factsOf(message);
      if (this.#since !== undefined && id === this.#since) break;
      if (kind === "result") results.push(message as ToolMessage);
      if (kind !== "turn") continue;
      this.#position -= 1;
      return { message: message as AIMessage, results };
    }
    this.#position = -1;
    return undefined;
  }
}

interface MessageFacts {
  readonly kind: "turn" | "result" | "other";
  readonly id: string | undefined;
}

const facts = new WeakMap<BaseMessage, MessageFacts>();

/** A message is looked at once, however many turns come after it. */
function factsOf(message: BaseMessage): MessageFacts {
  const known = facts.get(message);
  if (known !== undefined) return known;
  const isResult = ToolMessage.isInstance(message);
  const kind = isResult ? "result" : AIMessage.isInstance(message) ? "turn" : "other";
  const found: MessageFacts = { kind, id: message.id };
  facts.set(message, found);
  return found;
}

interface Signature {
  readonly results: number;
  /** Calls or text of the round. */
  readonly calls: string;
  /** The turn with its results; computed when needed, because results may be long. */
  whole?: string;
}

const signatures = new WeakMap<AIMessage, Signature>();

function isSameTurn(one: Turn, other: Turn): boolean {
  const [first, second] = [signatureOf(one), signatureOf(other)];
  return first.calls === second.calls && wholeOf(one, first) === wholeOf(other, second);
}

function signatureOf({ message, results }: Turn): Signature {
  const known = signatures.get(message);
  if (known !== undefined && known.results === results.length) return known;
  const calls = message.tool_calls ?? [];
  const made = calls.length === 0 ? `says ${textHash(message.text)}` : listOf(calls.map(callSignature));
  const signature = { results: results.length, calls: made };
  signatures.set(message, signature);
  return signature;
}

function wholeOf({ message, results }: Turn, signature: Signature): string {
  const withResult = (call: ToolCall): string => {
    const result = results.find((candidate) => candidate.tool_call_id === call.id);
    return `${callSignature(call)} ${result ? resultSignature(result) : ""}`;
  };
  signature.whole ??= listOf((message.tool_calls ?? []).map(withResult));
  return signature.whole;
}

/** In one turn neither order nor repetition means anything. */
function listOf(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] as string) : [...new Set(parts)].sort().join("\n");
}

function callSignature({ name, args }: ToolCall): string {
  return `${name} ${textHash(JSON.stringify(args))}`;
}

/** The id of the call does not count: a long result is kept in a file of that name. */
function resultSignature({ content, status, tool_call_id: id }: ToolMessage): string {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return `${status ?? ""} ${textHash(id === "" ? text : text.replaceAll(id, ""))}`;
}
