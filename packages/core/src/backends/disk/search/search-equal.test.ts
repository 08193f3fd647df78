import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyFileData, GrepResult } from "../../backend.ts";
import { type FileMap, recordMap } from "../../file-map/file-map.ts";
import { globFrom, grepFrom } from "../../file-map/file-map-search.ts";
import { glob, grep, makeTree, type Tree } from "../tree-for-tests.ts";
import { naiveGrep } from "./naive-grep-for-tests.ts";

const name = fc.constantFrom(
  "a",
  "b",
  "a.ts",
  "b.log",
  "out",
  "a-b",
  ".env",
  "c:d",
  "x y",
  "é",
  "[x]",
  "q'\"",
  "n\nl",
  "日本",
);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
const ignoreLine = fc.constantFrom(
  "*.log",
  "out",
  "out/",
  "/a",
  "a/b",
  "!a.ts",
  "!b.log",
  "*.ts",
  "**/out",
  "a/**",
  "[ab]",
  "x y",
  "a*b",
  ".env",
  "# a",
  "é",
);
const text = fc
  .array(
    fc.constantFrom("hit", "no", "HIT", "café", "日本語", "\n", "\r\n", "\r", " ", "\t", "$(x)", "hit\n"),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));
const content = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: text.map((words) => `\0${words}`) },
  { weight: 1, arbitrary: text.map((words) => `\uFEFF${words}`) },
);
/** Contents that only a disk can hold. */
const rawContent = fc.oneof(
  text.map((words) => Buffer.from(words, "latin1")),
  text.map((words) => Buffer.from(`\uFEFF${words}`, "utf16le")),
  text.map((words) => Buffer.concat([Buffer.from(words), Buffer.from([0xff, 0x80])])),
);
const ignoreFile = fc.array(ignoreLine, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n"));
const entry = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(path, content) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      path.map((at) => `${at}/.gitignore`),
      ignoreFile,
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(".gitignore", "a/.gitignore"), ignoreFile) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      path.map((at) => `${at}/.git/x`),
      content,
    ),
  },
);
const rawEntry = fc.oneof(
  { weight: 3, arbitrary: entry },
  { weight: 1, arbitrary: fc.tuple(path, rawContent) },
  { weight: 1, arbitrary: fc.tuple(path, fc.constantFrom({ link: "a" }, { link: "." }, { link: "/etc" })) },
);
const query = fc.record({
  pattern: fc.constantFrom(
    "hit",
    "h",
    "HIT",
    "é",
    "café",
    "日本語",
    "hit\nhit",
    "$(x)",
    "\n",
    "nowhere",
    " hit",
  ),
  path: fc.constantFrom("/", "/", "/a", "/out", "/a/b", "/a.ts"),
  glob: fc.constantFrom(null, null, "*.ts", "*.{ts,log}", "a/**", "**/b*"),
  maxCount: fc.constantFrom(null, null, 1, 3),
  maxFileSizeBytes: fc.constantFrom(20, 10_000_000),
  respectGitignore: fc.constantFrom(true, true, false),
});

/** Nothing is both a file and a directory; the first one wins. */
function treeOf(entries: readonly (readonly [string, Tree[string]])[]): Tree {
  const tree: Record<string, Tree[string]> = {};
  for (const [at, value] of entries) {
    const blocked = Object.keys(tree).some(
      (other) => other === at || other.startsWith(`${at}/`) || at.startsWith(`${other}/`),
    );
    if (!blocked) tree[at] = value;
  }
  return tree;
}

describe("the same results", () => {
  it("as reading every file would give", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rawEntry, { maxLength: 25 }),
        fc.array(query, { minLength: 3, maxLength: 3 }),
        async (entries, queries) => {
          const root = makeTree(treeOf(entries));
          for (const { pattern, ...rest } of queries) {
            const { error, ...found } = await grep(root, pattern, rest);
            const expected = naiveGrep(root.hostPath, { pattern, ...rest });
            expect(error === undefined ? found : undefined).toEqual(expected);
          }
        },
      ),
      { numRuns: 80 },
    );
  });

  it("on disk and in a map", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 25 }),
        fc.array(query, { minLength: 3, maxLength: 3 }),
        async (entries, queries) => {
          const tree = treeOf(entries);
          const root = makeTree(tree);
          const files = mapOf(tree);
          for (const { pattern, path: at, glob: filter, maxCount } of queries) {
            const onDisk = await grep(root, pattern, { path: at, glob: filter, maxCount });
            expect(comparable(onDisk)).toEqual(comparable(grepFrom(files, pattern, at, filter, maxCount)));
            const listedOnDisk = await glob(root, filter ?? "**", { path: at });
            const listedInMap = globFrom(files, filter ?? "**", at);
            expect(listedOnDisk.files?.map((file) => [file.path, file.size]) ?? []).toEqual(
              listedInMap.files?.map((file) => [file.path, file.size]) ?? [],
            );
          }
        },
      ),
      { numRuns: 80 },
    );
  });
});

/** A byte order mark is stored text in a map; a missing directory is empty there. */
function comparable(result: GrepResult): unknown {
  if (result.error !== undefined) return { matches: [] };
  return {
    ...result,
    matches: result.matches.map((match) => ({ ...match, text: match.text.replace(/^\uFEFF/, "") })),
  };
}

function mapOf(tree: Tree): FileMap {
  const data = Object.entries(tree).map(([at, value]): [string, AnyFileData] => [
    `/${at}`,
    { content: String(value), created_at: "", modified_at: "" },
  ]);
  return recordMap(Object.fromEntries(data));
}
