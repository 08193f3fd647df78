import type { FileErrorCode } from "../../backends/backend.ts";
import { ensure, refused, same, show, succeeded } from "../suite/suite-check.ts";
import type { BackendCase } from "./backend-case.ts";
import { utf8 } from "./backend-case.ts";

interface Edit {
  readonly name: string;
  readonly before: string;
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
  readonly after: string;
  readonly occurrences?: number;
}

const EDITS: readonly Edit[] = [
  { name: "replaces the only occurrence", before: "one two\n", old: "two", new: "2", after: "one 2\n" },
  {
    name: "replaces over several lines",
    before: "a\nb\nc\nd\n",
    old: "b\nc",
    new: "x\ny\nz",
    after: "a\nx\ny\nz\nd\n",
  },
  { name: "removes text", before: "a\nb\nc\n", old: "b\n", new: "", after: "a\nc\n" },
  { name: "replaces the whole text", before: "all of it\n", old: "all of it\n", new: "new", after: "new" },
  {
    name: "replaces all when told to",
    before: "x y x\nx\n",
    old: "x",
    new: "z",
    all: true,
    after: "z y z\nz\n",
    occurrences: 3,
  },
  {
    name: "occurrences do not overlap",
    before: "aaaaa",
    old: "aa",
    new: "b",
    all: true,
    after: "bba",
    occurrences: 2,
  },
  {
    name: "what is put in is not searched again",
    before: "a a",
    old: "a",
    new: "aa",
    all: true,
    after: "aa aa",
    occurrences: 2,
  },
  { name: "replace_all with one occurrence", before: "one\n", old: "one", new: "1", all: true, after: "1\n" },
  {
    name: "FS-21 signs with a meaning elsewhere are plain text",
    before: "price\n",
    old: "price",
    new: "$& $` $' $$ $1 \\1 \\n",
    after: "$& $` $' $$ $1 \\1 \\n\n",
  },
  {
    name: "the old string is no regular expression",
    before: "a.c abc (x+)* [y]\n",
    old: "(x+)* [y]",
    new: ".*",
    after: "a.c abc .*\n",
  },
  { name: "fills an empty file", before: "", old: "", new: "text\n", after: "text\n" },
  {
    name: "an emoji of several code points",
    before: "x 👩‍🚀 y\n",
    old: "👩‍🚀",
    new: "🧑‍🚒",
    after: "x 🧑‍🚒 y\n",
  },
  {
    name: "composed and decomposed letters are not the same",
    before: "e\u0301 \u00e9\n",
    old: "\u00e9",
    new: "E",
    after: "e\u0301 E\n",
  },
  { name: "a missing final line end stays missing", before: "a\nb", old: "a", new: "x", after: "x\nb" },
  { name: "a last line without a line end", before: "a\nb", old: "b", new: "y", after: "a\ny" },
  {
    name: "CRLF, shown as LF, is found over several lines and stays",
    before: "a\r\nb\r\nc\r\n",
    old: "a\nb",
    new: "x\ny\nz",
    after: "x\r\ny\r\nz\r\nc\r\n",
  },
  {
    name: "CRLF is found as CRLF too",
    before: "a\r\nb\r\nc\r\n",
    old: "a\r\nb",
    new: "x",
    after: "x\r\nc\r\n",
  },
  { name: "CR line ends stay", before: "a\rb\rc\r", old: "b\nc", new: "y\nz", after: "a\ry\rz\r" },
  {
    name: "of mixed line ends each stays what it is",
    before: "a\nb\r\nc\rd\n",
    old: "d",
    new: "D",
    after: "a\nb\r\nc\rD\n",
  },
  {
    name: "a byte order mark stays",
    before: "\ufefffirst\nsecond\n",
    old: "second",
    new: "2nd",
    after: "\ufefffirst\n2nd\n",
  },
  {
    name: "a byte order mark stays before an edited first line",
    before: "\ufefffirst\nsecond\n",
    old: "first\n",
    new: "1st\n",
    after: "\ufeff1st\nsecond\n",
  },
  {
    name: "tabs and spaces count",
    before: "\tif x:\n\t\ty\n",
    old: "\t\ty",
    new: "    y",
    after: "\tif x:\n    y\n",
  },
];

interface Refusal {
  readonly name: string;
  readonly before: string;
  readonly old: string;
  readonly new: string;
  readonly code: FileErrorCode;
  readonly words?: RegExp;
}

const REFUSALS: readonly Refusal[] = [
  {
    name: "text that is not there is STRING_NOT_FOUND",
    before: "a\n",
    old: "zzz",
    new: "y",
    code: "STRING_NOT_FOUND",
    words: /^String not found in file: 'zzz'/,
  },
  { name: "the case of letters counts", before: "Word\n", old: "word", new: "y", code: "STRING_NOT_FOUND" },
  {
    name: "text that is there twice is STRING_NOT_UNIQUE",
    before: "a b\na\n",
    old: "a",
    new: "y",
    code: "STRING_NOT_UNIQUE",
    words: /^String 'a' appears 2 times in file\. Use replace_all=True/,
  },
  {
    name: "two equal strings are INVALID_ARGUMENT",
    before: "a\n",
    old: "a",
    new: "a",
    code: "INVALID_ARGUMENT",
  },
  {
    name: "an empty old string is INVALID_ARGUMENT where there is text",
    before: "a\n",
    old: "",
    new: "y",
    code: "INVALID_ARGUMENT",
  },
  {
    name: "a line end the file does not have is STRING_NOT_FOUND",
    before: "a\nb",
    old: "b\n",
    new: "y\n",
    code: "STRING_NOT_FOUND",
  },
];

export const editCases: readonly BackendCase[] = [
  ...EDITS.map(
    (edit): BackendCase => ({
      name: `edit: ${edit.name}`,
      run: async (subject) => {
        await subject.write("file.txt", edit.before);
        const path = subject.at("file.txt");
        const result = await succeeded(subject.backend.edit(path, edit.old, edit.new, edit.all));
        same([result.path, result.occurrences], [path, edit.occurrences ?? 1]);
        same(await subject.bytes("file.txt"), utf8(edit.after), "bytes");
      },
    }),
  ),
  ...REFUSALS.map(
    (refusal): BackendCase => ({
      name: `edit: ${refusal.name}, and nothing changes`,
      run: async (subject) => {
        await subject.write("file.txt", refusal.before);
        const result = subject.backend.edit(subject.at("file.txt"), refusal.old, refusal.new);
        const { error } = await refused(result, refusal.code);
        ensure(refusal.words?.test(error) ?? true, `words: ${show(error)}`);
        same(await subject.text("file.txt"), refusal.before);
      },
    }),
  ),
  {
    name: "edit of a file that is not there is FILE_NOT_FOUND, and creates none",
    run: async (subject) => {
      const { error } = await refused(
        subject.backend.edit(subject.at("none.txt"), "a", "b"),
        "FILE_NOT_FOUND",
      );
      same(error, `File '${subject.at("none.txt")}' not found`);
      same(await subject.isThere("none.txt"), false);
    },
  },
  {
    name: "edit of a directory is IS_DIRECTORY",
    run: async (subject) => {
      await subject.write("dir/file.txt", "1");
      await refused(subject.backend.edit(subject.at("dir"), "a", "b"), "IS_DIRECTORY");
    },
  },
  {
    name: "edit of a file that is not text is NOT_TEXT, and changes no byte",
    needs: ["bytes"],
    run: async (subject) => {
      const bytes = Uint8Array.of(97, 0, 98, 255, 0, 254, 97);
      await subject.put("data.bin", bytes);
      await refused(subject.backend.edit(subject.at("data.bin"), "a", "b", true), "NOT_TEXT");
      same(await subject.bytes("data.bin"), bytes);
    },
  },
  {
    name: "parallel edits of one file all land",
    run: async (subject) => {
      const names = Array.from({ length: 12 }, (_, index) => `<${index}>`);
      await subject.write("shared.txt", names.map((name) => `${name}: before\n`).join(""));
      const edits = names.map((name) =>
        subject.backend.edit(subject.at("shared.txt"), `${name}: before`, `${name}: after`),
      );
      for (const result of await Promise.all(edits)) await succeeded(result);
      same(await subject.text("shared.txt"), names.map((name) => `${name}: after\n`).join(""));
    },
  },
  {
    name: "of parallel edits of the same text one succeeds and the others are told",
    run: async (subject) => {
      await subject.write("shared.txt", "target\n");
      const edits = Array.from({ length: 8 }, (_, index) =>
        subject.backend.edit(subject.at("shared.txt"), "target", `done ${index}`),
      );
      const results = await Promise.all(edits);
      const winners = results.flatMap((result, index) => (result.error === undefined ? [index] : []));
      same(winners.length, 1, "edits that succeeded");
      for (const result of results)
        if (result.error !== undefined) await refused(result, ["STRING_NOT_FOUND", "CONFLICT"]);
      same(await subject.text("shared.txt"), `done ${winners[0]}\n`);
    },
  },
  {
    name: "parallel edits of different files do not meet",
    run: async (subject) => {
      const names = Array.from({ length: 8 }, (_, index) => `file-${index}.txt`);
      for (const name of names) await subject.write(name, "before\n");
      await Promise.all(names.map((name) => subject.backend.edit(subject.at(name), "before", name)));
      for (const name of names) same(await subject.text(name), `${name}\n`);
    },
  },
  {
    name: "an edit is seen by the next read, grep and edit",
    run: async (subject) => {
      await subject.write("seen.txt", "one\n");
      await succeeded(subject.backend.edit(subject.at("seen.txt"), "one", "two"));
      same((await succeeded(subject.backend.read(subject.at("seen.txt")))).content, "two\n");
      same(await subject.grep("two"), ["seen.txt:1:two"]);
      await succeeded(subject.backend.edit(subject.at("seen.txt"), "two", "three"));
      same(await subject.text("seen.txt"), "three\n");
    },
  },
];
