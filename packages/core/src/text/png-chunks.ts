/** Whether a PNG is complete: every part that a reader needs has the right checksum. */

const SIGNATURE_BYTES = 8;
/** Length and name before the content of a chunk, checksum behind it. */
const AROUND = 12;

export function isSoundPng(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let position = SIGNATURE_BYTES;
  while (position + AROUND <= bytes.length) {
    const length = view.getUint32(position);
    const end = position + AROUND + length;
    if (end > bytes.length) return false;
    const name = String.fromCharCode(...bytes.subarray(position + 4, position + 8));
    if (position === SIGNATURE_BYTES && name !== "IHDR") return false;
    if (isNeeded(name) && view.getUint32(end - 4) !== checksum(bytes, position + 4, end - 4)) return false;
    // Something may stand behind the end.
    if (name === "IEND") return true;
    position = end;
  }
  return false;
}

/** The first letter of the name tells. */
function isNeeded(name: string): boolean {
  return name.charAt(0) <= "Z";
}

let table: Uint32Array | undefined;

/** CRC-32. */
function checksum(bytes: Uint8Array, start: number, end: number): number {
  table ??= Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value;
  });
  let sum = 0xffffffff;
  for (let index = start; index < end; index += 1)
    sum = (table[(sum ^ (bytes[index] as number)) & 0xff] as number) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}
