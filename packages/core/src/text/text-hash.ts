/**
 * Sixteen hexadecimal digits that differ for different texts, the same on every machine. Two texts with one hash can be
 * made on purpose, so no security decision may rest on it alone.
 */
export function textHash(text: string): string {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    one = Math.imul(one ^ code, 2654435761);
    other = Math.imul(other ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return hex(other) + hex(one);
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
