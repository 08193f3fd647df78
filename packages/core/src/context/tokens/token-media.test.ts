import { expect, test } from "vitest";
import { encodeBase64 } from "../../text/base64.ts";
import { mediaTokens } from "./token-media.ts";

function png(width: number, height: number): Uint8Array {
  const bytes = new Uint8Array(64);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
}

const image = (width: number, height: number): Record<string, unknown> => ({
  type: "image",
  mimeType: "image/png",
  data: encodeBase64(png(width, height)),
});

test("a picture costs by its pixels, up to the size that providers shrink it to", () => {
  expect(mediaTokens(image(30, 30))).toBe(85);
  expect(mediaTokens(image(750, 1000))).toBe(1000);
  expect(mediaTokens(image(8000, 6000))).toBe(1600);
});

test("bytes and base64 of a picture cost the same", () => {
  expect(mediaTokens({ ...image(750, 1000), data: png(750, 1000) })).toBe(1000);
});

test("a picture whose size is not known costs as a large one, and one of low detail as a small one", () => {
  const url = "https://example.com/a.png";
  expect(mediaTokens({ type: "image", url })).toBe(1600);
  expect(mediaTokens({ type: "image_url", image_url: url })).toBe(1600);
  expect(mediaTokens({ type: "image_url", image_url: { url, detail: "low" } })).toBe(85);
});

test("a reference costs by what is known of its bytes", () => {
  const reference = (metadata: object, type = "image", mimeType = "image/png") => ({
    type,
    mimeType,
    url: "backend:/media/a",
    metadata: { size: 500_000, sha: "00", ...metadata },
  });
  expect(mediaTokens(reference({ width: 300, height: 500 }))).toBe(200);
  expect(mediaTokens(reference({}, "file", "application/pdf"))).toBe(25_000);
});

test("documents cost by the page, sounds and films by their length", () => {
  const data = "A".repeat(400_000);
  const bytes = 300_000;
  expect(mediaTokens({ type: "file", mimeType: "application/pdf", data })).toBe(15_000);
  expect(mediaTokens({ type: "audio", mimeType: "audio/mpeg", data })).toBe(32 + bytes / 500);
  expect(mediaTokens({ type: "audio", mimeType: "audio/wav", data })).toBe(32 + Math.ceil(bytes / 5500));
  expect(mediaTokens({ type: "video", mimeType: "video/mp4", data })).toBe(300 + bytes / 800);
  expect(mediaTokens({ type: "file", mimeType: "image/png", data })).toBe(1600);
});

test("text is no media", () => {
  expect(mediaTokens({ type: "text", text: "x" })).toBeUndefined();
  expect(mediaTokens({ type: "refusal", refusal: "no" })).toBeUndefined();
});
