import { expect, test } from "vitest";
import { createFrameReader } from "./frames.ts";

function frame(stream: number, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

const BYTES = Buffer.concat([frame(1, "one "), frame(2, ""), frame(2, "two "), frame(1, "thrée")]);

test.each([1, 2, 3, 7, 8, 9, 13, 100])("output is whole when it comes in pieces of %i bytes", (size) => {
  const pieces: Buffer[] = [];
  const read = createFrameReader((chunk) => pieces.push(Buffer.from(chunk)));
  for (let at = 0; at < BYTES.length; at += size) read(BYTES.subarray(at, at + size));
  expect(Buffer.concat(pieces).toString("utf8")).toBe("one two thrée");
});
