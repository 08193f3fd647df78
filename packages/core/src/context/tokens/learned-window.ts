/** The windows of models, corrected by the requests that providers refused in this process. */
import type { ChatModel } from "../../loop/providers/model-source.ts";
import { windowOf } from "./token-meter.ts";

const learned = new WeakMap<object, number>();

/** A refusal of less than this share of the window is about bytes or names, or comes from a proxy: it teaches nothing. */
const LEAST_SHARE = 0.5;
const PLAUSIBLE = 4000;

/** No refusal makes us believe in less than this. */
const SMALLEST = 1000;

export function knownWindow(model: ChatModel): number | undefined {
  const stated = windowOf(model);
  const seen = learned.get(model);
  return seen === undefined ? stated : Math.min(seen, stated ?? Infinity);
}

/** A request of `sent` tokens, as we count them, was too long; `stated` is the window the provider named. */
export function learnOverflow(model: ChatModel, sent: number, stated: number | undefined): void {
  if (stated === undefined && sent < (windowOf(model) ?? PLAUSIBLE) * LEAST_SHARE) return;
  const window = Math.max(SMALLEST, Math.min(Math.floor(sent * 0.9), stated ?? Infinity));
  learned.set(model, Math.min(window, learned.get(model) ?? Infinity));
}

/** A request with this many `tokens` by the provider's count was answered, so a smaller learned window was wrong. */
export function learnFit(model: ChatModel, tokens: number | undefined): void {
  const seen = learned.get(model);
  if (seen !== undefined && tokens !== undefined && tokens > seen) learned.set(model, tokens);
}
