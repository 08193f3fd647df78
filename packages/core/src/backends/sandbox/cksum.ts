/** What the `cksum` of POSIX prints for some bytes: for sandboxes that have no other sum. */

const POLYNOMIAL = 0x04c11db7;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24;
  for (let bit = 0; bit < 8; bit++) rest = rest < 0 ? (rest << 1) ^ POLYNOMIAL : rest << 1;
  return rest >>> 0;
});

export function cksum(bytes: Uint8Array): string {
  let sum = 0;
  for (const byte of bytes) sum = added(sum, byte);
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256))
    sum = added(sum, length & 255);
  return `${~sum >>> 0} ${bytes.length}`;
}

function added(sum: number, byte: number): number {
  return (sum << 8) ^ (TABLE[(sum >>> 24) ^ byte] as number);
}
