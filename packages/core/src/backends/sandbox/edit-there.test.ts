import { randomBytes } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { SIGNATURES } from "../../text/mime.ts";
import { editBytes } from "../disk/edit-bytes.ts";
import { encoded, SAMPLES } from "../disk/encoded-text-for-tests.ts";
import { LocalSandbox, TESTED_TOOLS } from "./local-sandbox-for-tests.ts";

/** More than is printed, and nothing packs it. */
const NOISE = randomBytes(60_000)
  .toString("hex")
  .replace(/(.{100})/g, "$1\n");

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

const CONTENTS: Readonly<Record<string, string | Buffer>> = {
  "plain text": `first one\n${NOISE}\nlast two\n`,
  "no line end at the end": `first one\n${NOISE}\nlast two`,
  "characters of all kinds": `first öne €😀\n${NOISE}\nlast two\n`,
  CRLF: `first one\r\n${NOISE.replaceAll("\n", "\r\n")}last two\r\n`,
  "a mark at its beginning": `\ufefffirst one\n${NOISE}last two\n`,
  "latin-1": Buffer.from(`first one é\n${NOISE}last two\n`, "latin1"),
  Shift_JIS: Buffer.concat([
    Buffer.from([0x83, 0x5c, 0x83, 0x41, 0x0a]),
    Buffer.from(`first one\n${NOISE}last two\n`),
  ]),
  "bytes that no UTF-8 has": Buffer.concat([
    Buffer.from(`first one\n${NOISE}`),
    Buffer.from([0xf5, 0x80, 0x80, 0x80, 0x0a]),
    Buffer.from("last two\n"),
  ]),
  "control characters": `first one\x01\n${NOISE}last two\n`,
  "a NUL far behind": `first one\n${NOISE}\0last two\n`,
  "many occurrences": `${"first one last two\n".repeat(300)}${NOISE}`,
  "line ends of all kinds": `\r\nfirst one\rlast two\n\r\r\n${NOISE}first one\r\nlast two\r\n1\n1.0\r\n01\r`,
  "a line end of each kind, and none at the end": `one\r\n${NOISE}one\nlast two\rtwo`,
  "CR alone": `first one\r${NOISE.replaceAll("\n", "\r")}last two\r`,
  "line ends that are no pairs": `\nfirst one\r\n${NOISE.replaceAll("\n", "")}last two\r`,
  "one line": `first one${NOISE.replaceAll("\n", "")}last two`,
  "one line among others": `a\r\nfirst one${NOISE.replaceAll("\n", "")}last two\nb\n`,
  numbers: `1\n1.0\n01\n0x1\n 1\n1e0\n${NOISE}1\r\n01\n`,
  "escapes and controls": `\x1b[1mfirst\x1b[0m one é\x7f\x02\n${NOISE}last two\x07\n`,
  "NULs and controls far behind": `first one\n${NOISE}\x01\0\0\x02last\0 two\r\n`,
  "a NUL at its beginning": `\0first one\n${NOISE}last two\n`,
  "characters that stand for bytes": `first one \u{10fe80}\n${NOISE}last two\n`,
  "a mark and bytes astray": latin1(`\xef\xbb\xbffirst one\n${NOISE}\xe9\xfflast two\n`),
  "many controls in Latin-1": latin1(`${"\x01\x02\xe9".repeat(2000)}first one\n${NOISE}last two\n`),
  "Latin-1 that begins like a PDF": latin1(`%PDF-1.4 \xe9\nfirst one\n${NOISE}last two\n`),
  "Latin-1 that begins like a GIF": latin1(`GIF89a \xe9\nfirst one\n${NOISE}last two\n`),
  "Latin-1 that begins like sound": latin1(`RIFF\xe9\xe9\xe9\xe9WAVE\nfirst one\n${NOISE}last two\n`),
  "Latin-1 that is laid out like an archive": latin1(
    `${"\xe9".repeat(257)}ustar\nfirst one\n${NOISE}last two\n`,
  ),
  "Latin-1 with line ends of all kinds": latin1(`\xe9first one\xe9\r\n${NOISE}\xe9\rlast two\n`),
  ...Object.fromEntries(
    [...SAMPLES, ["utf-16le", "Größe 日本 🙂"] as const, ["utf-16be", "Größe 日本 🙂"] as const].map(
      ([encoding, words]) => [
        `words in ${encoding}`,
        encoded(
          `${words}first one\r\n${words}\\\n${NOISE}${words}last two\n${words}`,
          encoding,
          encoding.startsWith("utf-16"),
        ),
      ],
    ),
  ),
};

const NOWHERE = "[a-z]*";

type Edit = readonly [old: string, replacement: string, replaceAll?: boolean];

const EDITS: readonly Edit[] = [
  ["first", "1st"],
  ["last two", ""],
  ["one\n", "one\nand a half\n"],
  ["two\n", "two\n\n\n"],
  ["t", "$& \\0101 %s '\"", true],
  ["first", "é€😀"],
  [NOWHERE, "x"],
  ["\n", "\r\n", true],
  ["one\nlast", "1\n2\n", true],
  ["1\n01", "x\n"],
  ["1", "1.0\n", true],
  ["\nlast", "a\rb\nc"],
  ["two\r\n", "zwei\n\x01\n", true],
  ["\x1b[", "\x02\x1b\x03"],
  ["\\", "/", true],
  ["é", "è\n", true],
  ["本", "日本", true],
  ["コ", "", true],
  ["я", "ю", true],
];

/** Without `awk` it is done here. */
const TOOLS = TESTED_TOOLS.filter((tools) => tools !== "core");

const SHORT = Object.entries(CONTENTS)
  .filter((_, index) => index % 3 === 0)
  .map(([name, content]): [string, Buffer] => [
    `little of: ${name}`,
    latin1(
      ["\n", "\r\n", "\r", ""].reduce(
        (text, end) => text.replaceAll(NOISE.replaceAll("\n", end), ""),
        Buffer.from(content).toString("latin1"),
      ),
    ),
  ]);
const ALL: Readonly<Record<string, Buffer>> = Object.fromEntries([
  ...Object.entries(CONTENTS).map(([name, content]): [string, Buffer] => [name, Buffer.from(content)]),
  ...SHORT,
  ["nothing", Buffer.alloc(0)],
]);

/** Of edits that find nothing, not even bytes that look like it, one tells as much as all. */
function isTold(content: Buffer, [old, replacement]: Edit): boolean {
  if (old === NOWHERE || content.includes(old)) return true;
  return editBytes(content, old, replacement, true).error === undefined;
}

/** One in eight of those that tell something, in turns; in long tests all of them. */
function edited(content: Buffer, turn: number): Edit[] {
  const step = sized(8, 1);
  return EDITS.filter((edit) => isTold(content, edit)).filter((_, index) => (index + turn) % step === 0);
}

describe.each(TOOLS)("an edit, with the tools of %s", (tools) => {
  let sandbox: LocalSandbox;

  beforeEach(() => {
    sandbox = new LocalSandbox({ tools });
  });

  afterEach(() => sandbox.close());

  it.each(Object.keys(ALL))("does with %s what is done here", async (name) => {
    const content = ALL[name] as Buffer;
    const check = async ([old, replacement, replaceAll = false]: Edit, index: number): Promise<void> => {
      const path = `${sandbox.root}/file${index}.txt`;
      writeFileSync(path, content, { mode: 0o640 });
      const expected = editBytes(content, old, replacement, replaceAll, path);
      const result = await sandbox.edit(path, old, replacement, replaceAll);
      if (expected.error !== undefined) expect(result).toEqual(expected);
      else expect(result).toEqual({ path, occurrences: expected.occurrences });
      const after = expected.error === undefined ? expected.bytes : content;
      expect(readFileSync(path).equals(after)).toBe(true);
      expect(statSync(path).mode & 0o777).toBe(0o640);
    };
    const edits = edited(content, Object.keys(ALL).indexOf(name));
    for (let index = 0; index < edits.length; index += 2)
      await Promise.all(edits.slice(index, index + 2).map((edit, beside) => check(edit, index + beside)));
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("takes for binary whatever begins like it", async () => {
    for (const [type, ...marks] of SIGNATURES) {
      const content = latin1(`${"\xe9".repeat(400)} first one\n${NOISE}`);
      for (const [offset, mark] of marks) content.write(mark, offset, "latin1");
      const path = `${sandbox.root}/file`;
      writeFileSync(path, content);
      const expected = editBytes(content, "first", "1st", false, path);
      expect(expected.error, type).toBeDefined();
      expect(await sandbox.edit(path, "first", "1st"), type).toEqual(expected);
    }
  });

  it("at the same time by two who do not know of each other lands", async () => {
    const other = new LocalSandbox({ tools, beside: sandbox });
    try {
      const path = `${sandbox.root}/shared.txt`;
      writeFileSync(path, `<a> <b> <c> <d>\n${NOISE}`);
      const editors = [sandbox, other, sandbox, other];
      const results = await Promise.all(
        [..."abcd"].map((letter, index) => editors[index]?.edit(path, `<${letter}>`, letter)),
      );
      for (const result of results) expect(result).toEqual({ path, occurrences: 1 });
      expect(readFileSync(path, "utf8")).toBe(`a b c d\n${NOISE}`);
    } finally {
      other.close();
    }
  });
});
