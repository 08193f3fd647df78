/** A message with other content, in the form that the package of the provider reads. */
import type { BaseMessage, ContentBlock } from "@langchain/core/messages";
import { isMediaBlock, type MediaBlock } from "./request-media-block.ts";
import type { MediaForm } from "./request-media-form.ts";

/** The message itself when nothing differs. */
export function withBlocks(message: BaseMessage, blocks: ContentBlock[], form: MediaForm): BaseMessage {
  const isText = blocks.every((block) => block.type === "text");
  if (isText) return copy(message, blocks.map((block) => String(block.text)).join("\n"));
  if (form.provider === "openai" && message.type === "human") return forOpenAi(message, blocks);
  const isSame = blocks.every((block, index) => block === (message.content as ContentBlock[])[index]);
  return isSame ? message : copy(message, blocks);
}

function copy(
  message: BaseMessage,
  content: string | ContentBlock[],
  metadata: Record<string, unknown> = {},
): BaseMessage {
  const { id, name, additional_kwargs } = message;
  const response_metadata = { ...message.response_metadata, ...metadata };
  const Message = message.constructor as new (fields: object) => BaseMessage;
  return new Message({ ...message.lc_kwargs, id, name, additional_kwargs, response_metadata, content });
}

/**
 * Its package reads the standard form only where the message says that all of it is in that form, and an older one
 * elsewhere.
 */
function forOpenAi(message: BaseMessage, blocks: readonly ContentBlock[]): BaseMessage {
  const standard = blocks.map(standardBlock);
  if (standard.every((block) => block !== undefined))
    return copy(message, standard, { output_version: "v1" });
  return copy(
    message,
    blocks.map((block) => (isMediaBlock(block) ? olderBlock(block) : block)),
  );
}

function standardBlock(block: ContentBlock): ContentBlock | undefined {
  if (block.type === "text" || isMediaBlock(block)) return block;
  if (block.type !== "image_url") return undefined;
  const given = block.image_url as string | { url?: string; detail?: string };
  if (typeof given === "string") return { type: "image", url: given };
  if (typeof given?.url !== "string") return undefined;
  return { type: "image", url: given.url, ...(given.detail ? { metadata: { detail: given.detail } } : {}) };
}

function olderBlock({ type, mimeType, data, url, metadata }: MediaBlock): ContentBlock {
  const source = data === undefined ? { source_type: "url", url } : { source_type: "base64", data };
  return { type, ...source, mime_type: mimeType, metadata } as unknown as ContentBlock;
}
