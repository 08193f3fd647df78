/**
 * The number of tokens of a request for its model.
 *
 * The last report of the provider is exact for everything up to its reply. Later messages are estimated. The estimate
 * is corrected by the ratio of the last report to our estimate of the same request, and raised by a fixed margin:
 * compacting early costs less than a refusal.
 */
import type { AIMessage, BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { Outgoing } from "../../loop/contract/stages.ts";
import { type ChatModel, innermostModel } from "../../loop/providers/model-source.ts";
import { modelName } from "./known-windows.ts";
import { messageEstimate, toolsEstimate } from "./message-estimate.ts";

export { windowOf } from "./known-windows.ts";

export interface Countable {
  readonly system: SystemMessage | undefined;
  readonly tools: readonly unknown[];
  readonly messages: readonly BaseMessage[];
  readonly model: ChatModel;
}

const MARGIN = 1.1;
/** Before the first report: vocabularies seldom need fewer tokens than the one our estimate follows. */
const USUAL_RATIO = 1.1;
/** A report outside of this cannot be true and is passed over. */
const [LEAST_RATIO, GREATEST_RATIO] = [0.25, 8];

/** The knowledge about one model. */
class Meter {
  ratio: number | undefined;
  /** Whether the provider reports cached tokens beside `input_tokens`, not inside. */
  isCacheBeside = false;

  corrected(estimate: number): number {
    return estimate * (this.ratio ?? USUAL_RATIO) * MARGIN;
  }

  learn(tokens: number, estimate: number): boolean {
    const ratio = tokens / estimate;
    if (!(ratio >= LEAST_RATIO && ratio <= GREATEST_RATIO)) return false;
    this.ratio = ratio;
    return true;
  }
}

/** A report: the tokens of everything before a reply, and our estimate of the same. */
interface Report {
  readonly meter: Meter;
  readonly tokens: number;
  readonly estimate: number;
}

export function requestTokens({ system, tools, messages, model }: Countable): number {
  const meter = meterOf(model);
  const fixed = toolsEstimate(tools) + (system?.content.length ? messageEstimate(system) : 0);
  const { sums, reported, triedBy } = measured(messages);
  const whole = fixed + (sums.at(-1) ?? 0);
  if (meter.ratio === undefined && !triedBy.has(meter)) learnFromThread(messages, meter, modelName(model));
  triedBy.add(meter);
  for (const { index, report } of reported.toReversed()) {
    if (report.meter !== meter) continue;
    const before = fixed + (sums[index - 1] ?? 0);
    const changed = Math.abs(before - report.estimate);
    // The thread was cut since: the report is about another request.
    if (changed > report.estimate / 4) continue;
    const shift = (before - report.estimate) * (meter.ratio ?? USUAL_RATIO);
    return Math.ceil(report.tokens + shift + meter.corrected(whole - before));
  }
  return Math.ceil(meter.corrected(whole));
}

/** One message, wherever it stands. The sum of the parts is never under the whole, where both are estimates. */
export function messageTokens(message: BaseMessage, model: ChatModel): number {
  return Math.ceil(meterOf(model).corrected(messageEstimate(message)));
}

/** Whether the provider of this model has reported usage before, in this process. */
export function isCalibrated(model: ChatModel): boolean {
  return meterOf(model).ratio !== undefined;
}

const reports = new WeakMap<BaseMessage, Report>();
/** The same by id, for messages that were stored and loaded, or sent as copies. */
const reportsById = new Map<string, Report>();
const KEPT_REPORTS = 1024;
/** A measured list: sums of the estimates up to each message, and the reports that stand in it. */
interface Measured {
  readonly messages: readonly BaseMessage[];
  readonly sums: readonly number[];
  readonly reported: readonly { readonly index: number; readonly report: Report }[];
  /** Meters that have looked for reports of another process in it. */
  readonly triedBy: WeakSet<Meter>;
}

const KEPT_IN_LIST = 16;
const lists = new WeakMap<BaseMessage, Measured>();

/** Kept by the first message, which all lists of a thread share, so that only new messages are looked at. */
function measured(messages: readonly BaseMessage[]): Measured {
  const [first] = messages;
  if (first === undefined) return nothing();
  const known = lists.get(first) ?? nothing();
  let same = 0;
  while (same < messages.length && known.messages[same] === messages[same]) same += 1;
  const sums = known.sums.slice(0, same);
  const reported = known.reported.filter(({ index }) => index < same);
  for (const [offset, message] of messages.slice(same).entries()) {
    sums.push((sums.at(-1) ?? 0) + messageEstimate(message));
    const report = reports.get(message) ?? reportsById.get(message.id ?? "");
    if (report !== undefined) reported.push({ index: same + offset, report });
  }
  const now = {
    messages: messages.slice(),
    sums,
    reported: reported.slice(-KEPT_IN_LIST),
    triedBy: known.triedBy,
  };
  lists.set(first, now);
  return now;
}

function nothing(): Measured {
  return { messages: [], sums: [], reported: [], triedBy: new WeakSet() };
}

/** Corrects the meter by the provider's report with a reply. */
export function learnUsage(sent: Outgoing, reply: AIMessage): void {
  const meter = meterOf(sent.model);
  const tokens = reportedTokens(reply, meter);
  if (tokens === undefined) return;
  const [first, ...rest] = sent.messages;
  const { sums } = measured(first?.type === "system" ? rest : sent.messages);
  const system = first?.type === "system" ? messageEstimate(first) : 0;
  const estimate = toolsEstimate(sent.tools) + system + (sums.at(-1) ?? 0);
  if (!meter.learn(tokens, estimate)) return;
  const report = { meter, tokens, estimate };
  reports.set(reply, report);
  if (reply.id) reportsById.set(reply.id, report);
  if (reportsById.size > KEPT_REPORTS) reportsById.delete(reportsById.keys().next().value as string);
}

/** All tokens of the request, including cached ones, which some providers report beside the others. */
function reportedTokens({ usage_metadata: usage }: AIMessage, meter: Meter): number | undefined {
  const input = usage?.input_tokens;
  if (input === undefined || !Number.isFinite(input) || input < 0) return undefined;
  const { cache_read = 0, cache_creation = 0 } = usage?.input_token_details ?? {};
  const cached = (cache_read || 0) + (cache_creation || 0);
  if (cached > input) meter.isCacheBeside = true;
  return (meter.isCacheBeside ? input + cached : input) || undefined;
}

/** A thread from another process holds reports too: the last two replies show the tokens between them. */
function learnFromThread(messages: readonly BaseMessage[], meter: Meter, name: string): void {
  const isReport = (message: BaseMessage): boolean =>
    message.type === "ai" && isReplyOf(message as AIMessage, name);
  const later = messages.findLastIndex(isReport);
  const earlier = later < 1 ? -1 : messages.slice(0, later).findLastIndex(isReport);
  if (earlier < 0) return;
  const [before = 0, after = 0] = [earlier, later].map((i) =>
    reportedTokens(messages[i] as AIMessage, meter),
  );
  meter.learn(
    after - before,
    messages.slice(earlier, later).reduce((sum, one) => sum + messageEstimate(one), 0),
  );
}

function isReplyOf(message: AIMessage, name: string): boolean {
  if (message.usage_metadata === undefined) return false;
  const { model_name, model } = message.response_metadata as { model_name?: unknown; model?: unknown };
  const stated = model_name ?? model;
  return typeof stated !== "string" || name === "" || stated.includes(name) || name.includes(stated);
}

const metersByName = new Map<string, Meter>();
const KEPT_METERS = 64;
const meters = new WeakMap<object, Meter>();

/** One for all instances of a model; a model without a name has its own. */
function meterOf(model: ChatModel): Meter {
  const inner = innermostModel(model);
  const name = modelName(inner);
  const key = `${inner.getName()} ${name}`;
  const meter = (name === "" ? meters.get(inner) : metersByName.get(key)) ?? new Meter();
  if (name === "") meters.set(inner, meter);
  else metersByName.set(key, meter);
  if (metersByName.size > KEPT_METERS) metersByName.delete(metersByName.keys().next().value as string);
  return meter;
}
