import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../../../scripts/test-time.ts";
import { normalizeLineEnds } from "../../../text/lines.ts";
import { editBytes } from "./edit-bytes.ts";
import { encoded, encodedFile, SAMPLES, strayBytes } from "./encoded-text-for-tests.ts";
import { decodeBytes, encodePart, markLength } from "./text-codec.ts";

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

describe("an edit of bytes", () => {
  it.each<[string, Buffer, string, string, Buffer]>([
    ["plain", Buffer.from("one two"), "two", "2", Buffer.from("one 2")],
    ["with nothing in the file", Buffer.from(""), "", "new\n", Buffer.from("new\n")],
    ["of CRLF", Buffer.from("a\r\nb\r\n"), "a\nb", "x\ny", Buffer.from("x\r\ny\r\n")],
    ["of CR", Buffer.from("a\rb\rc"), "b", "x\ny", Buffer.from("a\rx\ry\rc")],
    ["behind a mark", Buffer.from("\ufeffa\r\nb"), "a\nb", "c", Buffer.from("\ufeffc")],
    ["that names the mark", Buffer.from("\ufeffab"), "\ufeffa", "\ufeffc", Buffer.from("\ufeffcb")],
    ["that means a mark in the text", Buffer.from("\ufeffa\ufeffb"), "\ufeffb", "c", Buffer.from("\ufeffac")],
    ["of Latin-1", latin1("caf\xe9\r\nth\xe9"), "café", "crème", latin1("cr\xe8me\r\nth\xe9")],
    [
      "of UTF-16",
      encoded("é\r\nb", "utf-16be", true),
      "é",
      "🙂\nx",
      encoded("🙂\r\nx\r\nb", "utf-16be", true),
    ],
    [
      "of a file of nothing but a mark",
      encoded("", "utf-16le", true),
      "",
      "a",
      encoded("a", "utf-16le", true),
    ],
    ["with signs of replacement", Buffer.from("x"), "x", "$& $` $' $$ $1", Buffer.from("$& $` $' $$ $1")],
    [
      "beside a byte astray",
      latin1("gr\xc3\xb6\xc3\x9fer \xff x"),
      "größer",
      "kleiner",
      latin1("kleiner \xff x"),
    ],
    [
      "of a byte astray",
      latin1("gr\xc3\xb6\xc3\x9fer \xff x"),
      "\u{10feff} x",
      "\u{10feff}y",
      latin1("gr\xc3\xb6\xc3\x9fer \xffy"),
    ],
  ])("%s", (_name, bytes, oldString, newString, expected) => {
    const result = editBytes(bytes, oldString, newString, false);
    expect(result).toMatchObject({ occurrences: 1 });
    expect((result as { bytes: Buffer }).bytes.toString("latin1")).toBe(expected.toString("latin1"));
  });

  it("does not find a backslash in the middle of a character", () => {
    const bytes = encoded("ソース表示の能力、これは日本語のコメントです a\\b\n", "shift_jis");
    const result = editBytes(bytes, "\\", "/", false) as { bytes: Buffer };
    expect(decodeBytes(result.bytes)?.text).toBe("ソース表示の能力、これは日本語のコメントです a/b\n");
  });

  it.each<[string, Buffer, string, string, string, string]>([
    ["absent", Buffer.from("abc"), "x", "y", "STRING_NOT_FOUND", "String not found in file: 'x'"],
    [
      "absent, in words of its own",
      latin1("caf\xe9"),
      "thé",
      "y",
      "STRING_NOT_FOUND",
      "String not found in file: 'thé'",
    ],
    [
      "not unique",
      Buffer.from("é é"),
      "é",
      "y",
      "STRING_NOT_UNIQUE",
      "String 'é' appears 2 times in file. Use replace_all=True",
    ],
    ["the same", Buffer.from("x"), "x", "x", "INVALID_ARGUMENT", "old_string and new_string are the same"],
    ["empty", Buffer.from("x"), "", "y", "INVALID_ARGUMENT", "old_string is empty"],
    [
      "not text",
      Buffer.from("a\0x"),
      "x",
      "y",
      "NOT_TEXT",
      "'/f.bin' is not a text file (application/octet-stream)",
    ],
    [
      "not in the encoding",
      latin1("caf\xe9"),
      "café",
      "→",
      "INVALID_ARGUMENT",
      "The file is written in windows-1252, which has no character '→' (U+2192)",
    ],
    [
      "no character",
      Buffer.from("a"),
      "a",
      "\udc00",
      "INVALID_ARGUMENT",
      "The file is written in utf-8, which has no character U+DC00",
    ],
  ])("is refused: %s", (_name, bytes, oldString, newString, code, words) => {
    const result = editBytes(bytes, oldString, newString, false, "/f.bin");
    expect(result).toMatchObject({ code });
    expect(result.error?.startsWith(words)).toBe(true);
  });

  it("accepts any part of what was shown and leaves every other byte alone", () => {
    const files = fc.oneof(
      encodedFile().map((file) => file.bytes),
      strayBytes(),
    );
    fc.assert(
      fc.property(files, fc.nat(), fc.nat(), fc.boolean(), (bytes, from, length, all) => {
        const shown = decodeBytes(bytes);
        if (shown === undefined) return;
        const characters = Array.from(normalizeLineEnds(shown.text));
        const start = from % (characters.length + 1);
        const part = characters.slice(start, start + 1 + (length % 30)).join("");
        if (part === "" || part === "NEW") return;
        const result = editBytes(bytes, part, "NEW", all);
        if (!all && result.error?.includes("times in file")) return;
        if (result.error !== undefined) throw new Error(result.error);
        const pieces = shown.text.split(anyLineEnds(part)).map((piece) => encodePart(piece, shown.encoding));
        const added = encodePart("NEW", shown.encoding);
        const expected = pieces.flatMap((piece, index) => (index === 0 ? [piece] : [added, piece]));
        const mark = bytes.subarray(0, markLength(shown));
        expect(result.bytes.equals(Buffer.concat([mark, ...expected]))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each(["\n", "\r\n"])("is not held up by text made to be slow, with %j", async (lineEnd) => {
    const bytes = Buffer.from(`first${lineEnd}${"a".repeat(1_000_000)}`);
    const old = `${"a".repeat(4500)}b${"a".repeat(4500)}`;
    await withinCpuLimit("two edits of 1 MB of text made to be slow", () => {
      expect(editBytes(bytes, old, "x", false)).toMatchObject({ code: "STRING_NOT_FOUND" });
      expect(editBytes(bytes, `${old}\n`, "x", false)).toMatchObject({ code: "STRING_NOT_FOUND" });
    });
  });

  it.each(SAMPLES)("replaces every occurrence in %s", (encoding, words) => {
    const bytes = encoded(`${words}\r\n${words}\r\n`, encoding);
    const first = Array.from(words).slice(0, 3).join("");
    const result = editBytes(bytes, first, "X", true) as { bytes: Buffer; occurrences: number };
    const expected = encoded(`${words}\r\n${words}\r\n`.replaceAll(first, "X"), encoding);
    expect(result.occurrences).toBe(2);
    expect(result.bytes.equals(expected)).toBe(true);
  });
});

function anyLineEnds(text: string): RegExp {
  const source = text
    .replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")
    .replaceAll("\n", "(?:\\r\\n|\\r(?!\\n)|(?<!\\r)\\n)");
  return new RegExp(source, "u");
}
