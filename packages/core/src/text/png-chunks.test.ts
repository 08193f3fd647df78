import { crc32, deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { isSoundPng } from "./png-chunks.ts";

function chunk(type: string, body: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

const SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const HEADER = chunk("IHDR", Buffer.from([0, 0, 0, 9, 0, 0, 0, 9, 8, 0, 0, 0, 0]));
const COMMENT = chunk("tEXt", Buffer.from("Comment\0words"));
const DATA = chunk("IDAT", deflateSync(Buffer.alloc(90)));
const END = chunk("IEND", Buffer.alloc(0));
const WHOLE = Buffer.concat([SIGNATURE, HEADER, COMMENT, DATA, END]);

describe("a PNG", () => {
  it("is whole, also with something behind it or a broken remark in it", () => {
    expect(isSoundPng(WHOLE)).toBe(true);
    expect(isSoundPng(Buffer.concat([WHOLE, Buffer.from("more")]))).toBe(true);
    const remark = Buffer.from(WHOLE);
    remark[SIGNATURE.length + HEADER.length + 12] = 0;
    expect(isSoundPng(remark)).toBe(true);
  });

  it("is not, wherever it is cut", () => {
    for (let length = SIGNATURE.length; length < WHOLE.length; length += 1)
      expect(isSoundPng(WHOLE.subarray(0, length)), `${length}`).toBe(false);
  });

  it("is not, whichever bit of its data is turned", () => {
    const start = SIGNATURE.length + HEADER.length + COMMENT.length;
    for (let index = start + 8; index < start + DATA.length; index += 1) {
      const turned = Buffer.from(WHOLE);
      turned[index] = (turned[index] as number) ^ 1;
      expect(isSoundPng(turned), `${index}`).toBe(false);
    }
  });

  it("begins with its header", () => expect(isSoundPng(Buffer.concat([SIGNATURE, DATA, END]))).toBe(false));
});
