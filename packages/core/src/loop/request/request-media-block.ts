/**
 * Content blocks that hold a picture, a sound, a film or a file, and references to one.
 *
 * A reference is a block in LangChain's standard form whose `url` begins with `backend:`, followed by the path
 * of the bytes on the agent's backend. A thread holds references; the bytes are fetched when a model is asked.
 */
import { decodedLength } from "../../text/base64.ts";

export const REFERENCE = "backend:";

/** Facts about the bytes that are known without fetching them. */
export interface MediaMetadata {
  readonly filename?: string;
  /** Bytes. */
  readonly size?: number;
  /** The beginning of the SHA-256 of the bytes, in hex. */
  readonly sha?: string;
  /** Pixels. */
  readonly width?: number;
  /** Pixels. */
  readonly height?: number;
  /** A picture of several frames. */
  readonly animated?: boolean;
  /** The block as it was handed in, where that was not the standard form; `{base64}` stands for the data. */
  readonly given?: Readonly<Record<string, unknown>>;
}

/** The standard form. */
export interface MediaBlock {
  readonly type: "image" | "audio" | "video" | "file";
  readonly mimeType?: string;
  /** Base64, or bytes. */
  readonly data?: unknown;
  readonly url?: string;
  readonly metadata?: MediaMetadata;
}

export interface MediaReference extends MediaBlock {
  readonly mimeType: string;
  readonly url: string;
  readonly metadata: MediaMetadata & { readonly size: number; readonly sha: string };
}

const MEDIA_TYPES = new Set(["image", "audio", "video", "file"]);

/** The standard form only: what a caller wrote for one provider is the caller's affair. */
export function isMediaBlock(block: unknown): block is MediaBlock {
  const { type } = block as { type?: string };
  return (
    MEDIA_TYPES.has(type ?? "") &&
    !("source_type" in (block as object)) &&
    ("data" in (block as object) || typeof (block as MediaBlock).url === "string")
  );
}

export function isMediaReference(block: unknown): block is MediaReference {
  return isMediaBlock(block) && block.url?.startsWith(REFERENCE) === true;
}

/** Bytes; undefined where only a provider could tell. */
export function mediaSize({ data, metadata }: MediaBlock): number | undefined {
  if (typeof data === "string") return decodedLength(data);
  return data instanceof Uint8Array ? data.length : metadata?.size;
}

/** Stands for the data in a block that is kept as it was given. */
export const HOLE = "{base64}";

/** `block` with `filler` in place of `data`, wherever a text in it ends with that. */
export function refill(block: unknown, data: string, filler: string): unknown {
  if (typeof block === "string")
    return block.endsWith(data) ? block.slice(0, block.length - data.length) + filler : block;
  if (Array.isArray(block)) return block.map((item) => refill(item, data, filler));
  if (typeof block !== "object" || block === null) return block;
  return Object.fromEntries(Object.entries(block).map(([key, value]) => [key, refill(value, data, filler)]));
}

/** The bytes of a reference; undefined: they are gone, null: they cannot be reached now. */
export type LoadMedia = (url: string) => Promise<Uint8Array | null | undefined>;
