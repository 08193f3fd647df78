/** Finds the bytes in a content block, in whichever of the forms it was written. */
import { HOLE, isMediaBlock, refill } from "../../loop/request/request-media-block.ts";
import { bytesOfBlock } from "../../text/media.ts";

export interface MediaPayload {
  /** Base64, or the bytes. */
  readonly data: string | Uint8Array;
  /** Type that the block claims. */
  readonly mimeType: string | undefined;
  readonly filename: string | undefined;
  /** The block without its data; absent for the standard form. */
  readonly given?: Readonly<Record<string, unknown>>;
}

interface Found {
  readonly data: unknown;
  readonly mimeType?: unknown;
  readonly filename?: unknown;
}

type Block = Readonly<Record<string, unknown>>;

/** Undefined for a block that holds no data: text, a link, a reference, an id. */
export function payloadOf(block: Block): MediaPayload | undefined {
  if (block.type === "text") return undefined;
  const bytes = bytesOfBlock(block);
  const found = bytes === undefined ? findIn(block) : { ...nameIn(block), data: bytes };
  if (found === undefined || !(typeof found.data === "string" || found.data instanceof Uint8Array))
    return undefined;
  const opened = typeof found.data === "string" ? fromDataUrl(found.data) : undefined;
  const data = opened?.data ?? found.data;
  const isStandard = bytes !== undefined || (isMediaBlock(block) && block.data !== undefined);
  const isRefillable = !isStandard && typeof data === "string";
  return {
    data,
    mimeType: text(opened?.mimeType) ?? text(found.mimeType),
    filename: text(found.filename),
    ...(isRefillable ? { given: refill(block, data, HOLE) as Block } : {}),
  };
}

function findIn(block: Block): Found | undefined {
  const { type } = block;
  if (isMediaBlock(block)) return block.data === undefined ? dataUrl(block.url, block) : named(block);
  if ("source_type" in block)
    return block.source_type === "base64"
      ? { ...named(block), mimeType: block.mime_type }
      : dataUrl(block.url, block);
  if (type === "image_url" || type === "audio_url" || type === "video_url" || type === "input_image") {
    const link = block[type === "input_image" ? "image_url" : type];
    return dataUrl(typeof link === "string" ? link : asBlock(link).url, block);
  }
  if (type === "image" || type === "document") return fromSource(block);
  if (type === "input_audio") return fromSound(asBlock(block.input_audio));
  if (type === "file") return fromFile(asBlock(block.file));
  if (type === "input_file") return fromFile(block);
  if (type === "media") return named(block);
  if ("inlineData" in block) return named(asBlock(block.inlineData));
  if (type === "resource") return fromResource(asBlock(block.resource));
  return typeof type === "string" && /^\w+\/[\w.+-]+$/.test(type) && "data" in block
    ? { data: block.data, mimeType: type }
    : undefined;
}

function named(block: Block): Found {
  return { ...nameIn(block), data: block.data };
}

function nameIn({ mimeType, metadata }: Block): Omit<Found, "data"> {
  const { filename, name, title } = asBlock(metadata);
  return { mimeType, filename: filename ?? name ?? title };
}

function dataUrl(url: unknown, block: Block): Found | undefined {
  return typeof url === "string" && url.startsWith("data:") ? { ...named(block), data: url } : undefined;
}

function fromSource({ source, title }: Block): Found | undefined {
  const { type, data, media_type } = asBlock(source);
  return type === "base64" ? { data, mimeType: media_type, filename: title } : undefined;
}

function fromSound({ data, format }: Block): Found {
  return { data, mimeType: format === "mp3" ? "audio/mpeg" : `audio/${String(format ?? "wav")}` };
}

function fromFile({ file_data, filename }: Block): Found {
  return { data: file_data, filename };
}

function fromResource({ blob, mimeType, uri }: Block): Found | undefined {
  const name = typeof uri === "string" ? uri.slice(uri.lastIndexOf("/") + 1) : undefined;
  return blob === undefined ? undefined : { data: blob, mimeType, filename: name };
}

/** Text in a data URL need not be base64. */
function fromDataUrl(url: string): { data: string | Uint8Array; mimeType: string } | undefined {
  if (!url.startsWith("data:")) return undefined;
  const comma = url.indexOf(",");
  if (comma < 0 || comma > 500) return undefined;
  const [mimeType = "", ...parameters] = url.slice("data:".length, comma).split(";");
  const body = url.slice(comma + 1);
  const data = parameters.includes("base64") ? body : new TextEncoder().encode(unescaped(body));
  return { data, mimeType };
}

function unescaped(body: string): string {
  try {
    return decodeURIComponent(body);
  } catch (error) {
    if (error instanceof URIError) return body;
    throw error;
  }
}

function asBlock(value: unknown): Block {
  return typeof value === "object" && value !== null ? (value as Block) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
