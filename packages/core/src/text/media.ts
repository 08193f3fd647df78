/** Whether bytes are a picture, a sound, a film or a PDF that can be shown to a model. */
import { kindOfType, mimeTypeOfBytes } from "./mime.ts";

export type MediaKind = "image" | "audio" | "video" | "PDF";

export interface Media {
  readonly kind: MediaKind;
  readonly mimeType: string;
  /** Whether the end that such a file must have is there; a provider refuses a request with half a picture. */
  readonly isWhole: boolean;
}

/** Undefined when the bytes, whatever the file is called, are none of these. */
export function mediaOf(path: string, bytes: Uint8Array): Media | undefined {
  if (bytes.length === 0) return undefined;
  const mimeType = mimeTypeOfBytes(path, bytes, false);
  const kind = kindOfType(mimeType);
  if (kind === "text" || kind === "binary") return undefined;
  return { kind: kind as MediaKind, mimeType, isWhole: isWhole(bytes, mimeType) };
}

const TAIL = 2048;

function isWhole(bytes: Uint8Array, mimeType: string): boolean {
  if (mimeType === "image/png") return endsWith(bytes, "IEND");
  if (mimeType === "image/jpeg") return endsWith(bytes, "\xff\xd9");
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
