import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countLines, lineChanges } from "./unified-diff.ts";

/** Applies a patch to a text. */
function applied(before: string, patch: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  let [result, place] = ["", 0];
  const rows = patch.split("\n").slice(2, -1);
  for (const [index, row] of rows.entries()) {
    const hunk = /^@@ -(\d+),(\d+) \+\d+,\d+ @@$/.exec(row);
    const end = rows[index + 1]?.startsWith("\\") ? "" : "\n";
    if (hunk) {
      const start = Number(hunk[2]) === 0 ? Number(hunk[1]) : Number(hunk[1]) - 1;
      for (; place < start; place += 1) result += old[place];
    } else if (row.startsWith("+")) result += row.slice(1) + end;
    else if (row.startsWith("-") || row.startsWith(" ")) {
      expect(old[place]).toBe(row.slice(1) + end);
      if (row.startsWith(" ")) result += old[place];
      place += 1;
    }
  }
  return result + old.slice(place).join("");
}

describe("lineChanges", () => {
  it("is a unified diff with the lines around a change", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expect(lineChanges("/AGENTS.md", before, before.replace("5", "five")).patch).toBe(
      "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
    );
  });

  it("names a file that was not there, and a last line without its end", () => {
    expect(lineChanges("/a", undefined, "x").patch).toBe(
      "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n",
    );
    expect(lineChanges("/a", "x\n", undefined).patch).toBe("--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n");
  });

  it("lists what is gone and what came; what moved or was indented is neither", () => {
    const { removed, added } = lineChanges(
      "/a",
      "# A\n- one\n- two\n- three\n",
      "# A\n\n- three\n  - one\n- 2\n",
    );
    expect(removed).toEqual(["- two"]);
    expect(added).toEqual(["- 2"]);
  });

  it("one of two equal lines that goes is told", () => {
    expect(lineChanges("/a", "x\nx\n", "x\n").removed).toEqual(["x"]);
  });

  it("a patch always leads from the one text to the other", () => {
    const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "d\n"), { maxLength: 30 });
    const whole = fc.tuple(text, fc.constantFrom("", "end")).map(([lines, end]) => lines.join("") + end);
    fc.assert(
      fc.property(whole, whole, (before, after) => {
        const { patch } = lineChanges("/a", before, after);
        expect(patch === "" ? before : applied(before, patch)).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  it("texts too long to compare are replaced as a whole", () => {
    const lines = (word: string): string =>
      Array.from({ length: 3_000 }, (_, i) => `${word} ${i}\n`).join("");
    const [before, after] = [lines("old"), lines("new")];
    expect(applied(before, lineChanges("/a", before, after).patch)).toBe(after);
  });
});

it("lines without words do not count", () => {
  expect(countLines("# A\n\n  \n- b")).toBe(2);
});
