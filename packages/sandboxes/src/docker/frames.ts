/** The stream of an exec: pieces of output, each behind a header with its stream and its length. */

const HEADER_BYTES = 8;

/** Passes the content of the pieces on, in the order of arrival, wherever the bytes are cut. */
export function createFrameReader(onOutput: (chunk: Uint8Array) => void): (bytes: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let inHeader = 0;
  let left = 0;
  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (left > 0) {
        const piece = bytes.subarray(at, at + left);
        onOutput(piece);
        left -= piece.length;
        at += piece.length;
        continue;
      }
      const copied = bytes.copy(header, inHeader, at, at + HEADER_BYTES - inHeader);
      inHeader += copied;
      at += copied;
      if (inHeader < HEADER_BYTES) return;
      left = header.readUInt32BE(4);
      inHeader = 0;
    }
  };
}
