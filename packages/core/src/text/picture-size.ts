/** Width and height of a picture, from the first bytes of its file. */
import { ownValue } from "./own-value.ts";

export interface PictureSize {
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
}

/** Undefined for another format, or a broken head. */
export function pictureSize(bytes: Uint8Array, mimeType: string): PictureSize | undefined {
  const reader = ownValue(READERS, mimeType);
  if (reader === undefined || bytes.length < 30) return undefined;
  const size = reader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

/** Whether a GIF repeats; only moving ones do. */
export function isMovingPicture(bytes: Uint8Array, mimeType: string): boolean {
  if (mimeType !== "image/gif") return false;
  const head = String.fromCharCode(...bytes.subarray(0, 2048));
  return head.includes("NETSCAPE2.0");
}

const READERS: Readonly<Record<string, (view: DataView) => PictureSize | undefined>> = {
  "image/png": (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  "image/gif": (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  "image/jpeg": jpegSize,
  "image/webp": webpSize,
};

/** Walks segments up to the first frame. */
function jpegSize(view: DataView): PictureSize | undefined {
  let position = 2;
  while (position + 9 <= view.byteLength) {
    if (view.getUint8(position) !== 0xff) return undefined;
    const marker = view.getUint8(position + 1);
    if (isFrame(marker)) return { height: view.getUint16(position + 5), width: view.getUint16(position + 7) };
    position += marker === 0xff ? 1 : 2 + view.getUint16(position + 2);
  }
  return undefined;
}

/** C4, C8 and CC are tables, not frames. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function webpSize(view: DataView): PictureSize | undefined {
  const form = view.getUint32(12);
  if (form === 0x56503820)
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (form === 0x5650384c) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (form !== 0x56503858) return undefined;
  const third = (offset: number): number => view.getUint16(offset, true) | (view.getUint8(offset + 2) << 16);
  return { width: third(24) + 1, height: third(27) + 1 };
}
