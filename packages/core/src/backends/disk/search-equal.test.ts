import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyFileData, GrepResult } from "../backend.ts";
import { type FileMap, recordMap } from "../file-map.ts";
import { globFrom, grepFrom } from "../file-map-search.ts";
import { GrepTree } from "./grep-tree.ts";
import { FileScanner } from "./scan-file.ts";
import { openStart } from "./search-start.ts";
import { glob, grep, makeTree, type Tree } from "./tree-for-tests.ts";

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
/** What only a disk can hold. */
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
  it("with ripgrep and without", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(rawEntry, { maxLength: 25 }),
        fc.array(query, { minLength: 3, maxLength: 3 }),
        async (entries, queries) => {
          const root = makeTree(treeOf(entries));
          for (const { pattern, ...rest } of queries)
            expect(await grep(root, pattern, rest)).toEqual(
              await grep(root, pattern, { ...rest, useRipgrep: false }),
            );
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
            const onDisk = await grep(root, pattern, { path: at, glob: filter, maxCount, useRipgrep: false });
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

describe("ripgrep's answer", () => {
  const files = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`d${at % 7}/f${at}.ts`, at % 20 ? "no" : "hit"]),
  );

  async function helped(
    tree: Tree,
    change: { path?: string; glob?: string; pattern?: string } = {},
  ): Promise<[boolean, number]> {
    const request = {
      root: makeTree(tree),
      path: "/",
      pattern: "hit",
      respectGitignore: true,
      timeoutSeconds: 600,
      maxFileSizeBytes: 1000,
      useRipgrep: true,
      ripgrepAfterMilliseconds: 0,
      ...change,
    };
    const start = openStart(request);
    if ("error" in start) throw new Error(start.error);
    const scanner = new FileScanner(request.pattern, Number.POSITIVE_INFINITY, request.maxFileSizeBytes);
    const search = new GrepTree(request, start, scanner, (at) => !request.glob || at.endsWith(".ts"));
    const result = await search.run();
    start.directory.close();
    return [search.wasHelped, result.matches?.length ?? -1];
  }

  it.each<[string, Tree, { path?: string; glob?: string }]>([
    ["a plain tree", files, {}],
    [
      "ignore files of the common kind",
      {
        ...files,
        ".gitignore": "*.log\n/out/\n",
        "out/x": "hit",
        "d1/.gitignore": "gen\n",
        "d1/gen/x": "hit",
      },
      {},
    ],
    [
      "a search below an ignore file",
      {
        ...files,
        "src/a/1.ts": "no",
        "src/b/2.ts": "no",
        "src/c.log": "hit",
        "src/gen/x": "hit",
        "src/z": "hit",
        "src/y": "hit",
        "src/x": "hit",
        ".gitignore": "*.log\n/src/gen\n",
      },
      { path: "/src" },
    ],
    ["a filter of names", { ...files, "other.log": "hit" }, { glob: "*.ts" }],
    ["files that are too large", { ...files, "large.ts": `hit${"x".repeat(2000)}` }, {}],
  ])("is used for %s", async (_, tree, change) => {
    expect(await helped(tree, change)).toEqual([true, 3]);
  });

  it.each<[string, Tree]>([
    ["rules that others may read differently", { ...files, ".gitignore": "x[ab]\n" }],
    ["a repository inside", { ...files, ".gitignore": "*.log\n", "sub/.git/config": "hit", "sub/x": "no" }],
    ["an ignore file that is a link", { ...files, "d2/.gitignore": { link: "../d1/f1.ts" } }],
  ])("is not used where it cannot be trusted: %s", async (_, tree) => {
    expect(await helped(tree)).toEqual([false, 3]);
  });
});
