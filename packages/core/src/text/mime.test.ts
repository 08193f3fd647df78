import { describe, expect, it } from "vitest";
import {
  decodeText,
  isTextType,
  kindOfType,
  looksLikeText,
  mimeTypeOfBytes,
  mimeTypeOfName,
  mimeTypeOfText,
} from "./mime.ts";

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

describe("mime types", () => {
  it.each([
    ["/a.md", "text/markdown"],
    ["/A.PNG", "image/png"],
    ["/x.tar.gz", "application/gzip"],
    ["/src/a.ts", "text/typescript"],
    ["/Makefile", undefined],
    ["/dir.png/readme", undefined],
    ["/x.__proto__", undefined],
    ["/x.constructor", undefined],
  ])("%s by its name: %s", (path, expected) => expect(mimeTypeOfName(path)).toBe(expected));

  it.each([
    [undefined, true],
    ["text/plain; charset=utf-8", true],
    ["application/json", true],
    ["image/svg+xml", true],
    ["application/vnd.api+json", true],
    ["image/png", false],
    ["application/octet-stream", false],
    ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", false],
  ])("%s is text: %s", (mimeType, expected) => expect(isTextType(mimeType)).toBe(expected));

  it.each([
    ["/a.md", "text/markdown"],
    ["/logo.png", "text/plain"],
    ["/logo.svg", "image/svg+xml"],
    ["/x", "text/plain"],
  ])("text written to %s is %s", (path, expected) => expect(mimeTypeOfText(path)).toBe(expected));

  it.each([
    ["/a.bin", "\x89PNG\r\n\x1a\n..", false, "image/png"],
    [
      "/a.docx",
      "PK\x03\x04",
      false,
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
    ["/a.txt", "\xff\xd8\xff\xe0", false, "image/jpeg"],
    ["/a.txt", "\0\0", false, "application/octet-stream"],
    ["/a.png", "hello", true, "text/plain"],
    ["/a.png", "\xff\xd8\xff\xe0", false, "image/jpeg"],
    ["/a.png", "\0\x01\x02", false, "application/octet-stream"],
    ["/a.docx", "\0\x01\x02", false, "application/octet-stream"],
    ["/a.m4a", "\0\0\0\x20ftypisom", false, "audio/mp4"],
    ["/a.txt", "\0\0\0\x20ftypavif", false, "image/avif"],
    ["/a.mkv", "\x1aE\xdf\xa3", false, "video/x-matroska"],
    ["/a.wav", "RIFF\x24\0\0\0WEBP", false, "image/webp"],
  ])("%s holding %j (text: %s) is %s", (path, content, text, expected) => {
    expect(mimeTypeOfBytes(path, bytes(content), text)).toBe(expected);
  });

  it.each([
    ["image/png", "image"],
    ["audio/mpeg", "audio"],
    ["video/mp4", "video"],
    ["application/pdf", "PDF"],
    ["application/zip", "binary"],
    ["text/css", "text"],
  ])("%s is called %s", (mimeType, expected) => expect(kindOfType(mimeType)).toBe(expected));
});

describe("text or not", () => {
  it.each<[string, Uint8Array, string | undefined]>([
    ["plain words", bytes("abc"), "abc"],
    ["nothing", new Uint8Array(), ""],
    ["UTF-8", new TextEncoder().encode("é🙂"), "é🙂"],
    ["a byte order mark, kept", bytes("\xef\xbb\xbfa"), "\ufeffa"],
    ["Latin-1", bytes("caf\xe9"), undefined],
    ["a NUL", bytes("a\0b"), undefined],
    ["half a character", bytes("a\xe2\x82"), undefined],
  ])("decodes %s", (_name, content, expected) => expect(decodeText(content)).toBe(expected));

  it("does not call a head binary because it ends inside a character", () => {
    expect(looksLikeText(bytes("price: \xe2\x82"))).toBe(true);
    expect(looksLikeText(bytes("price: \xff\xfe"))).toBe(false);
    expect(looksLikeText(bytes("a\0"))).toBe(false);
  });
});
