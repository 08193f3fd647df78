import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../../../scripts/test-time.ts";
import type { FoundLine } from "../../../text/find-lines.ts";
import { LiteralFinder } from "../encoding/literal-finder.ts";
import { decodeBytes } from "../encoding/text-codec.ts";
import { makeTree } from "../tree-for-tests.ts";
import { FileScanner } from "./scan-file.ts";

function scan(bytes: Uint8Array | string, pattern: string, limit = Number.POSITIVE_INFINITY, max = 1e7) {
  const file = join(makeTree({}).hostPath, "f");
  writeFileSync(file, bytes);
  const descriptor = openSync(file, "r");
  try {
    const matches: FoundLine[] = [];
    const outcome = new FileScanner(pattern, limit, max).scan(descriptor, "/f", matches);
    return { outcome, lines: matches.map(({ line, text }) => `${line}:${text}`) };
  } finally {
    closeSync(descriptor);
  }
}

describe("FileScanner", () => {
  it("reads files of every size around its first read whole", () => {
    for (const size of [0, 1, 65_535, 65_536, 65_537, 200_000]) {
      expect(scan(`${"x".repeat(size)}\nhit`, "hit").lines).toEqual(["2:hit"]);
      expect(scan("x".repeat(size), "hit", Number.POSITIVE_INFINITY, size)).toEqual({
        outcome: "done",
        lines: [],
      });
      expect(scan(`${"x".repeat(size)}y`, "hit", Number.POSITIVE_INFINITY, size).outcome).toBe("too-large");
    }
  });

  it.each<[string, Buffer]>([
    ["UTF-8 with a mark", Buffer.from("\uFEFFcafé\r\nnaïve")],
    ["UTF-16 little-endian", Buffer.from("\uFEFFcafé\r\nnaïve", "utf16le")],
    ["UTF-16 big-endian", Buffer.from("\uFEFFcafé\r\nnaïve", "utf16le").swap16()],
    ["Latin-1", Buffer.from("café\r\nnaïve", "latin1")],
  ])("finds text in %s", (_, bytes) => {
    expect(scan(bytes, "é").lines).toEqual(["1:café"]);
    expect(scan(bytes, "na").lines).toEqual(["2:naïve"]);
  });

  it("finds no letter in the second half of an East Asian character", () => {
    const words = "これは日本語の文章です。ソフトウェアの表示と予定の一覧を作る。\n".repeat(20);
    const bytes = iconv.encode(`${words}plain\n`, "shift_jis");
    expect(decodeBytes(bytes)?.encoding).toBe("shift_jis");
    expect(bytes.includes("\\")).toBe(true);
    expect(scan(bytes, "\\").lines).toEqual([]);
    expect(scan(bytes, "日本語").lines).toHaveLength(20);
    expect(scan(bytes, "plain").lines).toEqual(["21:plain"]);
  });

  it("shows the lines of any bytes as the codec does", () => {
    const piece = fc.constantFrom("hit", "é", "\n", "\r", "\xff", "\x80", "\xf4\x8f\xb8\x80", "no", "\0");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const bytes = Buffer.from(pieces.join(""), "latin1");
        const text = decodeBytes(bytes)?.text ?? "";
        const expected = text
          .split(/\r\n|[\r\n]/)
          .flatMap((line, at) => (line.includes("hit") ? [`${at + 1}:${line}`] : []));
        expect(scan(bytes, "hit").lines).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("stops at the limit", () => {
    expect(scan("hit\nhit\nhit", "hit", 2)).toEqual({ outcome: "full", lines: ["1:hit", "2:hit"] });
    expect(scan("hit\r\nhit\r\n", "hit", 2).outcome).toBe("done");
  });
});

describe("LiteralFinder", () => {
  it("finds what the platform finds", () => {
    const bytes = (maxLength: number) =>
      fc.array(fc.constantFrom(97, 98, 99), { maxLength }).map((list) => Buffer.from(list));
    fc.assert(
      fc.property(bytes(200), bytes(12), fc.nat(20), (buffer, pattern, from) => {
        if (pattern.length === 0) return;
        expect(new LiteralFinder(pattern).indexIn(buffer, from)).toBe(buffer.indexOf(pattern, from));
      }),
      { numRuns: 2000 },
    );
  });

  it("finds long patterns and those that begin before their rarest byte", () => {
    const word = fc.stringMatching(/^[ a-cQ]{0,90}$/);
    fc.assert(
      fc.property(word, word, word, fc.nat(20), (before, text, after, from) => {
        const pattern = Buffer.from(`a${text}b`);
        const buffer = Buffer.from(before + pattern + after + pattern);
        expect(new LiteralFinder(pattern).indexIn(buffer, from)).toBe(buffer.indexOf(pattern, from));
      }),
      { numRuns: 1000 },
    );
  });

  it("is not held up by text made to be slow", async () => {
    const buffer = Buffer.alloc(2_000_000, "a");
    await withinCpuLimit("finding nothing three times in 2 MB of bytes made to be slow", () => {
      for (const pattern of [
        `b${"a".repeat(5000)}`,
        `${"a".repeat(5000)}b`,
        `${"a".repeat(2500)}b${"a".repeat(2500)}`,
      ])
        expect(new LiteralFinder(Buffer.from(pattern)).indexIn(buffer, 0)).toBe(-1);
    });
  });
});
