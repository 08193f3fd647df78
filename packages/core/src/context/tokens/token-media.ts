/**
 * Approximate cost of pictures, sounds, films and documents: providers bill them by size, never by their base64.
 *
 * Providers differ in this far more than in their vocabularies; the next report corrects the rest.
 */
import { isMediaBlock, type MediaMetadata } from "../../loop/request/request-media-block.ts";
import { decodeBase64, decodedLength } from "../../text/base64.ts";
import { mimeTypeOfBytes } from "../../text/mime.ts";
import { ownValue } from "../../text/own-value.ts";
import { type PictureSize, pictureSize } from "../../text/picture-size.ts";
import { payloadOf } from "../media/media-payload.ts";

const PIXELS_PER_TOKEN = 750;
/** Providers shrink a picture so that its longer side is no longer than this. */
const LONGEST_SIDE = 1568;
const SMALLEST_IMAGE = 85;
const LARGEST_IMAGE = 1600;
const TOKENS_PER_PAGE = 2500;
const BYTES_PER_PAGE = 50_000;
const BYTES_PER_WAVE_TOKEN = 5500;
const BYTES_PER_AUDIO_TOKEN = 500;
const BYTES_PER_VIDEO_TOKEN = 800;
const BYTES_PER_TEXT_TOKEN = 3.5;
/** Media of unknown size. */
const USUAL = { audio: 2000, video: 10_000, file: 3 * TOKENS_PER_PAGE } as const;
/** Enough of a picture to find its size in, in characters of base64; a multiple of four. */
const HEAD = 32_768;

type Kind = "image" | "audio" | "video" | "file";
type Block = Readonly<Record<string, unknown>>;

/** The tokens of a content block that is media, in whichever form; undefined when it is none. */
export function mediaTokens(block: Block): number | undefined {
  const payload = payloadOf(block);
  const kind = kindOf(block, payload?.mimeType);
  if (kind === undefined) return undefined;
  const metadata = isMediaBlock(block) ? block.metadata : undefined;
  if (kind === "image") return imageTokens(block, payload?.data, metadata);
  const bytes = payload === undefined ? metadata?.size : sizeOf(payload.data);
  const mimeType = payload?.mimeType ?? (typeof block.mimeType === "string" ? block.mimeType : "");
  return bytes === undefined ? USUAL[kind] : tokensOfBytes(kind, mimeType, bytes);
}

const KINDS: Readonly<Record<string, Kind>> = {
  image: "image",
  image_url: "image",
  input_image: "image",
  audio: "audio",
  audio_url: "audio",
  input_audio: "audio",
  video: "video",
  video_url: "video",
  file: "file",
  input_file: "file",
  document: "file",
  media: "file",
};

function kindOf(block: Block, mimeType: string | undefined): Kind | undefined {
  const declared = ownValue(KINDS, String(block.type ?? ""));
  if (declared === undefined && mimeType === undefined) return undefined;
  if (declared !== undefined && declared !== "file") return declared;
  const said = mimeType ?? (typeof block.mimeType === "string" ? block.mimeType : "");
  return (/^(?:image|audio|video)(?=\/)/.exec(said)?.[0] as Kind | undefined) ?? "file";
}

function tokensOfBytes(kind: Exclude<Kind, "image">, mimeType: string, bytes: number): number {
  if (kind === "audio")
    return (
      32 + Math.ceil(bytes / (/wav|pcm|l16/i.test(mimeType) ? BYTES_PER_WAVE_TOKEN : BYTES_PER_AUDIO_TOKEN))
    );
  if (kind === "video") return 300 + Math.ceil(bytes / BYTES_PER_VIDEO_TOKEN);
  if (mimeType.startsWith("text/")) return Math.ceil(bytes / BYTES_PER_TEXT_TOKEN);
  return Math.max(1, Math.round(bytes / BYTES_PER_PAGE)) * TOKENS_PER_PAGE;
}

function imageTokens(
  block: Block,
  data: string | Uint8Array | undefined,
  metadata: MediaMetadata | undefined,
): number {
  if (detailOf(block) === "low") return SMALLEST_IMAGE;
  const size = data === undefined ? statedSize(metadata) : sizeOfPicture(data);
  if (size === undefined) return LARGEST_IMAGE;
  const scale = Math.min(1, LONGEST_SIDE / Math.max(size.width, size.height));
  const tokens = Math.ceil((size.width * scale * size.height * scale) / PIXELS_PER_TOKEN);
  return Math.min(LARGEST_IMAGE, Math.max(SMALLEST_IMAGE, tokens));
}

function detailOf(block: Block): unknown {
  return block.detail ?? (block.image_url as { detail?: unknown } | undefined)?.detail;
}

function statedSize(metadata: MediaMetadata | undefined): PictureSize | undefined {
  const { width, height } = metadata ?? {};
  return width && height ? { width, height } : undefined;
}

function sizeOfPicture(data: string | Uint8Array): PictureSize | undefined {
  const head = typeof data === "string" ? decodeBase64(data.slice(0, HEAD)) : data.subarray(0, HEAD);
  return head && pictureSize(head, mimeTypeOfBytes("", head, false));
}

function sizeOf(data: string | Uint8Array): number {
  return typeof data === "string" ? decodedLength(data) : data.length;
}
