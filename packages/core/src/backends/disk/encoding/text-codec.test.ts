import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../../../scripts/test-time.ts";
import { encoded, encodedFile, SAMPLES, strayBytes } from "./encoded-text-for-tests.ts";
import {
  characterBorder,
  decodeBytes,
  decodePart,
  encodePart,
  encodeText,
  wholeCharacters,
} from "./text-codec.ts";

describe("text in the encodings files have", () => {
  it.each(SAMPLES)("knows %s and brings it back", (encoding, words) => {
    const bytes = encoded(`// ${words}\r\nint x;\n`, encoding);
    const decoded = decodeBytes(bytes);
    expect(decoded).toEqual({ encoding, bom: false, text: `// ${words}\r\nint x;\n` });
    expect(encodeText(decoded?.text ?? "", encoding, false)).toEqual({ bytes });
  });

  it.each(["utf-8", "utf-16le", "utf-16be"] as const)("knows %s by its byte order mark", (encoding) => {
    const bytes = encoded("é🙂\r\n", encoding, true);
    expect(decodeBytes(bytes)).toEqual({ encoding, bom: true, text: "é🙂\r\n" });
    expect(encodeText("é🙂\r\n", encoding, true)).toEqual({ bytes });
  });

  it.each<[string, Buffer]>([
    ["café", Buffer.from("caf\xe9", "latin1")],
    ["résumé", Buffer.from("r\xe9sum\xe9", "latin1")],
    ["© 2020", Buffer.from("\xa9 2020", "latin1")],
    ["中文", encoded("中文", "gb18030")],
    ["テスト", encoded("テスト", "shift_jis")],
    ["ひらがな", encoded("ひらがな", "euc-jp")],
    ["한글", encoded("한글", "euc-kr")],
    ["Привет, мир", encoded("Привет, мир", "windows-1251")],
  ])("reads %s where there is hardly anything to go by", (text, bytes) => {
    expect(decodeBytes(bytes)?.text).toBe(text);
  });

  it.each<[string, Buffer]>([
    ["a NUL", Buffer.from("a\0b")],
    ["UTF-16 without a mark", Buffer.from("ab", "utf16le")],
    ["an image", Buffer.from("\xff\xd8\xff\xe1abc", "latin1")],
    ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
    ["noise", Buffer.from(Array.from({ length: 2000 }, (_, index) => ((index * 7919) % 255) + 1))],
  ])("does not take %s for text", (_name, bytes) => expect(decodeBytes(bytes)).toBeUndefined());

  it("does not mind a NUL far from the beginning", () => {
    const bytes = Buffer.from(`${"x\n".repeat(5000)}\0\n`);
    expect(decodeBytes(bytes)?.text).toBe(bytes.toString());
  });

  it("shows the characters around a byte astray as they are", () => {
    const bytes = Buffer.concat([Buffer.from("größe 中文 "), Buffer.from([0xff]), Buffer.from(" ok\n")]);
    const decoded = decodeBytes(bytes);
    expect(decoded).toEqual({ encoding: "utf-8", bom: false, text: "größe 中文 \u{10feff} ok\n" });
    expect(encodeText(decoded?.text ?? "", "utf-8", false)).toEqual({ bytes });
  });

  it("brings any text of any encoding back byte by byte", () => {
    fc.assert(
      fc.property(encodedFile(), ({ bytes }) => {
        const decoded = decodeBytes(bytes);
        if (decoded === undefined) throw new Error("not taken for text");
        expect(encodeText(decoded.text, decoded.encoding, decoded.bom)).toEqual({ bytes });
      }),
      { numRuns: 150 },
    );
  });

  it("brings any bytes back that it takes for text, in every encoding", () => {
    const encodings = [...SAMPLES.map(([encoding]) => encoding), "utf-16le", "utf-16be", "koi8-r"] as const;
    fc.assert(
      fc.property(strayBytes(), fc.constantFrom(...encodings), (bytes, encoding) => {
        const text = decodePart(bytes, encoding);
        expect(text.isWellFormed()).toBe(true);
        expect(encodePart(text, encoding).equals(bytes)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it("reads a part between borders as it reads the whole", () => {
    const encodings = [...SAMPLES.map(([encoding]) => encoding), "utf-16le", "utf-16be"] as const;
    fc.assert(
      fc.property(strayBytes(), fc.constantFrom(...encodings), fc.nat(200), (bytes, encoding, from) => {
        const border = characterBorder(bytes, from + 1, encoding);
        const parts = [bytes.subarray(0, border), bytes.subarray(border)];
        const text = parts.map((part) => decodePart(part, encoding)).join("");
        expect(text).toBe(decodePart(bytes, encoding));
      }),
      { numRuns: 150 },
    );
  });

  it.each(SAMPLES)("leaves half a character of %s out", (encoding, words) => {
    const bytes = encoded(words, encoding);
    for (let length = 1; length < bytes.length; length++) {
      const whole = wholeCharacters(bytes.subarray(0, length), encoding);
      expect(words.startsWith(decodePart(whole, encoding))).toBe(true);
      expect(length - whole.length).toBeLessThan(6);
    }
  });

  it.each<["windows-1252" | "shift_jis" | "gb18030" | "utf-8", string, string]>([
    ["windows-1252", "a → b", "'→' (U+2192)"],
    ["shift_jis", "ok 🙂", "'🙂' (U+1F642)"],
    ["shift_jis", "¥", "'¥' (U+00A5)"],
    ["utf-8", "\ud800", "U+D800"],
  ])("refuses to write into %s what it cannot hold: %j", (encoding, text, shown) => {
    expect(encodeText(text, encoding, false)).toEqual({
      error: `The file is written in ${encoding}, which has no character ${shown}: nothing was changed`,
      code: "INVALID_ARGUMENT",
    });
  });

  it("takes a long line apart in reasonable time", async () => {
    const bytes = Buffer.concat([Buffer.from("größe=1;".repeat(600_000)), Buffer.from([0xff, 0xfe])]);
    const there = () => encodePart(decodePart(bytes, "utf-8"), "utf-8");
    expect((await withinCpuLimit("decoding and encoding a line of 6 MB", there)).equals(bytes)).toBe(true);
  });
});
