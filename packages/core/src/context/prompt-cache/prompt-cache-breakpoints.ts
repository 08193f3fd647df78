/**
 * Cache markers in a request to Anthropic, placed so that the next request finds this one in the cache.
 *
 * The provider takes four markers: at the end of the tools (shared by threads with different prompts), of the system
 * prompt, and of the last two turns of a person or of tools. The older of these two is exactly where the newest was one
 * request before: the provider looks back only twenty blocks from a marker, and a turn of parallel calls may have more.
 * Markers of other code count and stay.
 */
import { AIMessage, type BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { Outgoing } from "../../loop/contract/stages.ts";
import type { ChatModel } from "../../loop/providers/model-source.ts";
import {
  type CacheTtl,
  markedMessage,
  markedTool,
  ownMarkerOfTool,
  ownMarkers,
  ttlOf,
} from "./prompt-cache-blocks.ts";

const MOST_MARKERS = 4;

/** A marker that was there before, by its place: tools stand below zero, a message at its index. */
interface OwnMarker {
  readonly place: number;
  readonly ttl: CacheTtl;
}

interface Draft {
  readonly client: ChatModel;
  readonly own: readonly OwnMarker[];
  readonly messages: BaseMessage[];
  tools: readonly unknown[];
  readonly ttl: CacheTtl;
  free: number;
}

/** `client` is the model without its bound tools and options. */
export function withBreakpoints(outgoing: Outgoing, client: ChatModel, ttl: CacheTtl): Outgoing {
  const own = markersOf(outgoing);
  const free = MOST_MARKERS - own.length;
  if (free <= 0) return outgoing;
  const draft: Draft = { client, own, messages: [...outgoing.messages], tools: outgoing.tools, ttl, free };
  const isEndMarked = own.some(({ place }) => place >= outgoing.messages.length);
  const [newest, previous] = turnEnds(outgoing.messages);
  if (!isEndMarked) markTurn(draft, newest);
  markSystem(draft);
  markTurn(draft, previous);
  markTools(draft);
  return { ...outgoing, messages: draft.messages, tools: draft.tools };
}

function markersOf({ tools, messages, settings }: Outgoing): readonly OwnMarker[] {
  const found: OwnMarker[] = [];
  const add = (place: number, markers: readonly CacheTtl[]): void => {
    for (const ttl of markers) found.push({ place, ttl });
  };
  tools.forEach((tool, index) => {
    add(index - tools.length, ownMarkerOfTool(tool));
  });
  messages.forEach((message, index) => {
    if (typeof message.content !== "string") add(index, ownMarkers(message));
  });
  // A marker of the whole request: the provider puts it at the end.
  add(messages.length, ttlOf(settings.cache_control));
  return found;
}

/** Where the last two turns end that are not the model's. */
function turnEnds(messages: readonly BaseMessage[]): readonly number[] {
  const ends: number[] = [];
  let isInside = false;
  for (let i = messages.length - 1; i >= 0 && ends.length < 2; i -= 1) {
    const isModels = AIMessage.isInstance(messages[i]);
    if (!isModels && !isInside) ends.push(i);
    isInside = !isModels;
  }
  return ends;
}

/** At the last message of the turn that can carry a marker. */
function markTurn(draft: Draft, end: number | undefined): void {
  for (let i = end ?? -1; i >= 0; i -= 1) {
    const message = draft.messages[i] as BaseMessage;
    if (AIMessage.isInstance(message) || SystemMessage.isInstance(message)) return;
    if (markMessage(draft, i)) return;
  }
}

function markSystem(draft: Draft): void {
  const first = draft.messages.findIndex((message) => !SystemMessage.isInstance(message));
  if (first > 0) markMessage(draft, first - 1);
}

/** Also true when there is nothing to do any more. */
function markMessage(draft: Draft, index: number): boolean {
  const message = draft.messages[index] as BaseMessage;
  if (draft.free === 0 || ownMarkers(message).length > 0) return true;
  const marked = markedMessage(message, ttlAt(draft, index));
  if (marked === undefined) return false;
  draft.messages[index] = marked;
  draft.free -= 1;
  return true;
}

function markTools(draft: Draft): void {
  const { tools, client, own } = draft;
  if (draft.free === 0 || own.some(({ place }) => place < 0)) return;
  for (let i = tools.length - 1; i >= 0; i -= 1) {
    const marked = markedTool(tools[i], client, ttlAt(draft, -1));
    if (marked === undefined) continue;
    draft.tools = tools.with(i, marked);
    draft.free -= 1;
    return;
  }
}

/** The provider requires markers with a longer lifetime first. */
function ttlAt({ own, ttl }: Draft, place: number): CacheTtl {
  if (own.some((marker) => marker.place > place && marker.ttl === "1h")) return "1h";
  return own.some((marker) => marker.place < place && marker.ttl === "5m") ? "5m" : ttl;
}
