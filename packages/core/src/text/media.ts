/** Whether bytes are a picture, a sound, a film or a PDF that can be shown to a model. */
import { encodeBase64 } from "./base64.ts";
import { kindOfType, mimeTypeOfBytes } from "./mime.ts";
import { pictureSize } from "./picture-size.ts";
import { isSoundPng } from "./png-chunks.ts";

export type MediaKind = "image" | "audio" | "video" | "PDF";

export interface Media {
  readonly kind: MediaKind;
  readonly mimeType: string;
  /** False where it shows that something is missing or broken: a provider refuses a request with half a picture. */
  readonly isWhole: boolean;
}

/** Undefined when the bytes are none of these, with any file name. */
export function mediaOf(path: string, bytes: Uint8Array): Media | undefined {
  if (bytes.length === 0) return undefined;
  const mimeType = mimeTypeOfBytes(path, bytes, false);
  const kind = kindOfType(mimeType);
  if (kind === "text" || kind === "binary") return undefined;
  return { kind: kind as MediaKind, mimeType, isWhole: isWhole(bytes, mimeType) };
}

const TAIL = 2048;

function isWhole(bytes: Uint8Array, mimeType: string): boolean {
  if (mimeType === "image/png") return isSoundPng(bytes);
  if (mimeType === "image/jpeg")
    return endsWith(bytes, "\xff\xd9") && pictureSize(bytes, mimeType) !== undefined;
  if (mimeType === "image/gif") return endsWith(bytes, ";");
  if (mimeType === "image/webp") return bytes.length >= 8 + riffSize(bytes);
  return mimeType === "application/pdf" ? endsWith(bytes, "%%EOF") : true;
}

/** Something may stand behind the end. */
function endsWith(bytes: Uint8Array, mark: string): boolean {
  const tail = String.fromCharCode(...bytes.subarray(Math.max(0, bytes.length - TAIL)));
  return tail.includes(mark);
}

function riffSize(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
}

const bytesOfBlocks = new WeakMap<object, Uint8Array>();

/** `fields` with `data`, the bytes in base64. The text is made when a reader without support for bytes needs it. */
export function blockOfBytes<Fields extends object>(
  fields: Fields,
  bytes: Uint8Array,
): Fields & { readonly data: string } {
  const block = Object.defineProperty({ ...fields }, "data", {
    configurable: true,
    enumerable: true,
    get(this: object) {
      const value = encodeBase64(bytes);
      Object.defineProperty(block, "data", { value, enumerable: true });
      return value;
    },
  }) as Fields & { readonly data: string };
  bytesOfBlocks.set(block, bytes);
  return block;
}

/** The bytes of a block that `blockOfBytes` made. */
export function bytesOfBlock(block: object): Uint8Array | undefined {
  return bytesOfBlocks.get(block);
}
