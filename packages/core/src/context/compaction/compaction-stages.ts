/**
 * Keeps requests within the window of their model.
 *
 * Most requests cost one check of their size. A request that is too large is reduced step by step until it fits: old
 * arguments are shortened, then the oldest messages are replaced by a summary, then the rest is cut.
 */
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import {
  AGAIN,
  type Outgoing,
  type RequestView,
  type Stages,
  type StageTask,
} from "../../loop/contract/stages.ts";
import type { Messages } from "../../loop/messages/messages.ts";
import { type Budget, budgetFor, isReached, type Size } from "../tokens/budget.ts";
import { knownWindow, learnFit, learnOverflow } from "../tokens/learned-window.ts";
import { isCalibrated, learnUsage, messageTokens, requestTokens } from "../tokens/token-meter.ts";
import { COMPACT_TOOL, COMPACTION_REQUESTED } from "./compact-request.ts";
import { type CompactionSettings, compact, lastId } from "./compaction.ts";
import { planCompaction } from "./compaction-plan.ts";
import {
  COMPACTION,
  type Compaction,
  compactionIn,
  messagesOf,
  type Sight,
  sightOf,
} from "./compaction-state.ts";
import { isContextOverflow, statedWindow } from "./overflow.ts";
import { overflowError } from "./overflow-error.ts";

export function createCompactionStages(settings: CompactionSettings): Stages {
  return {
    view: (view, task) => viewed(view, task, settings),
    failed: (error, view, task) => afterFailure(error, view, task, settings),
    reply: (message, sent) => {
      if (!learned.has(sent)) learnUsage(sent, message);
      learnFit(sent.model, message.usage_metadata?.input_tokens);
      learned.add(sent);
      return message;
    },
  };
}

/** An agent may have these stages twice: one reply teaches once. */
const learned = new WeakSet<Outgoing>();

/** All that is known about a request that is looked at. */
interface Look {
  readonly view: RequestView;
  readonly task: StageTask;
  readonly settings: CompactionSettings;
  readonly state: Compaction;
  readonly sight: Sight;
  readonly messages: Messages;
  readonly tokens: number;
  readonly window: number | undefined;
}

function lookAt(view: RequestView, task: StageTask, settings: CompactionSettings, state: Compaction): Look {
  const sight = sightOf(view, state, settings.arguments);
  const messages = messagesOf(sight);
  const tokens = requestTokens({ system: view.system, tools: view.tools, messages, model: view.model });
  return { view, task, settings, state, sight, messages, tokens, window: knownWindow(view.model) };
}

function fixedTokens({ view: { system, tools, model } }: Look): number {
  return requestTokens({ system, tools, messages: [], model });
}

async function viewed(
  view: RequestView,
  task: StageTask,
  settings: CompactionSettings,
): Promise<Messages | typeof AGAIN> {
  const look = lookAt(view, task, settings, compactionIn(task));
  const { messages, state, tokens, window } = look;
  const isAsked = isCompactionAsked(view.thread);
  const measure = { tokens, messages: messages.length };
  const triggers = [
    ...settings.triggers,
    ...(settings.argumentTriggers ?? []),
    ...(window === undefined ? [] : [{ tokens: window }]),
  ];
  if (!isAsked && !isReached(triggers, measure, window)) return messages;
  // A request is decided about once; the next decision needs a reply of the model in between.
  if (state.after !== undefined && state.after === lastId(view.thread)) return sendable(look);
  const budget = budgetOf(look);
  const isCounted = settings.triggers.some(
    (size) => size.messages !== undefined && isReached([size], measure, window),
  );
  const isDue = isAsked || isCounted || tokens >= budget.threshold;
  const shorter = isAsked || isCounted ? undefined : shortened(look, budget, isDue);
  if (shorter !== undefined) return messagesOf(shorter.sight);
  if (!isDue) return sendable(look);
  const goal = Math.min(Math.floor(budget.threshold * 0.9), window ?? Infinity);
  const isForced = isAsked && tokens < budget.threshold;
  const next = await reduced(look, budget, { goal, isForced, mustShrink: !isForced && !isCounted });
  if (next === undefined) return sendable(look);
  task.write(COMPACTION, next);
  return AGAIN;
}

function budgetOf(look: Look): Budget {
  const { triggers, keep } = look.settings;
  return budgetFor({ triggers, keep, window: look.window, fixed: fixedTokens(look) });
}

/** Throws when the request cannot succeed. */
function sendable(look: Look): Messages {
  const { view, messages, tokens, window } = look;
  if (isHopeless(tokens, look)) throw overflowError({ view, messages, window });
  return messages;
}

/** Whether the request is too large by more than the possible error of the count. If not, the provider decides. */
function isHopeless(tokens: number, { view, window }: Look): boolean {
  return window !== undefined && tokens > window * (isCalibrated(view.model) ? 1.02 : 1.2);
}

interface Aim {
  readonly goal: number;
  readonly isForced: boolean;
  readonly mustShrink: boolean;
}

/** No summary is asked for where even the rest would not fit. */
async function reduced(look: Look, budget: Budget, aim: Aim): Promise<Compaction | undefined> {
  const { view, state, sight, settings, task, window } = look;
  const fixed = fixedTokens(look);
  const plan = planCompaction({ view, sight, state, budget, limit: settings.arguments, fixed, ...aim });
  if (plan === undefined) return undefined;
  const least = fixed + plan.keptTokens + LEAST_SUMMARY;
  if (isHopeless(Math.min(least, look.tokens), look))
    throw overflowError({ view, messages: plan.kept, window });
  return compact({ view, task, settings, state, sight, budget, plan, mustShrink: aim.mustShrink });
}

const LEAST_SUMMARY = 100;

/** Shortening must leave some room, or it would be done again at every turn. */
const ENOUGH = 0.8;
const DEFAULT_ARGUMENT_KEEP: Size = { messages: 20 };

/** The request with old arguments shortened, where that suffices; the decision is stored with the reply. */
function shortened(look: Look, budget: Budget, isDue: boolean): Look | undefined {
  const { view, task, settings, state, window, tokens, messages } = look;
  const isWanted =
    settings.argumentTriggers !== undefined &&
    isReached(settings.argumentTriggers, { tokens, messages: messages.length }, window);
  if (!isDue && !isWanted) return undefined;
  const through = shortenedThrough(look);
  if (through === undefined || through === state.shortenedThrough) return undefined;
  const next: Compaction = { ...state, shortenedThrough: through };
  const shorter = lookAt(view, task, settings, next);
  const saved = tokens - shorter.tokens;
  if (saved <= 0 || (isDue && shorter.tokens > budget.threshold * ENOUGH)) return undefined;
  if (!isDue && saved < budget.usable * 0.05) return undefined;
  task.write(COMPACTION, next);
  return shorter;
}

/** The newest message that is old. */
function shortenedThrough({ view, sight, settings, window }: Look): string | undefined {
  const keep =
    settings.argumentKeep ??
    settings.keep ??
    (window === undefined ? DEFAULT_ARGUMENT_KEEP : { fraction: 0.1 });
  const most = keep.messages ?? Infinity;
  const room = keep.tokens ?? (keep.fraction === undefined ? Infinity : keep.fraction * (window ?? 200_000));
  const thread = view.valid.slice(sight.start);
  let tokens = 0;
  for (let i = thread.length - 1, kept = 0; i >= 0; i -= 1) {
    const message = thread[i] as BaseMessage;
    tokens += messageTokens(message, view.model);
    kept += 1;
    if (kept > most || tokens > room) return message.id;
  }
  return undefined;
}

/** Whether the model asked for it in the turn it is now to go on from. */
function isCompactionAsked(thread: Messages): boolean {
  for (let i = thread.length - 1; i >= 0; i -= 1) {
    const message = thread[i];
    if (!ToolMessage.isInstance(message)) return false;
    if (message.name === COMPACT_TOOL && message.content === COMPACTION_REQUESTED) return true;
  }
  return false;
}

/** How often a request is made smaller after its provider refused it. */
const RETRIES = 2;

async function afterFailure(
  error: unknown,
  view: RequestView,
  task: StageTask,
  settings: CompactionSettings,
): Promise<typeof AGAIN | undefined> {
  if (!isContextOverflow(error)) return undefined;
  const look = lookAt(view, task, settings, compactionIn(task));
  const { state, tokens, messages } = look;
  learnOverflow(view.model, tokens, statedWindow(error));
  const window = knownWindow(view.model);
  const refusal = overflowError({ view, messages, window, cause: error });
  const times = state.after === lastId(view.thread) ? (state.overflows ?? 0) : 0;
  if (times >= RETRIES) throw refusal;
  const learned = { ...look, window };
  const goal = Math.floor(Math.min(tokens / 2, (window ?? Infinity) * 0.8));
  const aim = { goal, isForced: true, mustShrink: true };
  const next = await reduced({ ...learned, window: undefined }, budgetOf(learned), aim);
  if (next === undefined) throw refusal;
  task.write(COMPACTION, { ...next, overflows: times + 1 });
  return AGAIN;
}
