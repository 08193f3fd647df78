import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { directoryWith } from "../test-support/run-binary.ts";
import { linesOf, printLines, writeLines } from "./transfer.ts";

async function all(pieces: Iterable<Uint8Array | string>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(Readable.from(pieces))) lines.push(line);
  return lines;
}

describe("lines for a reader", () => {
  it("end without an error when it leaves", async () => {
    const stdout = new PassThrough({ highWaterMark: 1 });
    stdout.on("error", () => {});
    const printed = printLines(stdout as never, Readable.from(["x".repeat(100_000), "y".repeat(100_000)]));
    await until(() => stdout.writableNeedDrain);
    stdout.destroy(new Error("write EPIPE"));
    await printed;
  });
});

describe("a file for lines", () => {
  it("is no directory, even by force, and failing to write is not wrong usage", async () => {
    const directory = await directoryWith({});
    for (const force of [true, false])
      await expect(writeLines(directory, Readable.from([]), force)).rejects.toMatchObject({
        message: `'${directory}' is a directory.`,
        exitCode: 2,
      });
    await expect(writeLines(`${directory}/none/x`, Readable.from([]), false)).rejects.toMatchObject({
      exitCode: 1,
    });
  });
});

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
