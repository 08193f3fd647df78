import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Encoding } from "../disk/detect-encoding.ts";
import { editBytes } from "../disk/edit-bytes.ts";
import { encoded } from "../disk/encoded-text-for-tests.ts";
import { type LocalSandboxOptions, openLocalSandbox as open } from "./local-sandbox-for-tests.ts";

/** Lines that do not pack. */
const noise = (bytes: number): string =>
  randomBytes(bytes / 2)
    .toString("hex")
    .replace(/(.{100})/g, "$1\n");
const NOISE = noise(200_000);
const crlf = (text: string): string => text.replaceAll("\n", "\r\n");

const JAPANESE = "これは日本語のコメントです。ソース表示の能力を予約する関数、テストのために\n".repeat(20);
const FRENCH = "Le garçon a mangé une crème brûlée à l'été, où ça ?\n".repeat(20);
const RUSSIAN = "Это комментарий на русском языке, чтобы проверить определение кодировки файла\n".repeat(300);
const CHINESE = "这是一个中文注释，用于测试编码检测。函数返回值不能为空，请检查输入参数是否正确\n".repeat(20);

type Edit = readonly [old: string, replacement: string, replaceAll?: boolean];

/** An edit of a file that nobody read or wrote before, compared with what is done here. */
async function callsOf(content: Buffer, edit: Edit, options?: LocalSandboxOptions): Promise<string> {
  const sandbox = open(options);
  const path = `${sandbox.root}/file.txt`;
  writeFileSync(path, content);
  const [old, replacement, replaceAll = false] = edit;
  const expected = editBytes(content, old, replacement, replaceAll, path);
  const result = await sandbox.edit(path, old, replacement, replaceAll);
  if (expected.error !== undefined) expect(result).toEqual(expected);
  else expect(result).toEqual({ path, occurrences: expected.occurrences });
  expect(readFileSync(path).equals(expected.error === undefined ? expected.bytes : content)).toBe(true);
  expect(sandbox.leftovers()).toEqual([]);
  return sandbox.calls.join(" ");
}

const TEXT = `first one\n${NOISE}second two\nlast\n`;
const LONG = noise(100_000);
const within = (text: string, encoding: Encoding, bom = false): Buffer =>
  encoded(`${text}first one\n${NOISE}${text}second two\nlast\n`, encoding, bom);
const JOINED: Edit = ["two\nlast", "2\nlast\n\nend"];

describe("an edit of a large file that was never looked at", () => {
  it.each<[string, Buffer, Edit, string]>([
    ["with CRLF", Buffer.from(crlf(TEXT)), JOINED, "execute"],
    ["with CRLF, long text put in", Buffer.from(crlf(TEXT)), ["two\nlast", LONG], "upload execute"],
    ["with CRLF, long text taken out", Buffer.from(crlf(TEXT)), [NOISE, "short\n"], "upload execute"],
    ["with CR alone", Buffer.from(TEXT.replaceAll("\n", "\r")), JOINED, "execute"],
    ["with all kinds of line ends", Buffer.from(`a\r\nb\rc\n${TEXT}`), JOINED, "execute"],
    ["with escapes", Buffer.from(`\x1b[1m\x01\x02${TEXT}`), ["\x1b[1m\x01\x02first", "\x1b[0m\n"], "execute"],
    ["with NULs far behind", Buffer.from(`${TEXT}\0\x01 end\n`), ["last\n", "\x02\n"], "execute"],
    [
      "in UTF-8 with bytes astray",
      Buffer.concat([Buffer.from(`${FRENCH}`), Buffer.from([0xff, 0x0a]), Buffer.from(TEXT)]),
      JOINED,
      "execute",
    ],
    [
      "in UTF-8 with bytes astray, beyond ASCII",
      Buffer.concat([Buffer.from(`${FRENCH}`), Buffer.from([0xff, 0x0a]), Buffer.from(`é${TEXT}`)]),
      ["éfirst", "è"],
      "execute execute",
    ],
    ["in Latin-1", within(FRENCH, "windows-1252"), JOINED, "execute"],
    ["in Latin-1, long text put in", within(FRENCH, "windows-1252"), ["first one", LONG], "upload execute"],
    [
      "in Latin-1, behind a letter of its own",
      within(`${FRENCH}été1\n`, "windows-1252"),
      ["1\n", "2\n", true],
      "execute execute",
    ],
    [
      "in Latin-1, beyond ASCII",
      within(FRENCH, "windows-1252"),
      ["crème brûlée", "thé\net café", true],
      "execute execute",
    ],
    [
      "in Cyrillic, beyond ASCII",
      within(RUSSIAN, "windows-1251"),
      ["комментарий", "текст", true],
      "execute execute",
    ],
    ["in Shift_JIS", within(JAPANESE, "shift_jis"), JOINED, "execute"],
    [
      "in Shift_JIS, beyond ASCII",
      within(JAPANESE, "shift_jis"),
      ["表示の能力", "ソース", true],
      "execute execute",
    ],
    [
      "in Shift_JIS, where bytes of characters look like the text",
      within(`${JAPANESE}a\\b\n`, "shift_jis"),
      ["\\", "/", true],
      "execute execute",
    ],
    ["in EUC-JP, beyond ASCII", within(JAPANESE, "euc-jp"), ["関数、", "関数\n", true], "execute execute"],
    ["in GB18030, beyond ASCII", within(CHINESE, "gb18030"), ["函数返回值", "值", true], "execute execute"],
    ["in UTF-16", within(FRENCH, "utf-16le", true), ["été", "hiver\n", true], "execute"],
    [
      "with thousands of occurrences",
      Buffer.from(`${"one two\n".repeat(20_000)}${NOISE}`),
      ["o", "0\n", true],
      "execute",
    ],
    ["that lacks the text", Buffer.from(crlf(TEXT)), ["missing\n", "x"], "execute download"],
    [
      "in Latin-1 that lacks the text",
      within(FRENCH, "windows-1252"),
      ["missing\n", "x"],
      "execute download",
    ],
    [
      "in Latin-1 that lacks the character put in",
      within(FRENCH, "windows-1252"),
      ["crème", "日本", true],
      "execute download",
    ],
    [
      "of no text",
      Buffer.concat([Buffer.from([0]), Buffer.from(TEXT)]),
      ["first", "1st"],
      "execute download",
    ],
  ])("%s takes two calls at most", async (_, content, edit, calls) => {
    expect(await callsOf(content, edit)).toBe(calls);
  });

  it("takes one where it is as large as can be handled", async () => {
    const large = noise(60_000_000);
    expect(await callsOf(Buffer.from(`${large}first\nlast\n`), ["first\nlast", "end"])).toBe("execute");
    const line = large.replaceAll("\n", "");
    expect(await callsOf(Buffer.from(`${line}first\r\nlast\n`), ["first\nlast", "end\n"])).toBe("execute");
  });

  it("takes more where tools are missing, and says the same", async () => {
    const three = "execute download execute";
    expect(await callsOf(Buffer.from(TEXT), ["two", "2"], { tools: "core" })).toBe(three);
    const sandbox = { without: ["iconv"] };
    expect(await callsOf(within(FRENCH, "utf-16le", true), ["two", "2"], sandbox)).toBe(three);
    expect(await callsOf(Buffer.from(`${FRENCH}${TEXT}`), ["two\n", "2\n"], sandbox)).toBe("execute");
    expect(await callsOf(Buffer.from(`${FRENCH}é${TEXT}`), ["éfirst", "é"], sandbox)).toBe("execute execute");
  });

  it("of which another encoding is known is fetched at once where that is sure to be two", async () => {
    for (const [content, old, replacement, calls] of [
      [within(FRENCH, "windows-1252"), "first", "1st", "execute"],
      [within(`${FRENCH}à la fin\n`, "windows-1252"), "first one\n", "été\n", "download execute"],
      [within(JAPANESE, "shift_jis"), "first", "1st", "download execute"],
    ] as const) {
      const sandbox = open();
      const path = `${sandbox.root}/file.txt`;
      writeFileSync(path, content);
      await sandbox.read(path, 0, 5);
      sandbox.calls.length = 0;
      expect(await sandbox.edit(path, old, replacement)).toEqual({ path, occurrences: 1 });
      expect(sandbox.calls.join(" ")).toBe(calls);
    }
  });

  it("is a command of less than 64 KB, whatever goes with it", async () => {
    const sandbox = open();
    const path = `${sandbox.root}/file.txt`;
    writeFileSync(path, within(JAPANESE, "big5"));
    await sandbox.ls(sandbox.root);
    const long = noise(30 * 1024).replaceAll("\n", " ");
    const calls = async (act: () => Promise<unknown>): Promise<string> => {
      sandbox.calls.length = 0;
      expect(await act()).toHaveProperty("path");
      return sandbox.calls.join(" ");
    };
    expect(await calls(() => sandbox.edit(path, "first", long))).toBe("execute");
    expect(await calls(() => sandbox.edit(path, "の", "は", true))).toBe("execute execute");
    expect(await calls(() => sandbox.append(path, "x".repeat(36 * 1024 - 3)))).toBe("execute");
    expect(Math.max(...sandbox.commands.map((command) => command.length))).toBeLessThan(64_000);
  });

  it("starts again where the file changed after its encoding was told", async () => {
    const sandbox = open();
    const path = `${sandbox.root}/file.txt`;
    writeFileSync(path, within(FRENCH, "windows-1252"));
    const execute = sandbox.execute.bind(sandbox);
    let changes = 1;
    sandbox.execute = async (command, options) => {
      const response = await execute(command, options);
      if (changes-- > 0) writeFileSync(path, `${FRENCH}${TEXT}`);
      return response;
    };
    expect(await sandbox.edit(path, "crème", "thé", true)).toEqual({ path, occurrences: 20 });
    expect(readFileSync(path, "utf8")).toBe(`${FRENCH}${TEXT}`.replaceAll("crème", "thé"));
    expect(sandbox.calls).toEqual(["execute", "execute", "execute"]);
  });
});

describe("an addition to a large file that was never looked at", () => {
  it.each<[Encoding, string, boolean]>([
    ["windows-1252", FRENCH, false],
    ["shift_jis", JAPANESE, false],
    ["gb18030", CHINESE, false],
    ["utf-16be", FRENCH, true],
  ])("in %s takes two calls", async (encoding, text, bom) => {
    const sandbox = open();
    const path = `${sandbox.root}/file.txt`;
    const content = within(text, encoding, bom);
    writeFileSync(path, content);
    expect(await sandbox.append(path, text)).toEqual({ path });
    expect(readFileSync(path).equals(Buffer.concat([content, encoded(text, encoding)]))).toBe(true);
    expect(sandbox.calls).toEqual(["execute", "execute"]);
    const refused = await sandbox.append(path, "\ud83d");
    expect(refused).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
