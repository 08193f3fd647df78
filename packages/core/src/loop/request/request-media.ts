/**
 * Pictures, sounds, films and PDFs of a request in the form that its model takes them, or as words.
 *
 * The thread keeps references to them; only what leaves for a provider is changed. Some providers take media
 * inside the result of a tool, others only from a user: for those they stand in a message behind the results of
 * the turn. The same message is sent the same way each time, until a request has no room for all of them.
 */
import { type BaseMessage, type ContentBlock, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { isGraphBubbleUp } from "@langchain/langgraph";
import type { Stages, StageTask } from "../contract/stages.ts";
import { type Messages, mayHaveBlocks } from "../messages/messages.ts";
import type { ChatModel } from "../providers/model-source.ts";
import { isMediaBlock, type LoadMedia, type MediaBlock, mediaSize } from "./request-media-block.ts";
import { leftOut, type MediaWeight } from "./request-media-budget.ts";
import { type RenderedMessage, RenderedMessages } from "./request-media-cache.ts";
import { type MediaForm, mediaForm, placementOf } from "./request-media-form.ts";
import { withBlocks } from "./request-media-message.ts";
import { renderMedium, whyNotShown } from "./request-media-render.ts";
import { mediaWords, NO_ROOM } from "./request-media-words.ts";

/** The same array when there is nothing to change. No message is looked into twice. */
export function requestMedia(
  messages: Messages,
  model: ChatModel,
  load: LoadMedia = async () => undefined,
): Messages | Promise<Messages> {
  if (!mayHaveBlocks(messages)) return messages;
  const first = messages.findIndex((message) => mediaIn(message).length > 0);
  return first < 0 ? messages : renderFrom(messages, first, mediaForm(model), load);
}

/** Asks the stages for the bytes; only an abort is thrown. */
export function mediaLoader(stages: readonly Stages[], task: StageTask): LoadMedia {
  return async (url) => {
    try {
      for (const { media } of stages) {
        const bytes = await media?.(url, task);
        if (bytes !== undefined) return bytes;
      }
      return undefined;
    } catch (error) {
      if (task.signal?.aborted || (error !== null && isGraphBubbleUp(error))) throw error;
      return null;
    }
  };
}

async function renderFrom(
  messages: Messages,
  first: number,
  form: MediaForm,
  load: LoadMedia,
): Promise<Messages> {
  const list = messages.slice(0, first);
  let skipped = leftOut(weights(messages, first, form), form.limits);
  let behind: (readonly ContentBlock[])[] = [];
  for (let i = first; i < messages.length; i += 1) {
    const message = messages[i] as BaseMessage;
    const media = mediaIn(message);
    if (media.length === 0) list.push(message);
    else {
      const skip = Math.min(skipped, shownIn(message, form).length);
      skipped -= skip;
      const rendered = await render(message, form, skip, load);
      list.push(rendered.message);
      if (rendered.behind.length > 0) behind.push(rendered.behind);
    }
    if (behind.length === 0 || ToolMessage.isInstance(messages[i + 1])) continue;
    list.push(standBehind(behind));
    behind = [];
  }
  return list;
}

const messagesBehind = new WeakMap<readonly ContentBlock[], HumanMessage>();

/** As content blocks the message says that they are in the standard form, which some packages insist on. */
function standBehind(groups: readonly (readonly ContentBlock[])[]): HumanMessage {
  const [only] = groups.length === 1 ? groups : [];
  const known = only && messagesBehind.get(only);
  if (known !== undefined) return known;
  const message = new HumanMessage({ contentBlocks: groups.flat() as never });
  if (only !== undefined) messagesBehind.set(only, message);
  return message;
}

const found = new WeakMap<
  BaseMessage,
  { readonly source: BaseMessage["content"]; readonly media: readonly MediaBlock[] }
>();
const NONE: readonly MediaBlock[] = [];

function mediaIn(message: BaseMessage): readonly MediaBlock[] {
  const { content } = message;
  if (typeof content === "string" || message.type === "ai") return NONE;
  const known = found.get(message);
  if (known?.source === content) return known.media;
  const media = content.filter(isMediaBlock) as readonly MediaBlock[];
  found.set(message, { source: content, media: media.length === 0 ? NONE : media });
  return media;
}

function shownIn(message: BaseMessage, form: MediaForm): readonly MediaBlock[] {
  const isResult = ToolMessage.isInstance(message);
  return mediaIn(message).filter((block) => whyNotShown(block, form, isResult) === undefined);
}

function* weights(messages: Messages, first: number, form: MediaForm): Iterable<MediaWeight> {
  for (let i = first; i < messages.length; i += 1)
    for (const block of shownIn(messages[i] as BaseMessage, form)) {
      const { width = 0, height = 0 } = block.metadata ?? {};
      yield { size: mediaSize(block) ?? 0, edge: Math.max(width, height) };
    }
}

const rendered = new RenderedMessages();

async function render(
  message: BaseMessage,
  form: MediaForm,
  skip: number,
  load: LoadMedia,
): Promise<RenderedMessage> {
  const key = `${form.key} ${skip}`;
  const known = rendered.get(message, key);
  if (known !== undefined) return known;
  const { isLasting, ...result } = await renderMessage(message, form, skip, load);
  if (isLasting) rendered.set(message, key, result);
  return result;
}

async function renderMessage(
  message: BaseMessage,
  form: MediaForm,
  skip: number,
  load: LoadMedia,
): Promise<RenderedMessage & { readonly isLasting: boolean }> {
  const source = message.content;
  const isResult = ToolMessage.isInstance(message);
  const inside: ContentBlock[] = [];
  const behind: ContentBlock[] = [];
  let skipped = 0;
  let weight = 0;
  let isLasting = true;
  for (const block of source as ContentBlock[]) {
    if (!isMediaBlock(block)) inside.push(block);
    else if (skipped < skip && whyNotShown(block, form, isResult) === undefined) {
      inside.push(mediaWords(block, NO_ROOM));
      skipped += 1;
    } else {
      const made = await renderMedium(block, form, isResult, load);
      weight += made.weight;
      isLasting &&= made.isLasting;
      const isBehind = isResult && made.block.type !== "text" && placementOf(block, form) === "behind";
      inside.push(isBehind ? { type: "text", text: "[Shown in the next message.]" } : made.block);
      if (isBehind) behind.push(made.block);
    }
  }
  if (behind.length > 0) {
    const call = (message as ToolMessage).tool_call_id;
    behind.unshift({ type: "text", text: `Content of the tool result ${call}:` });
  }
  return { source, message: withBlocks(message, inside, form), behind, weight, isLasting };
}
