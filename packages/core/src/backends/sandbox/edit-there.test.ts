import { randomBytes } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { editBytes } from "../disk/edit-bytes.ts";
import { LocalSandbox, TESTED_TOOLS } from "./local-sandbox-for-tests.ts";

const TIMEOUT = 60_000;
/** More than is printed, and nothing packs it. */
const NOISE = randomBytes(60_000)
  .toString("hex")
  .replace(/(.{100})/g, "$1\n");

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
};

const EDITS: readonly (readonly [string, string, boolean?])[] = [
  ["first", "1st"],
  ["last two", ""],
  ["one\n", "one\nand a half\n"],
  ["two\n", "two\n\n\n"],
  ["t", "$& \\0101 %s '\"", true],
  ["first", "é€😀"],
  ["[a-z]*", "x"],
  ["\n", "\r\n", true],
];

/** Without `awk` it is done here. */
const TOOLS = TESTED_TOOLS.filter((tools) => tools !== "core");

const SHORT = Object.entries(CONTENTS).map(([name, content]): [string, Buffer] => [
  `little of: ${name}`,
  Buffer.from(
    Buffer.from(content)
      .toString("latin1")
      .replaceAll(NOISE, "")
      .replaceAll(NOISE.replaceAll("\n", "\r\n"), ""),
    "latin1",
  ),
]);
const ALL: Readonly<Record<string, Buffer>> = Object.fromEntries([
  ...Object.entries(CONTENTS).map(([name, content]): [string, Buffer] => [name, Buffer.from(content)]),
  ...SHORT,
  ["nothing", Buffer.alloc(0)],
]);

describe.each(TOOLS)("an edit, with the tools of %s", (tools) => {
  let sandbox: LocalSandbox;

  beforeEach(() => {
    sandbox = new LocalSandbox({ tools });
  });

  afterEach(() => sandbox.close());

  it.each(Object.keys(ALL))("does with %s what is done here", { timeout: TIMEOUT }, async (name) => {
    const path = `${sandbox.root}/file.txt`;
    const content = ALL[name] as Buffer;
    for (const [old, replacement, replaceAll = false] of EDITS) {
      writeFileSync(path, content, { mode: 0o640 });
      const expected = editBytes(content, old, replacement, replaceAll, path);
      const result = await sandbox.edit(path, old, replacement, replaceAll);
      if (expected.error !== undefined) expect(result).toEqual(expected);
      else expect(result).toEqual({ path, occurrences: expected.occurrences });
      const after = expected.error === undefined ? expected.bytes : content;
      expect(readFileSync(path).equals(after)).toBe(true);
      expect(statSync(path).mode & 0o777).toBe(0o640);
    }
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("at the same time by two who do not know of each other lands", { timeout: TIMEOUT }, async () => {
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
