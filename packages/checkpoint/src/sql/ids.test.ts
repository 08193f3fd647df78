import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkId, packId, plainText, unpackId } from "./ids.ts";

const wellFormed = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0"));

describe("ids as they are stored", () => {
  it("come back as they were", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uuid(), wellFormed), (id) => {
        expect(unpackId(packId(id))).toBe(id);
      }),
    );
  });

  it("of the form of a UUID take 16 bytes and sort as text does", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (one, other) => {
        const order = Buffer.compare(packId(one), packId(other));
        expect(Math.sign(order)).toBe(one < other ? -1 : one > other ? 1 : 0);
      }),
    );
    expect(packId("1ef4f797-8335-6428-8001-8a1503f9b875")).toHaveLength(16);
    expect(packId("1EF4F797-8335-6428-8001-8A1503F9B875")).toHaveLength(37);
  });

  it("of any other form sort as text does", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), fc.string({ unit: "binary-ascii" }), (one, other) => {
        if (one.includes("\0") || other.includes("\0")) return;
        expect(Math.sign(Buffer.compare(packId(one), packId(other)))).toBe(
          one < other ? -1 : one > other ? 1 : 0,
        );
      }),
    );
  });

  it.each(["a\0b", "half \ud83c"])("are refused when a database would change them: %j", (id) => {
    expect(() => packId(id)).toThrow(expect.objectContaining({ code: "INVALID_ID" }));
    expect(() => checkId(id, "A thread id")).toThrow("A thread id");
    expect(plainText(id)).toMatch(/^(a\uFFFDb|half \uFFFD)$/);
  });
});
