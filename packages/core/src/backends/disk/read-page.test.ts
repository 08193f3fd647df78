import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../../scripts/test-time.ts";
import { normalizeLineEnds } from "../../text/lines.ts";
import { pageOf } from "../../text/page.ts";
import type { ReadResult } from "../backend.ts";
import { watchStalls } from "../stalls-for-tests.ts";
import { editBytes } from "./encoding/edit-bytes.ts";
import { encoded, encodedFile, strayBytes } from "./encoding/encoded-text-for-tests.ts";
import { decodeBytes } from "./encoding/text-codec.ts";
import { MAX_PAGE_BYTES, readPage } from "./read-page.ts";

const directory = mkdtempSync(join(tmpdir(), "read-page-"));
afterAll(() => rmSync(directory, { recursive: true }));

async function withFile<T>(
  fill: (fd: number, file: string) => void,
  use: (fd: number) => Promise<T>,
): Promise<T> {
  const file = join(directory, "file");
  writeFileSync(file, "");
  const fd = openSync(file, "r+");
  try {
    fill(fd, file);
    return await use(fd);
  } finally {
    closeSync(fd);
  }
}

function page(
  content: Buffer | string,
  offset?: number,
  limit?: number,
  path = "/f.txt",
): Promise<ReadResult> {
  return withFile(
    (_fd, file) => writeFileSync(file, content),
    (fd) => readPage(fd, fstatSync(fd), path, offset, limit),
  );
}

type TextPage = Extract<ReadResult, { error?: undefined }> & { readonly content: string };

describe("a page of a file on disk", () => {
  it.each<[string, number, number]>([
    ["", 0, 10],
    ["a", 0, 10],
    ["a\nb\n", 0, 2],
    ["a\nb\nc", 0, 2],
    ["a\r\nb\r\nc\r\n", 1, 1],
    ["a\rb\n\nc", 1, 2],
    ["\n\n", 1, 5],
    ["a\nb\n", 2, 5],
    ["a", 9, 5],
    ["a\nb", -3, 0],
  ])("of %j at %s, %s lines is what it is anywhere else", async (text, offset, limit) => {
    const expected = pageOf(text, offset, limit);
    const type = expected.error === undefined ? { mimeType: "text/plain" } : {};
    expect(await page(text, offset, limit)).toEqual({ ...expected, ...type });
  });

  it("shows any file in any encoding as it is anywhere else", async () => {
    await fc.assert(
      fc.asyncProperty(encodedFile(), fc.nat(14), fc.nat(8), async ({ bytes }, offset, limit) => {
        const text = decodeBytes(bytes)?.text ?? "";
        const expected = pageOf(text, offset, limit);
        const type = expected.error === undefined ? { mimeType: "text/plain" } : {};
        expect(await page(bytes, offset, limit)).toEqual({ ...expected, ...type });
      }),
      { numRuns: 150 },
    );
  });

  it("has every part it showed accepted by an edit, wherever the encoding first shows", async () => {
    const files = fc.oneof(
      encodedFile().map((file) => file.bytes),
      strayBytes(),
    );
    const inputs = [
      files,
      fc.constantFrom(0, 30, 9000, 70_000),
      fc.nat(9),
      fc.nat(4),
      fc.nat(),
      fc.nat(),
    ] as const;
    await fc.assert(
      fc.asyncProperty(...inputs, async (file, before, line, limit, from, length) => {
        const isMarked = file[0] === 0xff || file[0] === 0xfe || file[0] === 0xef;
        const bytes = isMarked ? file : Buffer.concat([Buffer.from("#\n".repeat(before)), file]);
        const shown = await page(bytes, (isMarked ? 0 : before) + line, 1 + limit);
        if (typeof shown.content !== "string") return;
        const characters = Array.from(normalizeLineEnds(shown.content));
        const start = from % (characters.length + 1);
        const part = characters.slice(start, start + 1 + (length % 40)).join("");
        if (part === "" || part === "N") return;
        const result = editBytes(bytes, part, "N", true);
        if (result.error !== undefined) throw new Error(result.error);
      }),
      { numRuns: 150 },
    );
  });

  it.each(["\n", "\r\n", "\r"])("finds lines that lie across chunks, ended by %j", async (end) => {
    const lines = Array.from({ length: 90_000 }, (_, index) => `line ${index} ${"é".repeat(index % 40)}`);
    const text = lines.join(end);
    for (const [bytes, offset] of [
      [Buffer.from(text), 0],
      [Buffer.from(text), 44_000],
      [encoded(text, "utf-16le", true), 71_111],
      [Buffer.from(text, "latin1"), 89_990],
    ] as const) {
      const shown = (await page(bytes, offset, 700)) as TextPage;
      const expected = lines.slice(offset, offset + 700);
      expect(shown.content).toBe(expected.join(end));
      expect(shown).toMatchObject({ startLine: offset + 1, endLine: offset + expected.length });
      const isLast = offset + 700 >= lines.length;
      expect(shown.nextOffset).toBe(isLast ? undefined : offset + 700);
      expect(shown.totalLines).toBe(isLast ? lines.length : undefined);
      expect(shown.size).toBe(isLast ? undefined : bytes.length);
    }
  });

  it.each(["\n", "\r\n", "\r"])(
    "sees the end of a file that ends where a chunk does, with %j",
    async (end) => {
      for (const size of [65_536, 65_537, 65_536 + 1_048_576, 65_537 + 1_048_576]) {
        const first = "x".repeat(size - 1 - 2 * end.length);
        const text = `${first}${end}y${end}`;
        expect(await page(text, 0, 2)).toMatchObject({ content: text, endLine: 2, totalLines: 2 });
        expect(await page(text, 1, 2)).toMatchObject({ content: `y${end}`, startLine: 2, totalLines: 2 });
        expect(await page(text, 0, 1)).toMatchObject({ content: first, nextOffset: 1 });
        expect(await page(text, 2, 1)).toMatchObject({ code: "INVALID_ARGUMENT" });
      }
    },
  );

  it("tells a type by what the file holds, not by what it is called", async () => {
    const png = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
    expect(await page(png, 0, 10, "/x.txt")).toEqual({ content: new Uint8Array(png), mimeType: "image/png" });
    expect(await page("words", 0, 10, "/x.png")).toMatchObject({ content: "words", mimeType: "text/plain" });
    expect(await page("# a", 0, 10, "/x.md")).toMatchObject({ content: "# a", mimeType: "text/markdown" });
  });

  it("refuses a large file that is not text instead of loading it", async () => {
    const result = await withFile(
      (fd) => ftruncateSync(fd, 2 ** 31),
      (fd) => readPage(fd, fstatSync(fd), "/sparse.bin"),
    );
    expect(result).toEqual({
      error:
        "'/sparse.bin' is not text (application/octet-stream) and too large to read: 2147483648 bytes, at most 20971520",
      code: "TOO_LARGE",
    });
  });

  it("FS-19: the first lines of a file of 2 GiB cost what they weigh", async () => {
    const before = process.memoryUsage().rss;
    const shown = (await withFile(
      (fd) => {
        writeSync(fd, "some words on a line\n".repeat(1000));
        ftruncateSync(fd, 2 ** 31);
      },
      (fd) =>
        withinCpuLimit("the first lines of a file of 2 GiB", () => readPage(fd, fstatSync(fd), "/f", 0, 100)),
    )) as TextPage;
    expect(shown.content.split("\n")).toHaveLength(100);
    expect(shown).toMatchObject({ nextOffset: 100, size: 2 ** 31 });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
  });

  it("reads through half a GiB to a line at the end without holding up others or memory", async () => {
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const stalls = watchStalls(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    });
    const shown = await withFile(
      (fd) => {
        writeSync(fd, "words\n".repeat(2000));
        writeSync(fd, "\nthe end", 2 ** 29);
      },
      (fd) => readPage(fd, fstatSync(fd), "/f", 2001, 1),
    );
    stalls.stop();
    expect(shown).toMatchObject({ content: "the end", startLine: 2002, totalLines: 2002 });
    expect(stalls.longest()).toBeLessThan(250);
    expect(most).toBeLessThan(64 * 2 ** 20);
  });

  it("FS-20: a line of 50 MB is cut and marked", async () => {
    const line = Buffer.from("größe ".repeat(7_000_000));
    const shown = (await page(Buffer.concat([line, Buffer.from("\nnext\n")]), 0, 10)) as TextPage;
    expect(Buffer.byteLength(shown.content)).toBeLessThanOrEqual(MAX_PAGE_BYTES);
    expect(Buffer.byteLength(shown.content)).toBeGreaterThan(MAX_PAGE_BYTES - 8);
    expect(line.subarray(0, MAX_PAGE_BYTES).toString().startsWith(shown.content)).toBe(true);
    expect(shown).toMatchObject({ truncated: true, startLine: 1, endLine: 1, nextOffset: 1 });
  });

  it("does not look for the end of a line of 2 GiB", async () => {
    const shown = await withFile(
      (fd) => {
        writeSync(fd, "x".repeat(10_000));
        ftruncateSync(fd, 2 ** 31);
      },
      (fd) =>
        withinCpuLimit("the beginning of a line of 2 GiB", () => readPage(fd, fstatSync(fd), "/f", 0, 10)),
    );
    expect(shown).toMatchObject({ truncated: true, endLine: 1, nextOffset: 1, size: 2 ** 31 });
  });

  it("ends a page before the line that would make it too large", async () => {
    const line = "x".repeat(4_000_000);
    const text = `${line}\n${line}\n${line}\n`;
    expect(await page(text, 0, 100)).toMatchObject({
      endLine: 2,
      nextOffset: 2,
      content: `${line}\n${line}`,
    });
    expect(await page(text, 2, 100)).toMatchObject({ startLine: 3, totalLines: 3, content: `${line}\n` });
  });

  it("stops when told to", async () => {
    const reason = new Error("stopped");
    const reading = withFile(
      (fd) => {
        writeSync(fd, "words\n".repeat(2000));
        ftruncateSync(fd, 2 ** 31);
      },
      async (fd) => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(reason), 5);
        return readPage(fd, fstatSync(fd), "/f", 5000, 1, controller.signal);
      },
    );
    await expect(reading).rejects.toBe(reason);
  });
});
