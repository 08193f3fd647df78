/** Pictures by their first bytes. SVG is none of them: it is a document that can have scripts. */

const KINDS: readonly (readonly [type: string, offset: number, start: readonly number[]])[] = [
  ["image/png", 0, [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", 0, [0xff, 0xd8, 0xff]],
  ["image/gif", 0, [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", 8, [0x57, 0x45, 0x42, 0x50]],
  ["image/avif", 4, [0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69, 0x66]],
  ["image/bmp", 0, [0x42, 0x4d]],
];

/** Undefined: no picture that the page shows. */
export function pictureType(bytes: Uint8Array): string | undefined {
  return KINDS.find(([, offset, start]) => start.every((byte, i) => bytes[offset + i] === byte))?.[0];
}
