import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { cksum } from "./cksum.ts";

describe("the sum of some bytes", () => {
  it.each([0, 1, 255, 256, 70_000])("is what the program prints for %s of them", (length) => {
    const bytes = randomBytes(length);
    expect(cksum(bytes)).toBe(execFileSync("cksum", { input: bytes, encoding: "utf8" }).trim());
  });
});
