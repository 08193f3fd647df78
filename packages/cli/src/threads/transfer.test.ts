import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { linesOf } from "./transfer.ts";

async function all(pieces: Iterable<Uint8Array | string>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(Readable.from(pieces))) lines.push(line);
  return lines;
}

describe("lines of a file", () => {
  it("are the same however it is cut", async () => {
    const bytes = Buffer.from('{"a":"ä\u2028€"}\n\n"😀\r"\nlast');
    const whole = ['{"a":"ä\u2028€"}', "", '"😀\r"', "last"];
    for (let size = 1; size <= bytes.length; size += 1) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(await all(pieces)).toEqual(whole);
    }
  });

  it("of nothing are none", async () => {
    expect(await all([])).toEqual([]);
  });
});
