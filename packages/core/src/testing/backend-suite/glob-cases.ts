import { ensure, refused, same, show, succeeded } from "../suite/suite-check.ts";
import { type BackendCase, COSTLY_LIMIT_MS } from "./backend-case.ts";

const FILES = [
  ".config/settings.json",
  ".env",
  "README.md",
  "docs/a b.md",
  "src/[id].ts",
  "src/app.js",
  "src/index.ts",
  "src/lib/deep/core.ts",
  "src/lib/util.ts",
  "test1.txt",
  "test2.txt",
  "testA.txt",
];

const TREE = Object.fromEntries(FILES.map((file) => [file, "x"]));
const TS = ["src/[id].ts", "src/index.ts", "src/lib/deep/core.ts", "src/lib/util.ts"];
const SRC = ["src/[id].ts", "src/app.js", "src/index.ts", "src/lib/deep/core.ts", "src/lib/util.ts"];

const FORMS: readonly (readonly [pattern: string, files: readonly string[], directory?: string])[] = [
  ["*.ts", TS],
  ["**/*.ts", TS],
  ["src/*.ts", ["src/[id].ts", "src/index.ts"]],
  ["src/**/*.ts", TS],
  ["src/lib/**/*.ts", ["src/lib/deep/core.ts", "src/lib/util.ts"]],
  ["src/**", SRC],
  ["**/lib/*", ["src/lib/util.ts"]],
  ["*/index.ts", ["src/index.ts"]],
  ["index.ts", ["src/index.ts"]],
  ["./src/app.js", ["src/app.js"]],
  ["**", FILES],
  ["*", FILES],
  ["test?.txt", ["test1.txt", "test2.txt", "testA.txt"]],
  ["test[0-9].txt", ["test1.txt", "test2.txt"]],
  ["test[!0-9].txt", ["testA.txt"]],
  ["test[1A].txt", ["test1.txt", "testA.txt"]],
  ["*.{md,js}", ["README.md", "docs/a b.md", "src/app.js"]],
  ["src/{index,app}.*", ["src/app.js", "src/index.ts"]],
  ["{README,docs/a b}.md", ["README.md", "docs/a b.md"]],
  ["src/\\[id\\].ts", ["src/[id].ts"]],
  [".env", [".env"]],
  ["*.json", [".config/settings.json"]],
  ["docs/a b.md", ["docs/a b.md"]],
  ["*.TS", []],
  ["none*", []],
  ["*.ts", TS, "src"],
  ["lib/*.ts", ["src/lib/util.ts"], "src"],
  ["src/*.ts", [], "src"],
  ["**/core.*", ["src/lib/deep/core.ts"], "src/lib"],
];

/** Each tries to name something that does not lie in the path. */
const OUTWARD = [
  "../**",
  "../*",
  "{..,x}/**",
  "**/../../**",
  "x/../../*",
  "/../../../etc/passwd",
  "~/*",
  "..\\*",
];

const COSTLY: readonly (readonly [name: string, pattern: string])[] = [
  ["eighteen pairs of braces", "{a,b}".repeat(18)],
  ["a range of five million", "{1..5000000}"],
  ["nested repeats", `${"+(*)".repeat(8)}z`],
  ["two hundred double stars", `${"**/".repeat(200)}x`],
  ["forty single stars", `${"*a".repeat(40)}b`],
  ["a hundred thousand characters", "a".repeat(100_000)],
  ["braces in braces in braces", `${"{a,".repeat(60)}b${"}".repeat(60)}`],
];

export const globCases: readonly BackendCase[] = [
  ...FORMS.map(
    ([pattern, files, directory = ""]): BackendCase => ({
      name: `${pattern}${directory ? ` in ${directory}` : ""} finds ${files.length} files`,
      run: async (subject) => {
        await subject.fill(TREE);
        same(await subject.glob(pattern, directory), files);
      },
    }),
  ),
  {
    name: "a pattern that begins with a slash is relative to the root",
    run: async (subject) => {
      await subject.fill(TREE);
      const pattern = subject.at("src/*.js");
      same(await subject.glob(pattern), ["src/app.js"]);
    },
  },
  {
    name: "results are files, sorted by path, with full paths",
    run: async (subject) => {
      await subject.fill({ "b/x.txt": "1", "a-b.txt": "1", "a.txt": "1", "a/x.txt": "1", "B.txt": "1" });
      const { files, truncated } = await succeeded(subject.backend.glob("**/*.txt", subject.at("")));
      same(
        files.map(({ path }) => path),
        ["B.txt", "a-b.txt", "a.txt", "a/x.txt", "b/x.txt"].map((name) => subject.at(name)),
      );
      ensure(
        files.every(({ is_dir }) => !is_dir),
        `a directory among files: ${show(files)}`,
      );
      same(truncated ?? false, false, "truncated");
    },
  },
  {
    name: "a name with signs that mean something in patterns is found by itself, escaped",
    run: async (subject) => {
      await subject.fill({ "{a,b}.txt": "1", "[x].txt": "1", "a.txt": "1", "x.txt": "1" });
      same(await subject.glob("\\{a,b\\}.txt"), ["{a,b}.txt"]);
      same(await subject.glob("[[]x].txt"), ["[x].txt"]);
    },
  },
  {
    name: "an empty pattern is INVALID_PATTERN",
    run: async (subject) => {
      await refused(subject.backend.glob("", subject.root), "INVALID_PATTERN");
    },
  },
  {
    name: "glob in a file is NOT_A_DIRECTORY; in a directory that is not there it finds nothing or is FILE_NOT_FOUND",
    run: async (subject) => {
      await subject.write("file.txt", "1");
      await refused(subject.backend.glob("*", subject.at("file.txt")), "NOT_A_DIRECTORY");
      const result = await subject.backend.glob("*", subject.at("nowhere"));
      if (result.error === undefined) same(result.files, []);
      else await refused(result, "FILE_NOT_FOUND");
    },
  },
  ...OUTWARD.map(
    (pattern): BackendCase => ({
      name: `FS-05 ${pattern} is a typed error or finds nothing`,
      run: async (subject) => {
        await subject.fill({ "in/a.txt": "1", "out.txt": "1" });
        const result = await subject.backend.glob(pattern, subject.at("in"));
        if (result.error === undefined) same(result.files, []);
        else await refused(result, ["INVALID_PATH", "INVALID_PATTERN", "OUTSIDE_ROOT"]);
      },
    }),
  ),
  ...COSTLY.map(
    ([name, pattern]): BackendCase => ({
      name: `RD-01 ${name} cost little, or are a typed error`,
      run: async (subject) => {
        await subject.fill({
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/y.txt": "1",
          "a.txt": "1",
        });
        const start = Date.now();
        const result = await subject.backend.glob(pattern, subject.at(""));
        if (result.error !== undefined) await refused(result, ["INVALID_PATTERN", "INVALID_PATH"]);
        ensure(Date.now() - start < COSTLY_LIMIT_MS, `took ${Date.now() - start} ms`);
      },
    }),
  ),
  {
    name: "what .gitignore names is left out, unless the path leads into it",
    needs: ["ignore files", "upload"],
    run: async (subject) => {
      await subject.put(".gitignore", new TextEncoder().encode("build/\n*.log\n"));
      await subject.fill({ "build/out.txt": "1", "a.log": "1", "a.txt": "1", "src/b.txt": "1" });
      same(await subject.glob("*.{txt,log}"), ["a.txt", "src/b.txt"]);
      same(await subject.glob("*.txt", "build"), ["build/out.txt"]);
    },
  },
  {
    name: "what was deleted is not found any more",
    needs: ["delete"],
    run: async (subject) => {
      await subject.fill({ "a.txt": "1", "dir/b.txt": "1" });
      await subject.backend.delete?.(subject.at("dir"));
      same(await subject.glob("*.txt"), ["a.txt"]);
    },
  },
];
