import { describe, expect, test } from "vitest";
import { textPieces } from "./chunks.ts";
import { contentHash, type Handle, KIND } from "./handle.ts";
import { textHandle } from "./text-object.ts";
import { ThreadMemory } from "./thread-memory.ts";

const nothing = { piece: () => undefined, keepPiece: () => {} };

/** Lines that differ, of about `length` characters. */
function lines(length: number, ending = ""): string {
  let text = "";
  for (let i = 0; text.length < length; i += 1) text += `line ${i * 7919} of it${ending}\n`;
  return text.slice(0, length);
}

const refsOf = (handle: Handle): readonly Handle[] => handle.pending()?.refs ?? [];
const bodyOf = (handle: Handle): unknown => handle.pending()?.body;

/** Shorter and longer than one piece, than the window that is looked at, and than where pieces grow. */
const LENGTHS = [1, 12_288, 12_289, 262_143, 262_144, 262_145, 393_217, 1_048_575, 1_048_576, 3_000_001];

describe("a text as an object", () => {
  test.each(LENGTHS)("of %i characters has the hashes that its content has", (length) => {
    for (const text of [
      lines(length),
      lines(length, " né"),
      lines(length, " 語😀").replace(/[\uD800-\uDBFF]$/, "x"),
    ]) {
      const handle = textHandle(text, nothing);
      const pieces = textPieces(text);
      if (pieces.length === 1) {
        expect(handle.hash).toBe(contentHash(KIND.text, [], text));
        continue;
      }
      expect(refsOf(handle).map(bodyOf)).toEqual(pieces);
      expect(refsOf(handle).map(({ hash }) => hash)).toEqual(
        pieces.map((piece) => contentHash(KIND.text, [], piece)),
      );
      expect(handle.hash).toBe(contentHash(KIND.joinedText, refsOf(handle), ""));
    }
  });

  test("that is empty is made of no pieces", () => {
    expect(textHandle("", nothing).hash).toBe(contentHash(KIND.joinedText, [], ""));
  });

  test("with half a character in it is kept as it is", () => {
    expect(textHandle(`${lines(20_000)}\uD800`, nothing).pending()?.kind).toBe(KIND.joinedText16);
  });

  test.each(["", " né"])("that was edited takes over the pieces of before (%s)", (ending) => {
    const memory = new ThreadMemory(1);
    const before = lines(250_000, ending);
    const old = new Set(refsOf(textHandle(before, memory)));
    const after = refsOf(textHandle(`${before.slice(0, 150_000)}EDITED${before.slice(150_000)}`, memory));
    expect(after.filter((piece) => !old.has(piece)).length).toBeLessThanOrEqual(3);
    expect(after.length).toBeGreaterThan(30);
  });
});

describe("what a thread remembers of texts", () => {
  test("is the object of a text for as long as what holds the text is there", () => {
    const memory = new ThreadMemory(1);
    const files = Array.from({ length: 30 }, (_, i) => ({ content: `${i}: ${lines(20_000)}` }));
    const made = files.map((file) => memory.text(file.content, file));
    expect(files.map((file) => memory.text(file.content, file))).toEqual(made);
    for (const [i, file] of files.entries()) expect(memory.text(file.content, file)).toBe(made[i]);
  });

  test("is not the object of another text that its holder has now", () => {
    const memory = new ThreadMemory(1);
    const file = { content: lines(20_000) };
    const before = memory.text(file.content, file);
    file.content = file.content.replace("line 0", "LINE 0");
    const after = memory.text(file.content, file);
    expect(after.hash).toBe(textHandle(file.content, nothing).hash);
    expect(after.hash).not.toBe(before.hash);
  });
});
