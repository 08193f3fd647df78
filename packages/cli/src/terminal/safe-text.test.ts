import { describe, expect, it } from "vitest";
import { SafeStream, safeJson, safeLine, safeText } from "./safe-text.ts";

/** Texts that could control or mislead a terminal (TI-01). */
const ATTACKS: readonly (readonly [name: string, text: string, shown: string])[] = [
  ["clear the screen", "\x1b[2J", "\\x1b[2J"],
  ["set the title", "\x1b]0;owned\x07", "\\x1b]0;owned\\x07"],
  ["a hyperlink", "\x1b]8;;http://evil\x1b\\", "\\x1b]8;;http://evil\\x1b\\"],
  ["the clipboard", "\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"],
  ["an image", "\x1b]1337;File=:\x07", "\\x1b]1337;File=:\\x07"],
  ["a device control string", "\x1bPq\x1b\\", "\\x1bPq\\x1b\\"],
  ["an application command", "\x1b_x\x1b\\", "\\x1b_x\\x1b\\"],
  ["the eight-bit CSI", "\x9b31m", "\\x9b31m"],
  ["the eight-bit OSC", "\x9d0;x\x9c", "\\x9d0;x\\x9c"],
  ["a carriage return", "safe\rEVIL", "safe\\rEVIL"],
  ["backspaces", "abc\b\b\bxyz", "abc\\b\\b\\bxyz"],
  ["a bell, NUL, DEL", "\x07\x00\x7f", "\\x07\\x00\\x7f"],
  ["direction override", "\u202egnp.exe", "\\u202egnp.exe"],
  ["direction isolates", "\u2066a\u2069\u200f", "\\u2066a\\u2069\\u200f"],
  ["Unicode line breaks", "a\u2028b\u2029c\x85d", "a\\u2028b\\u2029c\\x85d"],
];

describe("safeText", () => {
  it.each(ATTACKS)("%s is shown, not obeyed (TI-01)", (_, text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  it("keeps tabs, line breaks and every script and emoji", () => {
    const text = "a\tb\nשלום مرحبا 漢字 👩‍👩‍👧 é\n";
    expect(safeText(text)).toBe(text);
  });

  it("turns the line ends of Windows into plain ones", () => {
    expect(safeText("a\r\nb\r\n")).toBe("a\nb\n");
  });
});

describe("safeLine", () => {
  it("is one line of at most the width", () => {
    expect(safeLine("  a\n\tb  c ")).toBe("a b c");
    expect(safeLine("x".repeat(50), 10)).toBe(`${"x".repeat(9)}…`);
    expect([...safeLine("👩".repeat(20), 10)]).toHaveLength(10);
  });

  it("escapes before it cuts, so that nothing raw is left", () => {
    expect(safeLine(`${"a".repeat(5)}\x1b[31m`, 8)).toBe("aaaaa\\x…");
  });
});

describe("safeJson", () => {
  it.each(ATTACKS)("%s: no raw control character, and the same value when parsed", (_, text) => {
    const json = safeJson(JSON.stringify({ text }));
    expect(json).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    expect(JSON.parse(json)).toEqual({ text });
  });
});

describe("SafeStream", () => {
  it("gives the same text however it is cut", () => {
    const text = "one\r\ntwo\rthree\x1b[2Jfour\r";
    const whole = safeText(text);
    for (let size = 1; size <= text.length; size += 1) {
      const stream = new SafeStream();
      let shown = "";
      for (let i = 0; i < text.length; i += size) shown += stream.push(text.slice(i, i + size));
      expect(shown + stream.end()).toBe(whole);
    }
  });
});
