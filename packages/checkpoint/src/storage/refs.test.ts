import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeHead, decodeRefs, encodeHead, encodeRefs } from "./refs.ts";

const ref = fc.oneof(
  fc.nat(300),
  fc.nat(2 ** 31 - 1),
  fc.maxSafeNat().map((n) => Math.floor(n / 2)),
);

describe("references", () => {
  it("come back as they were, in their order", () => {
    fc.assert(
      fc.property(fc.array(ref), (refs) => {
        expect(decodeRefs(encodeRefs(refs))).toEqual(refs);
      }),
    );
  });

  it("come back with the kind of an object and whether its body is text", () => {
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), fc.array(ref), (kind, text, refs) => {
        expect(decodeHead(encodeHead({ kind, text, refs }))).toEqual({ kind, text, refs });
      }),
    );
  });

  it("of neighbours take a byte each", () => {
    expect(encodeRefs([100_000, 100_001, 100_003, 100_002]).length).toBe(6);
    expect(encodeHead({ kind: 5, text: true, refs: [] }).length).toBe(1);
    expect(decodeRefs(null)).toEqual([]);
  });
});
