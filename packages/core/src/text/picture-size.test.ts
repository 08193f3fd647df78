import { describe, expect, it } from "vitest";
import { isMovingPicture, pictureSize } from "./picture-size.ts";

const hex = (text: string): Uint8Array => {
  const pairs = text.replaceAll(" ", "").match(/../g) ?? [];
  const bytes = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
  const padded = new Uint8Array(Math.max(40, bytes.length));
  padded.set(bytes);
  return padded;
};

describe("the size of a picture", () => {
  it.each([
    ["image/png", "89504e470d0a1a0a 0000000d 49484452 00000280 000001e0", 640, 480],
    ["image/gif", "474946383961 8002 e001", 640, 480],
    ["image/jpeg", "ffd8 ffe0 0004 0000 ffc4 0003 00 ff ffc2 0011 08 01e0 0280", 640, 480],
    ["image/webp", "52494646 00000000 57454250 56503820 00000000 000000 9d012a 8002 e001", 640, 480],
    ["image/webp", "52494646 00000000 57454250 5650384c 00000000 2f 7fc27700", 640, 480],
    ["image/webp", "52494646 00000000 57454250 56503858 00000000 00000000 7f0200 df0100", 640, 480],
  ])("%s %s", (mimeType, head, width, height) =>
    expect(pictureSize(hex(head), mimeType)).toEqual({ width, height }),
  );

  it.each([
    ["image/png", hex("89504e470d0a1a0a 0000000d 49484452 00000000 00000000")],
    ["image/png", new Uint8Array(10)],
    ["image/jpeg", hex("ffd8 ffe0 0004 0000 00")],
    ["image/jpeg", hex(`ffd8 ${"ffe0 0002 ".repeat(20)}`)],
    ["image/webp", hex("52494646 00000000 57454250 00000000")],
    ["image/tiff", hex("49492a00")],
  ])("is not known of %s that says nothing of it", (mimeType, bytes) =>
    expect(pictureSize(bytes, mimeType)).toBeUndefined(),
  );

  it("a GIF that repeats moves", () => {
    const bytes = new TextEncoder().encode("GIF89a.....!..NETSCAPE2.0....;");
    expect(isMovingPicture(bytes, "image/gif")).toBe(true);
    expect(isMovingPicture(bytes.subarray(0, 12), "image/gif")).toBe(false);
    expect(isMovingPicture(bytes, "image/png")).toBe(false);
  });
});
