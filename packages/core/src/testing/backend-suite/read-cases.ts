import type { ReadResult } from "../../backends/backend.ts";
import { ensure, refused, type Success, same, show, succeeded } from "../suite/suite-check.ts";
import type { BackendCase, BackendUnderTest } from "./backend-case.ts";
import { shown, utf8 } from "./backend-case.ts";

const TEN_LINES = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join("");
const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 255, 0);

/** A window that no one means literally, and what it stands for. */
const DEGENERATE: readonly (readonly [string, number | undefined, number | undefined])[] = [
  ["a limit of 0", 0, 0],
  ["a negative limit", 0, -5],
  ["a limit that is not a number", 0, Number.NaN],
  ["a negative offset", -1, 10],
  ["an offset that is not a number", Number.NaN, 10],
  ["a fraction", 0.5, 10.5],
  ["an infinite limit", 0, Number.POSITIVE_INFINITY],
  ["no window at all", undefined, undefined],
];

const LINE_COUNTS: readonly (readonly [name: string, text: string, lines: number])[] = [
  ["a file without a final line end", "a\nb", 2],
  ["a file with one", "a\nb\n", 2],
  ["a file of line ends alone", "\n\n\n", 3],
  ["CRLF line ends", "a\r\nb\r\nc\r\n", 3],
  ["CR line ends", "a\rb\rc", 3],
  ["mixed line ends", "a\nb\r\nc\rd", 4],
  ["one line", "alone", 1],
];

export const readCases: readonly BackendCase[] = [
  {
    name: "shows a whole small file with its lines counted",
    run: async (subject) => {
      await subject.write("ten.txt", TEN_LINES);
      const page = await succeeded(subject.backend.read(subject.at("ten.txt")));
      same(page.content, TEN_LINES);
      same([page.startLine, page.endLine, page.nextOffset], [1, 10, undefined]);
      ensure(page.mimeType?.startsWith("text/") !== false, `type of a .txt file: ${show(page.mimeType)}`);
    },
  },
  {
    name: "a page has the lines that were asked for, and says where the next begins",
    run: async (subject) => {
      await subject.write("ten.txt", TEN_LINES);
      const page = await succeeded(subject.backend.read(subject.at("ten.txt"), 2, 3));
      same(lines(page.content), ["line 3", "line 4", "line 5"]);
      same([page.startLine, page.endLine, page.nextOffset], [3, 5, 5]);
    },
  },
  {
    name: "the last page has no next one",
    run: async (subject) => {
      await subject.write("ten.txt", TEN_LINES);
      const page = await succeeded(subject.backend.read(subject.at("ten.txt"), 7, 3));
      same(lines(page.content), ["line 8", "line 9", "line 10"]);
      same([page.startLine, page.endLine, page.nextOffset, page.totalLines], [8, 10, undefined, 10]);
    },
  },
  {
    name: "a page may be longer than what is left",
    run: async (subject) => {
      await subject.write("ten.txt", TEN_LINES);
      const page = await succeeded(subject.backend.read(subject.at("ten.txt"), 9, 100));
      same([lines(page.content), page.endLine, page.nextOffset], [["line 10"], 10, undefined]);
    },
  },
  {
    name: "following nextOffset from page to page gives every line once",
    run: async (subject) => {
      await subject.write("ten.txt", TEN_LINES);
      for (const limit of [1, 3, 10]) same(await byPages(subject, "ten.txt", limit), lines(TEN_LINES));
    },
  },
  {
    name: "a file longer than any default page is read to its end by following nextOffset",
    run: async (subject) => {
      const text = Array.from({ length: 5_000 }, (_, index) => `${index}\n`).join("");
      await subject.write("long.txt", text);
      same(await byPages(subject, "long.txt"), lines(text));
    },
  },
  {
    name: "an offset at or past the end is INVALID_ARGUMENT or an empty page, never a made-up one",
    run: async (subject) => {
      await subject.write("ten.txt", TEN_LINES);
      for (const offset of [10, 11, 1_000]) {
        const page = await subject.backend.read(subject.at("ten.txt"), offset, 5);
        if (page.error === undefined)
          same([page.content, page.startLine, page.nextOffset], ["", undefined, undefined]);
        else await refused(page, "INVALID_ARGUMENT");
      }
    },
  },
  ...DEGENERATE.map(
    ([name, offset, limit]): BackendCase => ({
      name: `${name} reads the small file from its beginning`,
      run: async (subject) => {
        await subject.write("ten.txt", TEN_LINES);
        const page = await succeeded(subject.backend.read(subject.at("ten.txt"), offset, limit));
        same([page.content, page.startLine], [TEN_LINES, 1]);
      },
    }),
  ),
  ...LINE_COUNTS.map(
    ([name, text, count]): BackendCase => ({
      name: `${name}: ${count} ${count === 1 ? "line" : "lines"}`,
      run: async (subject) => {
        await subject.write("counted.txt", text);
        const page = await succeeded(subject.backend.read(subject.at("counted.txt")));
        same(page.endLine, count, "endLine");
        same(shown(page.content), shown(text), "content");
        same((await byPages(subject, "counted.txt", 1)).length, count, "pages of one line");
      },
    }),
  ),
  {
    name: "an empty file is empty text without lines",
    run: async (subject) => {
      await subject.write("empty.txt", "");
      const page = await succeeded(subject.backend.read(subject.at("empty.txt")));
      same([page.content, page.startLine, page.nextOffset], ["", undefined, undefined]);
    },
  },
  {
    name: "a line of 50,000 characters comes whole",
    run: async (subject) => {
      const text = `${"x".repeat(50_000)}\nshort\n`;
      await subject.write("wide.txt", text);
      same((await succeeded(subject.backend.read(subject.at("wide.txt")))).content, text);
    },
  },
  {
    name: "characters of every plane come back as they were",
    run: async (subject) => {
      const text = "ascii é ü ß – “quoted” 日本語 한국어 \u{1f469}\u200d\u{1f680} e\u0301 \u200b\t|\n";
      await subject.write("unicode.txt", text);
      same((await succeeded(subject.backend.read(subject.at("unicode.txt")))).content, text);
    },
  },
  {
    name: "read of a file that is not there is FILE_NOT_FOUND, in the words programs rely on",
    run: async (subject) => {
      const { error } = await refused(subject.backend.read(subject.at("none.txt")), "FILE_NOT_FOUND");
      same(error, `File '${subject.at("none.txt")}' not found`);
    },
  },
  {
    name: "read of a directory is IS_DIRECTORY",
    run: async (subject) => {
      await subject.write("dir/file.txt", "1");
      await refused(subject.backend.read(subject.at("dir")), "IS_DIRECTORY");
    },
  },
  {
    name: "an image comes as bytes, with its type",
    needs: ["bytes"],
    run: async (subject) => {
      await subject.put("dot.png", PNG);
      const page = await succeeded(subject.backend.read(subject.at("dot.png")));
      ensure(page.content instanceof Uint8Array, `expected bytes, got ${show(page.content)}`);
      same([Uint8Array.from(page.content), page.mimeType], [PNG, "image/png"]);
    },
  },
  {
    name: "binary content under the name of a text file is not shown as text",
    needs: ["bytes"],
    run: async (subject) => {
      const bytes = Uint8Array.of(1, 2, 0, 0, 255, 254, 253, 0, 9, 0, 200);
      await subject.put("data.txt", bytes);
      const page = await succeeded(subject.backend.read(subject.at("data.txt")));
      ensure(page.content instanceof Uint8Array, `expected bytes, got ${show(page.content)}`);
      same(Uint8Array.from(page.content), bytes);
    },
  },
  {
    name: "text under the name of an image is text",
    run: async (subject) => {
      await subject.write("not-really.png", "just text\n");
      const page = await succeeded(subject.backend.read(subject.at("not-really.png")));
      same(page.content, "just text\n");
      ensure(!page.mimeType?.startsWith("image/"), `type of text: ${show(page.mimeType)}`);
    },
  },
  {
    name: "a character on the border of a block is not taken for binary",
    needs: ["upload"],
    run: async (subject) => {
      for (const length of [4_095, 8_191, 16_383, 32_767, 65_535]) {
        const text = `${"x".repeat(length)}€\n`;
        await subject.put(`border-${length}.txt`, utf8(text));
        const page = await succeeded(subject.backend.read(subject.at(`border-${length}.txt`)));
        same(page.content, text, `${length} characters before it`);
      }
    },
  },
];

function lines(content: string | Uint8Array): string[] {
  const text = shown(content);
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

async function byPages(subject: BackendUnderTest, name: string, limit?: number): Promise<string[]> {
  const all: string[] = [];
  let offset: number | undefined = 0;
  for (let pages = 0; offset !== undefined; pages++) {
    ensure(pages < 10_000, "nextOffset leads on and on");
    const page: Success<ReadResult> = await succeeded(subject.backend.read(subject.at(name), offset, limit));
    same(
      [page.startLine, page.endLine],
      [offset + 1, offset + lines(page.content).length],
      "lines of a page",
    );
    if (limit !== undefined)
      ensure(lines(page.content).length <= limit, `a page of more than ${limit} lines`);
    for (const line of lines(page.content)) all.push(line);
    offset = page.nextOffset;
  }
  return all;
}
