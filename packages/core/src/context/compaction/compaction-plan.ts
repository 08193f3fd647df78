/** Plans which messages leave the view and which of the rest are shown shorter. Decides; does nothing. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { RequestView } from "../../loop/contract/stages.ts";
import { type Messages, positionOfId } from "../../loop/messages/messages.ts";
import { isReminder } from "../../loop/messages/reminders.ts";
import type { ChatModel } from "../../loop/providers/model-source.ts";
import { ownValue } from "../../text/own-value.ts";
import { type Budget, summaryAllowance } from "../tokens/budget.ts";
import { messageTokens } from "../tokens/token-meter.ts";
import { requestTokens } from "./compaction-request.ts";
import type { Compaction, Sight } from "./compaction-state.ts";
import { chooseCut, type Piece, turnStarts, waterLevel } from "./cut.ts";
import { type ArgumentLimit, type Clip, clipMessage, isMedia, shortenArguments } from "./shorten.ts";
import { textOf } from "./transcript.ts";

export interface PlanRequest {
  readonly view: RequestView;
  readonly sight: Sight;
  readonly state: Compaction;
  readonly budget: Budget;
  readonly limit: ArgumentLimit;
  /** Tokens of system prompt and tools. */
  readonly fixed: number;
  /** Tokens the request may take afterwards. */
  readonly goal: number;
  /** Something is to be removed even where all of it might be kept. */
  readonly isForced: boolean;
}

export interface Plan {
  /** Removed messages, as the model saw them. */
  readonly removed: Messages;
  /** How many messages of the thread that are; the others are notes. */
  readonly removedFromThread: number;
  /** The newest message of a person in the removed part, as it is in the thread. */
  readonly request: BaseMessage | undefined;
  /** Tokens for the newest request of a person if it is not among the kept messages. */
  readonly requestTokens: number;
  /** Whether the kept part has a message of a person. */
  readonly keepsRequest: boolean;
  /** Kept messages, before they are shown shorter. */
  readonly kept: Messages;
  /** Tokens of the kept part in its sent form. */
  readonly keptTokens: number;
  readonly clips: Readonly<Record<string, Clip>>;
  readonly isShortened: boolean;
}

/** Undefined when nothing can be made smaller. */
export function planCompaction(request: PlanRequest): Plan | undefined {
  const { sight, budget, view, state } = request;
  const pieces = piecesOf(sight, view);
  const newest = threadMessage(request, sight.tail[pieces.findLastIndex(({ kind }) => kind === "human")]);
  const rest = request.goal - request.fixed;
  const spare = rest - summaryAllowance(budget, 0) - budget.keepTokens;
  const pin = requestTokens({ message: newest, known: state.request, model: view.model, budget, spare });
  const room = Math.max(rest - summaryAllowance(budget, pin), Math.floor(budget.usable * 0.1));
  const total = pieces.reduce((sum, { tokens }) => sum + tokens, 0);
  const keep = Math.min(budget.keepTokens, room);
  const chosen = chooseCut(pieces, {
    keepTokens: request.isForced ? Math.min(keep, Math.floor(total / 2)) : keep,
    keepMessages: budget.keepMessages,
    reach: Math.min(room, Math.max(2 * keep, Math.floor(budget.usable * 0.3))),
    room,
  });
  const cut = chosen === 0 && request.isForced ? (turnStarts(pieces).at(-1) ?? 0) : chosen;
  const kept = sight.tail.slice(cut);
  const before = pieces.slice(cut).reduce((sum, { tokens }) => sum + tokens, 0);
  const shrunk = before > room ? shrinkTail(kept, room, request) : undefined;
  if (cut === 0 && (shrunk === undefined || shrunk.tokens >= before)) return undefined;
  const keepsRequest = pieces.slice(cut).some(({ kind }) => kind === "human");
  return {
    removed: sight.tail.slice(0, cut),
    removedFromThread: pieces.slice(0, cut).filter(({ isThread }) => isThread).length,
    request: keepsRequest ? undefined : newest,
    requestTokens: pin,
    keepsRequest,
    kept,
    keptTokens: shrunk?.tokens ?? before,
    clips: shrunk?.clips ?? {},
    isShortened: shrunk?.isShortened ?? false,
  };
}

/** The message of the thread; the shown one may be shorter. */
function threadMessage({ view }: PlanRequest, shown: BaseMessage | undefined): BaseMessage | undefined {
  if (shown?.id === undefined) return shown;
  return view.valid[positionOfId(view.valid, shown.id)] ?? shown;
}

interface ShownPiece extends Piece {
  readonly isThread: boolean;
}

function piecesOf({ tail, start }: Sight, { valid, model }: RequestView): ShownPiece[] {
  const ids = new Set<string | undefined>();
  for (let i = start; i < valid.length; i += 1) ids.add(valid[i]?.id);
  return tail.map((message) => ({
    kind: ids.has(message.id) ? kindOf(message) : "note",
    isThread: ids.has(message.id),
    tokens: messageTokens(message, model),
  }));
}

function kindOf(message: BaseMessage): Piece["kind"] {
  if (AIMessage.isInstance(message)) return "ai";
  if (ToolMessage.isInstance(message)) return "tool";
  return HumanMessage.isInstance(message) ? "human" : "note";
}

interface Shrunk {
  readonly clips: Readonly<Record<string, Clip>>;
  readonly isShortened: boolean;
  readonly tokens: number;
}

interface Step {
  readonly mayClip: (message: BaseMessage) => boolean;
  readonly withoutMedia: boolean;
}

/** From the mildest on: results and reminders, their pictures, then all but the newest words of a person. */
const STEPS: readonly Step[] = [
  { mayClip: isAddition, withoutMedia: false },
  { mayClip: isAddition, withoutMedia: true },
  { mayClip: () => true, withoutMedia: true },
];

function isAddition(message: BaseMessage): boolean {
  return ToolMessage.isInstance(message) || isReminder(message);
}

/** Texts are not cut below this: the rest would say nothing. */
const SMALLEST_TEXT = 40;
const ATTEMPTS = 4;

/** The best that can be done, also when it does not fit. */
function shrinkTail(kept: Messages, room: number, { view, state, limit }: PlanRequest): Shrunk {
  const { model } = view;
  const short = kept.map((message) => shortenArguments(message, limit));
  const newest = kept.findLast((message) => HumanMessage.isInstance(message) && !isReminder(message));
  let best: Shrunk = { clips: {}, isShortened: true, tokens: tokensOf(short, model) };
  for (const step of STEPS) {
    for (let attempt = 0; attempt < ATTEMPTS && best.tokens > room; attempt += 1) {
      const clips = clipsFor(short, room * 0.9 ** attempt, { step, newest, model, known: state.clips ?? {} });
      const tokens = tokensOf(
        short.map((message) => clipped(message, clips)),
        model,
      );
      if (tokens < best.tokens) best = { clips, isShortened: true, tokens };
    }
    if (best.tokens <= room) break;
  }
  return best;
}

function clipped(message: BaseMessage, clips: Readonly<Record<string, Clip>>): BaseMessage {
  const clip = ownValue(clips, message.id ?? "");
  return clip === undefined ? message : clipMessage(message, clip);
}

function tokensOf(messages: Messages, model: ChatModel): number {
  return messages.reduce((sum, message) => sum + messageTokens(message, model), 0);
}

interface ClipRequest {
  readonly step: Step;
  readonly newest: BaseMessage | undefined;
  readonly model: ChatModel;
  /** Clips that exist already: they never grow again. */
  readonly known: Readonly<Record<string, Clip>>;
}

function clipsFor(messages: Messages, room: number, request: ClipRequest): Record<string, Clip> {
  const { step, newest, model, known } = request;
  const isClippable = (message: BaseMessage): boolean =>
    message.id !== undefined && message.id !== newest?.id && step.mayClip(message);
  const bare = messages.map((message) =>
    isClippable(message) && step.withoutMedia && hasMedia(message)
      ? clipMessage(message, { characters: Infinity, withoutMedia: true })
      : message,
  );
  const clippable = bare.filter(isClippable);
  const sizes = clippable.map((message) => messageTokens(message, model));
  const others = bare.filter((message) => !isClippable(message));
  const level = Math.max(waterLevel(sizes, room - tokensOf(others, model)), SMALLEST_TEXT);
  const clips: Record<string, Clip> = {};
  for (const [i, message] of clippable.entries()) {
    const id = message.id as string;
    const size = sizes[i] as number;
    const old = ownValue(known, id);
    const text = textOf(message).length;
    const characters = size > level ? Math.floor((text * Math.max(level - OVERHEAD, 10)) / size) : text;
    const isBare = old?.withoutMedia === true || (step.withoutMedia && hasMedia(message));
    if (old === undefined && size <= level && !isBare && !isChanged(messages, message)) continue;
    clips[id] = {
      characters: Math.min(characters, old?.characters ?? characters),
      ...((isBare || isChanged(messages, message)) && { withoutMedia: true }),
      ...(old?.path !== undefined && { path: old.path }),
    };
  }
  return clips;
}

/** Tokens of the sentence about the left-out part. */
const OVERHEAD = 20;

function isChanged(messages: Messages, message: BaseMessage): boolean {
  return !messages.includes(message);
}

function hasMedia({ content }: BaseMessage): boolean {
  return typeof content !== "string" && content.some(isMedia);
}
