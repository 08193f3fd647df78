/**
 * Pictures, sounds, films and PDFs of a request in the form that its model takes them, or as words.
 *
 * The thread keeps what tools and people put there; only what leaves for a provider is changed. Some providers
 * take media inside the result of a tool, others only from a user: for those they stand in a message
 * behind the results of the turn.
 */
import { type BaseMessage, type ContentBlock, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { decodedLength } from "../text/base64.ts";
import { type Messages, mayHaveBlocks } from "./messages.ts";
import type { ChatModel } from "./model-source.ts";

type Kind = "image" | "pdf" | "audio" | "video";
/** Where media of a tool result go; absent: the model cannot take them. */
type Place = "inside" | "behind" | undefined;

export interface MediaForm {
  /** Tells forms apart; equal keys mean equal forms. */
  readonly key: string;
  readonly image: Place;
  readonly pdf: Place;
  readonly audio: Place;
  readonly video: Place;
  /** Whether the profile says what the model takes, so that a person's own media may be judged too. */
  readonly isCertain: boolean;
}

interface MediaBlock {
  readonly type: string;
  readonly mimeType?: string;
  readonly data?: unknown;
}

interface Rendered {
  /** What was rendered: a message may be edited in place. */
  readonly source: BaseMessage["content"];
  readonly message: BaseMessage;
  readonly behind: readonly ContentBlock[];
}

/** The same array when there is nothing to change. No message is looked into twice. */
export function requestMedia(messages: Messages, model: ChatModel): Messages {
  if (!mayHaveBlocks(messages)) return messages;
  const first = messages.findIndex(hasMedia);
  if (first < 0) return messages;
  const form = mediaForm(model);
  const list = messages.slice(0, first);
  let behind: ContentBlock[] = [];
  for (let i = first; i < messages.length; i += 1) {
    const message = messages[i] as BaseMessage;
    const rendered = hasMedia(message) ? render(message, form) : undefined;
    list.push(rendered?.message ?? message);
    if (rendered) behind.push(...rendered.behind);
    if (behind.length === 0 || ToolMessage.isInstance(messages[i + 1])) continue;
    // As content blocks the message says that they are in the standard form, which some packages insist on.
    list.push(new HumanMessage({ contentBlocks: behind as never }));
    behind = [];
  }
  return list;
}

const withMedia = new WeakMap<BaseMessage, boolean>();

function hasMedia(message: BaseMessage): boolean {
  const known = withMedia.get(message);
  if (known !== undefined) return known;
  const { content } = message;
  const found = typeof content !== "string" && message.type !== "ai" && content.some(isMedia);
  withMedia.set(message, found);
  return found;
}

const MEDIA_TYPES = new Set(["image", "audio", "video", "file"]);

/** The standard form only: what a caller wrote for one provider is the caller's affair. */
function isMedia(block: { readonly type?: string }): boolean {
  return (
    MEDIA_TYPES.has(block.type ?? "") && !("source_type" in block) && ("data" in block || "url" in block)
  );
}

const rendered = new WeakMap<BaseMessage, Map<string, Rendered>>();

/** Kept, so that what was sent once is sent the same way again. */
function render(message: BaseMessage, form: MediaForm): Rendered {
  const kept = rendered.get(message) ?? new Map<string, Rendered>();
  rendered.set(message, kept);
  const known = kept.get(form.key);
  if (known?.source === message.content) return known;
  const result = ToolMessage.isInstance(message) ? renderResult(message, form) : renderInput(message, form);
  kept.set(form.key, result);
  return result;
}

function renderResult(message: ToolMessage, form: MediaForm): Rendered {
  const inside: ContentBlock[] = [];
  const behind: ContentBlock[] = [];
  for (const block of message.content as ContentBlock[]) {
    const place = isMedia(block) ? placeOf(block as MediaBlock, form) : "inside";
    if (place === "inside") inside.push(block);
    else if (place === undefined) inside.push(words(block as MediaBlock));
    else {
      inside.push({ type: "text", text: "[Shown in the next message.]" });
      behind.push(block);
    }
  }
  const caption = { type: "text", text: `Content of the tool result ${message.tool_call_id}:` };
  return {
    source: message.content,
    message: withContent(message, inside),
    behind: behind.length > 0 ? [caption, ...behind] : behind,
  };
}

/** A person knows what the model takes, unless its profile knows better. */
function renderInput(message: BaseMessage, form: MediaForm): Rendered {
  const source = message.content;
  if (!form.isCertain) return { source, message, behind: [] };
  const content = (message.content as ContentBlock[]).map((block) =>
    isMedia(block) && placeOf(block as MediaBlock, form) === undefined ? words(block as MediaBlock) : block,
  );
  return { source, message: withContent(message, content), behind: [] };
}

function withContent(message: BaseMessage, blocks: ContentBlock[]): BaseMessage {
  if (blocks.every((block, index) => block === (message.content as ContentBlock[])[index])) return message;
  const isText = blocks.every((block) => block.type === "text");
  const content = isText ? blocks.map((block) => String(block.text)).join("\n") : blocks;
  const { id, name, additional_kwargs, response_metadata } = message;
  const Message = message.constructor as new (fields: object) => BaseMessage;
  return new Message({ ...message.lc_kwargs, id, name, additional_kwargs, response_metadata, content });
}

function words(block: MediaBlock): ContentBlock {
  const size = typeof block.data === "string" ? `, ${decodedLength(block.data)} bytes` : "";
  const type = block.mimeType ?? block.type;
  return { type: "text", text: `[${type}${size}: left out, this model cannot take it]` };
}

/** What every provider that takes pictures takes. */
const IMAGES = /^image\/(?:png|jpeg|gif|webp)$/;

function placeOf({ type, mimeType }: MediaBlock, form: MediaForm): Place {
  if (type === "file") return mimeType === "application/pdf" ? form.pdf : undefined;
  if (type === "image") return mimeType === undefined || IMAGES.test(mimeType) ? form.image : undefined;
  return form[type as "audio" | "video"];
}

type Profile = Partial<Record<`${Kind}Inputs` | "imageToolMessage" | "pdfToolMessage", boolean>>;

/** From the profile of the model; without one, from what the large providers are known to take. */
export function mediaForm(model: ChatModel): MediaForm {
  const inner = innermost(model);
  const profile = (inner as { profile?: Profile }).profile ?? {};
  const provider = providerOf(inner);
  const isCertain = profile.imageInputs !== undefined;
  const place = (kind: Kind): Place => {
    const isKnown = provider !== undefined && (kind === "image" || kind === "pdf");
    if (!(isCertain ? profile[`${kind}Inputs`] : isKnown)) return undefined;
    // LangChain's package for OpenAI calls every sound but one kind by the wrong name.
    if (kind === "audio" || kind === "video") return provider === "openai" ? undefined : "behind";
    const isTakenInside = profile[`${kind}ToolMessage`];
    if (provider === "anthropic") return isTakenInside === false ? "behind" : "inside";
    return provider === undefined && isTakenInside ? "inside" : "behind";
  };
  const form = { image: place("image"), pdf: place("pdf"), audio: place("audio"), video: place("video") };
  return { ...form, isCertain, key: JSON.stringify([form, isCertain]) };
}

type Provider = "anthropic" | "openai" | "google";

function providerOf(model: ChatModel): Provider | undefined {
  const name = model.getName();
  if (/anthropic/i.test(name)) return "anthropic";
  if (/openai/i.test(name)) return "openai";
  return /google|vertex|gemini/i.test(name) ? "google" : undefined;
}

function innermost(model: ChatModel): ChatModel {
  const { bound } = model as { bound?: ChatModel };
  return bound === undefined ? model : innermost(bound);
}
