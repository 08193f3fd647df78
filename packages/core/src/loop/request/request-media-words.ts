/** Text in place of media that cannot be sent. */
import type { ContentBlock } from "@langchain/core/messages";
import { showPath } from "../../paths.ts";
import { isMediaReference, type MediaBlock, mediaSize, REFERENCE } from "./request-media-block.ts";

export const CANNOT_TAKE = "left out, this model cannot take it";
export const NO_ROOM = "left out, a request has no room for all of them and newer ones are shown";
export const GONE = "left out, its content is no longer there";
export const UNREACHABLE = "left out, its content cannot be reached now";

/** Where the content still lies somewhere, the words say where. */
export function mediaWords(block: MediaBlock, why: string): ContentBlock.Text {
  const { mimeType, type, metadata } = block;
  const name = typeof metadata?.filename === "string" ? ` '${shortened(metadata.filename)}'` : "";
  const size = mediaSize(block);
  const bytes = size === undefined ? "" : `, ${size} bytes`;
  const where = why === GONE ? "" : locationWords(block);
  return { type: "text", text: `[${shortened(mimeType ?? type)}${name}${bytes}: ${why}${where}]` };
}

const LONGEST = 120;

function shortened(words: string): string {
  return showPath(words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words);
}

function locationWords(block: MediaBlock): string {
  if (isMediaReference(block)) return `. It is the file ${showPath(block.url.slice(REFERENCE.length))}`;
  const isLink = typeof block.url === "string" && /^https?:/.test(block.url);
  return isLink ? `. It lies at ${showPath((block.url as string).slice(0, 1000))}` : "";
}
