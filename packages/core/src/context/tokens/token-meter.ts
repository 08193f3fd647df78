/**
 * How many tokens a request has for its model.
 *
 * What a provider reported for the last request is exact for all of the thread up to its reply: to that is added
 * what came since, by the calibration of the model. Where the thread was cut since, or another model answered,
 * all of it is by the calibration. Counts lean upward, by as much as is not known. Of a thread that was counted
 * before only what is new is looked at.
 */
import type { AIMessage, BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { Outgoing } from "../../loop/contract/stages.ts";
import { type ChatModel, innermostModel } from "../../loop/providers/model-source.ts";
import { tallyTokens } from "../../tokens.ts";
import { modelName } from "./known-windows.ts";
import { Calibration, type Expectation } from "./token-calibration.ts";
import { addTally, emptyTally, messageTally, type Tally, toolsTally } from "./token-tally.ts";

export { windowOf } from "./known-windows.ts";

export interface Countable {
  readonly system: SystemMessage | undefined;
  readonly tools: readonly unknown[];
  readonly messages: readonly BaseMessage[];
  readonly model: ChatModel;
}

/** A provider's own count for a request. */
interface Anchor {
  readonly calibration: Calibration;
  readonly tokens: number;
  /** Our own count of the same. */
  readonly tally: Tally;
}

/** Where in a thread a count of a provider ends: before a reply, or behind the last message sent. */
interface Place {
  readonly anchor: Anchor;
  readonly isReply: boolean;
}

export function requestTokens({ system, tools, messages, model }: Countable): number {
  const calibration = calibrationOf(model);
  const fixed = toolsTally(tools);
  if (system !== undefined && system.content.length > 0) addTally(fixed, messageTally(system));
  const sums = prefixSums(messages);
  if (calibration.reports === 0) learnFromThread(messages, calibration, modelName(model));
  return calibration.leaningUp(expectation(fixed, (position) => sums[position], messages, calibration));
}

/**
 * Tokens of one message, wherever it stands. The sum of the parts is never under the whole, where both are estimates.
 */
export function messageTokens(message: BaseMessage, model: ChatModel): number {
  const calibration = calibrationOf(model);
  return calibration.leaningUp(calibration.expect(messageTally(message)));
}

export function textTokens(text: string, model: ChatModel): number {
  const calibration = calibrationOf(model);
  return calibration.leaningUp(calibration.expect(addTally(emptyTally(), tallyTokens(text))));
}

/** Whether the provider of this model has reported usage before, in this process. */
export function isCalibrated(model: ChatModel): boolean {
  return calibrationOf(model).reports > 0;
}

/** The sum of all messages up to and with the one at a position. */
type SumAt = (position: number) => Tally | undefined;

/** The best known of some ways to count: from what the provider said of late, or from nothing. */
function expectation(
  fixed: Tally,
  sumAt: SumAt,
  messages: readonly BaseMessage[],
  calibration: Calibration,
): Expectation {
  const whole = wholeTally(fixed, sumAt, messages);
  let best = calibration.expect(whole);
  for (const found of lastPlaces(messages, calibration)) {
    const { added, changed } = since(found, fixed, sumAt, whole);
    const tail = calibration.expect(added);
    const shift = calibration.expect(changed);
    const deviation = tail.deviation + shift.deviation;
    if (deviation < best.deviation)
      best = { tokens: found.place.anchor.tokens + tail.tokens + shift.tokens, deviation };
    // Nothing before the place is other than it was sent: of those further back no more is known.
    if (shift.deviation === 0) break;
  }
  return best;
}

function wholeTally(fixed: Tally, sumAt: SumAt, messages: readonly BaseMessage[]): Tally {
  const sum = sumAt(messages.length - 1);
  return sum === undefined ? fixed.slice() : addTally(fixed.slice(), sum);
}

/** Messages after the anchor, and how much the part before it differs from the request that was sent. */
function since(
  { place: { anchor, isReply }, position }: FoundPlace,
  fixed: Tally,
  sumAt: SumAt,
  whole: Tally,
): { readonly added: Tally; readonly changed: Tally } {
  const before = sumAt(isReply ? position - 1 : position);
  const added = emptyTally();
  const changed = emptyTally();
  for (let i = 0; i < whole.length; i += 1) {
    const sent = (fixed[i] as number) + (before?.[i] ?? 0);
    added[i] = (whole[i] as number) - sent;
    changed[i] = sent - (anchor.tally[i] as number);
  }
  return { added, changed };
}

const places = new WeakMap<BaseMessage, Place>();
/** The same by id, for threads that were stored and loaded: the messages are other objects then. */
const placesById = new Map<string, Place>();
const KEPT_PLACES = 1024;
/** How far back from the end a place is looked for. */
const LOOK_BACK = 256;
const CANDIDATES = 4;

interface FoundPlace {
  readonly place: Place;
  readonly position: number;
}

/** The nearest first. Ids may mislead where threads share them, so it is not the first that counts. */
function lastPlaces(messages: readonly BaseMessage[], calibration: Calibration): readonly FoundPlace[] {
  const found: FoundPlace[] = [];
  for (let i = messages.length - 1; i >= Math.max(0, messages.length - LOOK_BACK); i -= 1) {
    const place = places.get(messages[i] as BaseMessage);
    if (place?.anchor.calibration === calibration) found.push({ place, position: i });
    if (found.length === CANDIDATES) break;
  }
  return found;
}

function keepPlace(message: BaseMessage | undefined, place: Place): void {
  if (message === undefined) return;
  places.set(message, place);
  if (message.id === undefined || message.id === "") return;
  placesById.delete(message.id);
  placesById.set(message.id, place);
  if (placesById.size > KEPT_PLACES) placesById.delete(placesById.keys().next().value as string);
}

interface CountedList {
  readonly messages: BaseMessage[];
  /** At each position, the sum of all messages up to and with that one. */
  readonly sums: Tally[];
}

const counted = new WeakMap<BaseMessage, CountedList>();

/** By the first message, which all lists of a thread share; old messages are compared, not looked into. */
function prefixSums(messages: readonly BaseMessage[]): readonly Tally[] {
  const first = messages[0];
  if (first === undefined) return [];
  const list = counted.get(first) ?? { messages: [], sums: [] };
  counted.set(first, list);
  const same = sharedLength(list, messages);
  list.messages.length = same;
  list.sums.length = same;
  for (let i = same; i < messages.length; i += 1) {
    const message = messages[i] as BaseMessage;
    list.messages.push(message);
    list.sums.push(sumWith(list.sums[i - 1], message));
  }
  return list.sums;
}

/** Sums of what is sent once only: markers for a cache stand in copies of messages of the thread. */
function sumsOnce(messages: readonly BaseMessage[]): SumAt {
  const first = messages[0];
  const list = first === undefined ? undefined : counted.get(first);
  const same = list === undefined ? 0 : sharedLength(list, messages);
  const own: Tally[] = [];
  const sumAt: SumAt = (position) => (position < same ? list?.sums[position] : own[position - same]);
  for (let i = same; i < messages.length; i += 1) own.push(sumWith(sumAt(i - 1), messages[i] as BaseMessage));
  return sumAt;
}

function sharedLength(list: CountedList, messages: readonly BaseMessage[]): number {
  const length = Math.min(list.messages.length, messages.length);
  let same = 0;
  while (same < length && list.messages[same] === messages[same]) same += 1;
  return same;
}

function sumWith(before: Tally | undefined, message: BaseMessage): Tally {
  const place = places.get(message) ?? placesById.get(message.id ?? "");
  if (place !== undefined) places.set(message, place);
  const own = messageTally(message);
  return before === undefined ? own : addTally(before.slice(), own);
}

/** Learns from what the provider reported with a reply. What cannot be true is passed over. */
export function learnUsage(sent: Outgoing, reply: AIMessage): void {
  const calibration = calibrationOf(sent.model);
  const tokens = reportedTokens(reply, calibration);
  if (tokens === undefined) return;
  const hasSystem = sent.messages[0]?.type === "system";
  const fixed = toolsTally(sent.tools);
  if (hasSystem) addTally(fixed, messageTally(sent.messages[0] as BaseMessage));
  const messages = hasSystem ? sent.messages.slice(1) : sent.messages;
  const sumAt = sumsOnce(messages);
  const tally = wholeTally(fixed, sumAt, messages);
  const isLearnt =
    lastPlaces(messages, calibration).some((found) => learnGrowth(found, fixed, sumAt, tally, tokens)) ||
    calibration.observe(tally, tokens);
  if (!isLearnt) return;
  const anchor = { calibration, tokens, tally };
  keepPlace(messages.at(-1), { anchor, isReply: false });
  keepPlace(reply, { anchor, isReply: true });
}

/** A difference of two reports tells more than either: all that they share is gone from it. */
function learnGrowth(found: FoundPlace, fixed: Tally, sumAt: SumAt, whole: Tally, tokens: number): boolean {
  const { added, changed } = since(found, fixed, sumAt, whole);
  const { anchor } = found.place;
  let difference = 0;
  let growth = 0;
  for (let i = 0; i < added.length; i += 1) {
    difference += Math.abs(changed[i] as number);
    growth += added[i] as number;
  }
  if (growth <= 0 || difference > growth / 4) return false;
  return anchor.calibration.observe(
    added.map((count, i) => count + (changed[i] as number)),
    tokens - anchor.tokens,
    difference,
  );
}

/** All tokens of the request, also those from a cache, which some providers report beside the others. */
function reportedTokens(reply: AIMessage, calibration: Calibration): number | undefined {
  const { usage_metadata: usage } = reply;
  const input = usage?.input_tokens;
  if (input === undefined || !Number.isFinite(input) || input < 0) return undefined;
  const { cache_read = 0, cache_creation = 0 } = usage?.input_token_details ?? {};
  const cached = (cache_read || 0) + (cache_creation || 0);
  if (cached > input) calibration.isCacheBeside = true;
  const tokens = calibration.isCacheBeside ? input + cached : input;
  return tokens > 0 ? tokens : undefined;
}

/** How many replies of a stored thread are looked at. */
const REPLIES = 6;

/** Threads by their first message, searched for reports before. */
const searched = new WeakSet<BaseMessage>();

/** A thread from another process brings its reports along, in its replies. */
function learnFromThread(messages: readonly BaseMessage[], calibration: Calibration, name: string): void {
  const first = messages[0];
  if (first === undefined || searched.has(first)) return;
  searched.add(first);
  const replies: number[] = [];
  for (let i = messages.length - 1; i >= Math.max(0, messages.length - LOOK_BACK); i -= 1) {
    const message = messages[i] as AIMessage;
    if (replies.length < REPLIES && message.type === "ai" && isReplyOf(message, name)) replies.unshift(i);
  }
  replies.slice(1).forEach((position, i) => {
    const from = replies[i] as number;
    const [earlier, later] = [messages[from], messages[position]].map((reply) =>
      reportedTokens(reply as AIMessage, calibration),
    );
    if (earlier === undefined || later === undefined) return;
    const tally = messages.slice(from, position).map(messageTally).reduce(addTally, emptyTally());
    calibration.observe(tally, later - earlier);
  });
}

function isReplyOf(message: AIMessage, name: string): boolean {
  if (message.usage_metadata === undefined) return false;
  const { model_name, model } = message.response_metadata as { model_name?: unknown; model?: unknown };
  const stated = model_name ?? model;
  return typeof stated !== "string" || name === "" || stated.includes(name) || name.includes(stated);
}

const calibrations = new Map<string, Calibration>();
const KEPT_CALIBRATIONS = 64;
const calibrationsByModel = new WeakMap<object, Calibration>();

/** One for all instances of a model; a model without a name has its own. */
function calibrationOf(model: ChatModel): Calibration {
  const inner = innermostModel(model);
  const name = modelName(inner);
  if (name === "") {
    const own = calibrationsByModel.get(inner) ?? new Calibration("");
    calibrationsByModel.set(inner, own);
    return own;
  }
  const key = `${inner.getName()} ${name}`;
  const known = calibrations.get(key) ?? new Calibration(name);
  calibrations.delete(key);
  calibrations.set(key, known);
  if (calibrations.size > KEPT_CALIBRATIONS) calibrations.delete(calibrations.keys().next().value as string);
  return known;
}
