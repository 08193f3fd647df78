import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directoryWith } from "../../test-support/run-binary.ts";
import { namedPicture, withAttachments } from "./attachments.ts";
import { completion } from "./completion.ts";
import { bestPaths, FileIndex, listFiles } from "./file-index.ts";
import { InputHistory } from "./history.ts";
import { ignoreRules, isIgnored } from "./ignore-rules.ts";

test.each([
  ["*.log", "a/b.log", false, true],
  ["*.log", "a/b.txt", false, false],
  ["build/", "build", true, true],
  ["build/", "build", false, false],
  ["/only", "only", false, true],
  ["/only", "a/only", false, false],
  ["a/**/z", "a/b/c/z", false, true],
  ["*.log\n!keep.log", "keep.log", false, false],
  ["# comment\n\nx?", "xy", false, true],
])("%j on %s", (text, path, isDirectory, expected) => {
  expect(isIgnored(path, isDirectory, ignoreRules(text, ""))).toBe(expected);
});

test("files that .gitignore names, also one in a subdirectory, are not offered", async () => {
  const directory = await directoryWith({
    ".gitignore": "dist/\n*.tmp\n",
    "src/main.ts": "",
    "src/.gitignore": "secret.ts\n",
    "src/secret.ts": "",
    "dist/main.js": "",
    "node_modules/x/index.js": "",
    "a.tmp": "",
  });
  expect([...(await listFiles(directory))].sort()).toEqual([
    ".gitignore",
    "src/",
    "src/.gitignore",
    "src/main.ts",
  ]);
});

test("names that begin with what was typed come first, and 50,000 paths are searched", () => {
  const paths = Array.from({ length: 50_000 }, (_, i) => `packages/p${i % 100}/src/file-${i}.ts`);
  expect(bestPaths([...paths, "docs/main.md", "src/domain.ts", "src/main.ts"], "main", 3)).toEqual([
    "src/main.ts",
    "docs/main.md",
    "src/domain.ts",
  ]);
  expect(bestPaths(paths, "p7f49907", 5)[0]).toBe("packages/p7/src/file-49907.ts");
});

test("commands complete behind a slash at the beginning, files behind an at sign", async () => {
  const directory = await directoryWith({ "src/main.ts": "", "readme.md": "" });
  const provider = completion(
    () => [
      { name: "undo", description: "back" },
      { name: "help", description: "keys" },
    ],
    new FileIndex(directory),
  );
  const options = { signal: new AbortController().signal };
  const at = async (line: string) =>
    (await provider.getSuggestions([line], 0, line.length, options))?.items.map(({ value }) => value);
  expect(await at("/un")).toEqual(["/undo"]);
  expect(await at("look at @mai")).toEqual(["@src/main.ts"]);
  expect(await at("a/un")).toBeUndefined();
  expect(await at("mail@mai")).toBeUndefined();
});

test("what was typed is kept for the directory", async () => {
  const directory = await directoryWith({});
  const environment = { DEEPWRIGHT_HOME: `${directory}.home` };
  const history = new InputHistory(directory, environment);
  await history.add("first\nline");
  await history.add("second");
  expect(await new InputHistory(directory, environment).load()).toEqual(["first\nline", "second"]);
  expect(await new InputHistory("/elsewhere", environment).load()).toEqual([]);
});

test("pictures are attached, by name or dropped; other files are left to the agent", async () => {
  const directory = await directoryWith({ "a.png": new Uint8Array([1, 2, 3]), "b.txt": "text" });
  const { content } = await withAttachments("look at @a.png and @b.txt", directory);
  expect(content).toMatchObject([{ type: "text" }, { type: "image_url" }]);
  expect((await withAttachments(join(directory, "a.png"), directory)).content).toHaveLength(2);
  expect((await withAttachments("only @b.txt", directory)).content).toBe("only @b.txt");
  await writeFile(join(directory, "my pic.png"), "x");
  const pasted = join(directory, "my\\ pic.png");
  expect(namedPicture(pasted)).toBe(`@"${join(directory, "my pic.png")}" `);
  expect((await withAttachments(`what is ${namedPicture(pasted)}`, directory)).content).toHaveLength(2);
  expect(namedPicture(join(directory, "b.txt"))).toBeUndefined();
  await mkdir(join(directory, "d.png"));
  await writeFile(join(directory, "large.png"), new Uint8Array(5_000_001));
  const large = await withAttachments("@large.png @d.png", directory);
  expect(large).toMatchObject({ content: "@large.png @d.png", problems: [expect.stringContaining("5 MB")] });
});
