import { describe, expect, it } from "vitest";
import { decodeBase64, decodedLength, encodeBase64 } from "./base64.ts";

describe("base64", () => {
  it.each([0, 1, 2, 3, 4, 255, 100_001])(
    "brings %s bytes back unchanged and knows how many they are",
    (length) => {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 31) % 256);
      const text = encodeBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(decodeBase64(text)).toEqual(bytes);
      expect(decodedLength(text)).toBe(length);
    },
  );

  it("tells what is not base64", () => {
    expect(decodeBase64("not base64!")).toBeUndefined();
  });
});
