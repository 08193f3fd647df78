import { describe, expect, it } from "vitest";
import { mediaOf } from "./media.ts";

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const PNG = atob(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);
const JPEG = "\xff\xd8\xff\xe0\0\x04..\xff\xc0\0\x11\x08\0\x09\0\x09.............\xff\xd9";

describe("media", () => {
  it.each([
    ["/a.txt", PNG, { kind: "image", mimeType: "image/png", isWhole: true }],
    ["/a.png", PNG.slice(0, 20), { kind: "image", mimeType: "image/png", isWhole: false }],
    ["/a.png", JPEG, { kind: "image", mimeType: "image/jpeg", isWhole: true }],
    ["/a.jpg", JPEG.slice(0, -2), { kind: "image", mimeType: "image/jpeg", isWhole: false }],
    ["/a.jpg", "\xff\xd8\xff\xe0..", { kind: "image", mimeType: "image/jpeg", isWhole: false }],
    ["/a.gif", "GIF89a...;", { kind: "image", mimeType: "image/gif", isWhole: true }],
    ["/a.webp", "RIFF\x06\0\0\0WEBP..", { kind: "image", mimeType: "image/webp", isWhole: true }],
    ["/a.webp", "RIFF\x07\0\0\0WEBP..", { kind: "image", mimeType: "image/webp", isWhole: false }],
    ["/a.pdf", "%PDF-1.7\n\xe2\n%%EOF\n", { kind: "PDF", mimeType: "application/pdf", isWhole: true }],
    ["/a.pdf", "%PDF-1.7\n\xe2\n", { kind: "PDF", mimeType: "application/pdf", isWhole: false }],
    ["/a.mp3", "ID3\x04", { kind: "audio", mimeType: "audio/mpeg", isWhole: true }],
    ["/a", "\0\0\0\x20ftypisom", { kind: "video", mimeType: "video/mp4", isWhole: true }],
    ["/a.png", "\0\x01\x02", undefined],
    ["/a.png", "", undefined],
    ["/a.zip", "PK\x03\x04", undefined],
  ])("%s holding %j", (path, content, expected) => expect(mediaOf(path, bytes(content))).toEqual(expected));
});
