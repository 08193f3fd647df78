/** One picture, sound, film or file as the model at hand gets it. */
import type { ContentBlock } from "@langchain/core/messages";
import { showPath } from "../../paths.ts";
import { encodeBase64 } from "../../text/base64.ts";
import { decodeText, isTextType } from "../../text/mime.ts";
import {
  HOLE,
  isMediaReference,
  type LoadMedia,
  type MediaBlock,
  mediaSize,
  refill,
} from "./request-media-block.ts";
import { kindOf, type MediaForm, placementOf, wireType } from "./request-media-form.ts";
import { CANNOT_TAKE, GONE, mediaWords, UNREACHABLE } from "./request-media-words.ts";

export interface RenderedMedium {
  readonly block: ContentBlock;
  /** Characters that were made for it. */
  readonly weight: number;
  /** False where another attempt may give something else. */
  readonly isLasting: boolean;
}

/** Bytes of a text that is written out in the request. */
const MOST_TEXT = 64 * 1024;

/**
 * Words, unless the model is to see it as what it is. A text is written out for every model. What a person attached
 * for a model nobody knows is left to the person.
 */
export function whyNotShown(block: MediaBlock, form: MediaForm, isResult: boolean): string | undefined {
  if (isText(block)) return "it is written out";
  const kind = kindOf(block);
  const isTrusted = !isResult && form.trustsPeople && !form.refused.has(kind ?? "pdf");
  if (isTrusted) return undefined;
  if (kind === undefined || placementOf(block, form) === undefined) return CANNOT_TAKE;
  const { width = 0, height = 0 } = block.metadata ?? {};
  if (Math.max(width, height) > form.limits.edge)
    return `left out, this model takes pictures of at most ${form.limits.edge} pixels a side`;
  return whyTooLarge(mediaSize(block), form.limits.bytes[kind]);
}

function whyTooLarge(size: number | undefined, most: number): string | undefined {
  return size !== undefined && size > most
    ? `left out, this model takes at most ${most} bytes of it`
    : undefined;
}

function isText(block: MediaBlock): boolean {
  return isMediaReference(block) && isTextType(block.mimeType);
}

export async function renderMedium(
  block: MediaBlock,
  form: MediaForm,
  isResult: boolean,
  load: LoadMedia,
): Promise<RenderedMedium> {
  if (isText(block)) return writtenOut(block, load);
  const why = whyNotShown(block, form, isResult);
  if (why !== undefined) return words(block, why);
  if (!isMediaReference(block))
    return { block: wired(standard(block, block.data), form), weight: 0, isLasting: true };
  const bytes = await load(block.url);
  if (!bytes) return bytes === null ? words(block, UNREACHABLE, false) : words(block, GONE);
  const kind = kindOf(block);
  const tooLarge =
    kind === undefined || form.trustsPeople ? undefined : whyTooLarge(bytes.length, form.limits.bytes[kind]);
  if (tooLarge !== undefined) return words(block, tooLarge);
  const data = encodeBase64(bytes);
  const { given } = block.metadata;
  const isAsGiven = given !== undefined && form.provider === undefined && !isResult && form.trustsPeople;
  const shown = isAsGiven ? (refill(given, HOLE, data) as ContentBlock) : wired(standard(block, data), form);
  return { block: shown, weight: data.length, isLasting: true };
}

async function writtenOut(block: MediaBlock, load: LoadMedia): Promise<RenderedMedium> {
  if ((mediaSize(block) ?? 0) > MOST_TEXT) return words(block, "left out, it is long");
  const bytes = await load(block.url as string);
  if (!bytes) return bytes === null ? words(block, UNREACHABLE, false) : words(block, GONE);
  const text = decodeText(bytes);
  if (text === undefined || bytes.length > MOST_TEXT) return words(block, CANNOT_TAKE);
  const name = showPath(String(block.metadata?.filename ?? block.mimeType));
  return {
    block: { type: "text", text: `Content of '${name}':\n${text}` },
    weight: text.length,
    isLasting: true,
  };
}

function words(block: MediaBlock, why: string, isLasting = true): RenderedMedium {
  return { block: mediaWords(block, why), weight: 0, isLasting };
}

/** Our private fields do not leave. Returns the block itself if nothing is removed. */
function standard(block: MediaBlock, data: unknown): ContentBlock {
  if (data === undefined || (block.data === data && typeof data === "string" && !needsChange(block)))
    return block as unknown as ContentBlock;
  const { url: _url, mimeType, metadata, ...rest } = block;
  const { size: _s, sha: _h, width: _w, height: _l, animated: _a, given: _g, ...told } = metadata ?? {};
  const isNamed = block.type === "file" && told.filename === undefined;
  const named = isNamed ? { filename: "document.pdf", ...told } : told;
  return {
    ...rest,
    ...(mimeType === undefined ? {} : { mimeType: wireType(mimeType) }),
    data: data instanceof Uint8Array ? encodeBase64(data) : data,
    ...(Object.keys(named).length === 0 ? {} : { metadata: named }),
  } as unknown as ContentBlock;
}

/** A picture as the package of the provider reads it. */
function wired(block: ContentBlock, form: MediaForm): ContentBlock {
  const { type, data, mimeType, url } = block as unknown as MediaBlock;
  if (type !== "image" || !form.takesImageUrls) return block;
  const link = typeof data === "string" ? `data:${mimeType ?? "image/png"};base64,${data}` : url;
  return { type: "image_url", image_url: { url: link } } as unknown as ContentBlock;
}

function needsChange({ type, mimeType, metadata }: MediaBlock): boolean {
  return (
    (mimeType !== undefined && wireType(mimeType) !== mimeType) ||
    (type === "file" && metadata?.filename === undefined)
  );
}
