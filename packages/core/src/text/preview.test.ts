import { describe, expect, it } from "vitest";
import { MAX_REMARKS_CHARACTERS, previewText } from "./preview.ts";

const lines = (count: number, width = 30) =>
  Array.from({ length: count }, (_, i) => `line ${i + 1} `.padEnd(width, "x")).join("\n");

describe("previewText", () => {
  it("leaves a text alone that fits", () => {
    expect(previewText("a\nb\n", 4)).toBe("a\nb\n");
    expect(previewText("", 0)).toBe("");
  });

  it("shows the first and the last lines and says how much lies between", () => {
    const text = lines(1000);
    const preview = previewText(text, 1500);
    const rows = preview.split("\n");
    const gap = rows.findIndex((row) => row.startsWith("[… "));
    expect(gap).toBeGreaterThanOrEqual(10);
    expect(rows.slice(0, gap)).toEqual(text.split("\n").slice(0, gap));
    const tail = rows.slice(gap + 1);
    expect(tail.length).toBeGreaterThan(5);
    expect(tail).toEqual(text.split("\n").slice(-tail.length));
    const shown = rows.slice(0, gap).join("\n").length + tail.join("\n").length;
    expect(rows[gap]).toBe(`[… ${text.length - shown} characters left out …]`);
  });

  it("shows ten lines also where the first of them are very long", () => {
    const text = Array.from({ length: 50 }, (_, i) => `${i}:`.padEnd(100_000, "y")).join("\n");
    const preview = previewText(text, 1500);
    for (let i = 0; i < 10; i++) expect(preview).toMatch(new RegExp(`^${i}:y{20}`, "m"));
    expect(preview.endsWith("yyy")).toBe(true);
    expect(preview).toContain("more characters]");
  });

  it("gives a single line all the room there is", () => {
    const text = `begin${"z".repeat(5_000_000)}end`;
    const preview = previewText(text, 3000);
    expect(preview.startsWith("beginzzz")).toBe(true);
    expect(preview.endsWith("zend")).toBe(true);
    expect(preview.length).toBeGreaterThan(2900);
    expect(preview).toContain(`[… ${text.length - 3000} characters left out …]`);
  });

  it("never cuts a character in two, and shows no NUL", () => {
    for (const before of ["", "a", "ab"]) {
      const preview = previewText(`\0${before}${"😀".repeat(5000)}`, 999);
      expect(preview.isWellFormed()).toBe(true);
      expect(preview).not.toContain("\0");
    }
  });

  it.each([
    ["no line end", "x".repeat(100_000)],
    ["only line ends", "\n".repeat(100_000)],
    ["a last line end", `${lines(5000)}\n`],
    ["returns", lines(5000).replaceAll("\n", "\r\n")],
    ["one short and one long line", `a\n${"b".repeat(100_000)}`],
    ["one long and one short line", `${"b".repeat(100_000)}\na`],
    ["nine long lines", Array.from({ length: 9 }, () => "c".repeat(20_000)).join("\n")],
    ["lines that get longer", Array.from({ length: 400 }, (_, i) => "d".repeat(i)).join("\n")],
  ])("stays within its room: %s", (_name, text) => {
    for (const room of [100, 400, 1000, 4000]) {
      const preview = previewText(text, room);
      expect(preview.length).toBeLessThanOrEqual(room + MAX_REMARKS_CHARACTERS);
      expect(preview.length).toBeLessThan(text.length);
    }
  });
});
