import { expect, it } from "vitest";
import { encodeBase64 } from "./base64.ts";
import { writtenBytes } from "./written-bytes.ts";

const bytes = Uint8Array.from({ length: 100 }, (_, index) => (index * 7) & 255);
const encoded = encodeBase64(bytes);
const lines = encoded.replace(/.{76}/g, "$&\n");

it.each([
  ["a picture", "/a.png", encoded],
  ["whatever the case of its ending", "/A.JPG", encoded],
  ["sound", "/a.mp3", encoded],
  ["film", "/a.mp4", encoded],
  ["a PDF", "/a.pdf", encoded],
  ["slides", "/a.pptx", encoded],
  ["lines, as the command base64 prints them", "/a.png", `${lines}\n`],
])("base64 is bytes in %s", (_name, path, content) => {
  expect(writtenBytes(path, content)).toEqual(bytes);
});

it.each([
  ["nothing", "/a.png", ""],
  ["words", "/a.png", "just text\n"],
  ["base64 of no whole group", "/a.png", "abcde"],
  ["padding in the middle", "/a.png", "ab==abcd"],
  ["base64 in a text file", "/a.txt", encoded],
  ["base64 in a drawing, which is text", "/a.svg", encoded],
  ["base64 in a file whose name says nothing", "/a.bin", encoded],
  ["base64 in an archive", "/a.zip", encoded],
])("%s is text", (_name, path, content) => {
  expect(writtenBytes(path, content)).toBeUndefined();
});

it("a long text is told apart in time that grows with its length", () => {
  expect(writtenBytes("/a.png", `${"abcd\n".repeat(200_000)}!`)).toBeUndefined();
});
