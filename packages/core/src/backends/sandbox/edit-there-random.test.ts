import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { editBytes } from "../disk/edit-bytes.ts";
import { encodedFile, strayBytes } from "../disk/encoded-text-for-tests.ts";
import { decodeBytes } from "../disk/text-codec.ts";
import { LocalSandbox, TESTED_TOOLS } from "./local-sandbox-for-tests.ts";

const RUNS = sized(12, 40) * Number(process.env.TEST_RUNS_FACTOR ?? 1);
/** More than is printed, and nothing packs it. */
const NOISE = randomBytes(60_000)
  .toString("hex")
  .replace(/(.{100})/g, "$1\n");

const PARTS = "a b ab aa 1 1.0 01 0x1 é \x01 \x1b[1m \x7f \\ 日".split(" ").concat(" ", "\r", "\n", "\r\n");
const soup = fc
  .subarray(PARTS, { minLength: 1 })
  .chain((parts) => fc.array(fc.constantFrom(...parts), { maxLength: 60 }))
  .map((parts) => Buffer.from(parts.join("")));
const words = fc.oneof(
  soup,
  encodedFile().map(({ bytes }) => bytes),
  strayBytes(),
);
const beside = fc.constantFrom("", NOISE, NOISE.replaceAll("\n", "\r\n"), NOISE.replaceAll("\n", ""));
const replacements = [
  "",
  "X",
  "x\ny",
  "\n",
  "a\r\nb\n",
  "a\rb",
  "é",
  "日本",
  "\x01\n",
  "1.0\n\n",
  "$&\\n%s\\",
];

/** A part of the text, and what is put in its place. */
interface Random {
  readonly bytes: Buffer;
  readonly old: string;
  readonly replacement: string;
  readonly replaceAll: boolean;
}

const random: fc.Arbitrary<Random> = fc
  .record({
    words,
    before: beside,
    behind: beside,
    at: fc.nat(),
    length: fc.constantFrom(1, 1, 2, 3, 5, 9, 40, 400),
    isNormal: fc.boolean(),
    replacement: fc.constantFrom(...replacements),
    replaceAll: fc.boolean(),
  })
  .map(({ words, before, behind, at, length, isNormal, replacement, replaceAll }) => {
    const text = Array.from(decodeBytes(words)?.text ?? "text");
    const start = at % Math.max(text.length, 1);
    const part = text.slice(start, start + length).join("");
    // A mark of UTF-16 stands at the beginning or nowhere.
    const isMarked = words[0] === 0xff || words[0] === 0xfe;
    const around = isMarked ? ["", ""] : [before, behind];
    const bytes = Buffer.concat([Buffer.from(around[0] as string), words, Buffer.from(around[1] as string)]);
    return { bytes, old: isNormal ? part.replace(/\r\n?/g, "\n") : part, replacement, replaceAll };
  });

const opened: LocalSandbox[] = [];
afterEach(() => {
  for (const sandbox of opened.splice(0)) sandbox.close();
});

/** Without `awk` it is done here. */
describe.each(TESTED_TOOLS.filter((tools) => tools !== "core"))(
  "random edits, with the tools of %s",
  (tools) => {
    it("do in a sandbox what is done here", { timeout: Math.max(600_000, 3000 * RUNS) }, async () => {
      const sandbox = new LocalSandbox({ tools });
      opened.push(sandbox);
      let files = 0;
      const property = fc.asyncProperty(random, async ({ bytes, old, replacement, replaceAll }) => {
        // A name that nothing is known of.
        const path = `${sandbox.root}/${files++}.txt`;
        writeFileSync(path, bytes);
        const expected = editBytes(bytes, old, replacement, replaceAll, path);
        const result = await sandbox.edit(path, old, replacement, replaceAll);
        if (expected.error !== undefined) expect(result).toEqual(expected);
        else expect(result).toEqual({ path, occurrences: expected.occurrences });
        expect(readFileSync(path).equals(expected.error === undefined ? expected.bytes : bytes)).toBe(true);
        rmSync(path);
      });
      await fc.assert(property, { numRuns: RUNS });
    });
  },
);
