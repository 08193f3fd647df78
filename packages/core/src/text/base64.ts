/** Base64 without Node: these run in browsers too. */

const CHUNK = 0x8000;

export function encodeBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK)
    parts.push(String.fromCharCode(...bytes.subarray(start, start + CHUNK)));
  return btoa(parts.join(""));
}

/** Undefined when `text` is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  let decoded: string;
  try {
    decoded = atob(text);
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
  const bytes = new Uint8Array(decoded.length);
  for (let index = 0; index < decoded.length; index++) bytes[index] = decoded.charCodeAt(index);
  return bytes;
}

/** How many bytes base64 text stands for, without decoding it. */
export function decodedLength(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}
