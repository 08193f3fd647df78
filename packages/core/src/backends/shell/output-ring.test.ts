import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OutputRing } from "./output-ring.ts";

const collect = (maxBytes: number, chunks: readonly Uint8Array[]) => {
  const ring = new OutputRing(maxBytes);
  for (const chunk of chunks) ring.add(chunk);
  return ring.collected();
};

describe("OutputRing", () => {
  it.each<[number, string[], string, boolean]>([
    [10, [], "", false],
    [10, ["0123456789"], "0123456789", false],
    [10, ["0123", "456789"], "0123456789", false],
    [10, ["0123456789a"], "01234\n[… 1 bytes left out …]\n6789a", true],
    [10, ["01", "23456", "789abc", "def"], "01234\n[… 6 bytes left out …]\nbcdef", true],
    [5, ["0123456789"], "012\n[… 5 bytes left out …]\n89", true],
    [1, ["abc"], "a\n[… 2 bytes left out …]\n", true],
    [10, ["€€€€"], "€\n[… 6 bytes left out …]\n€", true],
    [8, ["😀😀😀"], "😀\n[… 4 bytes left out …]\n😀", true],
    [6, ["😀😀😀"], "\n[… 12 bytes left out …]\n", true],
  ])("of %i bytes, given %j", (maxBytes, chunks, output, truncated) => {
    expect(
      collect(
        maxBytes,
        chunks.map((chunk) => Buffer.from(chunk)),
      ),
    ).toEqual({ output, truncated });
  });

  it("uses no memory of the caller", () => {
    const ring = new OutputRing(4);
    const chunk = Buffer.from("abcdef");
    ring.add(chunk);
    chunk.fill("x");
    expect(ring.collected().output).toBe("ab\n[… 2 bytes left out …]\nef");
  });

  it("keeps what came, whatever the pieces, and breaks no character", () => {
    const property = fc.property(
      fc.string({ unit: "binary", maxLength: 60 }).filter((text) => text.isWellFormed()),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 100 }),
      (text, sizes, maxBytes) => {
        const bytes = Buffer.from(text);
        const chunks: Uint8Array[] = [];
        for (let at = 0, i = 0; at < bytes.length; i += 1) {
          const size = sizes[i % sizes.length] as number;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        const { output, truncated } = collect(maxBytes, chunks);
        expect(truncated).toBe(bytes.length > maxBytes);
        if (!truncated) {
          expect(output).toBe(text);
          return;
        }
        const cut = /\n\[… (\d+) bytes left out …\]\n/.exec(output) as RegExpExecArray;
        const head = output.slice(0, cut.index);
        const tail = output.slice(cut.index + cut[0].length);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head + tail) + Number(cut[1])).toBe(bytes.length);
        expect(Buffer.byteLength(head + tail)).toBeLessThanOrEqual(maxBytes);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });
});
