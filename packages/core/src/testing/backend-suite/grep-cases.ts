import { ensure, refused, same, show, succeeded } from "../suite/suite-check.ts";
import { type BackendCase, COSTLY_LIMIT_MS } from "./backend-case.ts";

const TREE = {
  "README.md": "needle in the readme\n",
  "main.py": "import os\nneedle = 1\nprint(needle)\n",
  "src/app.js": "const needle = 1;\n",
  "src/lib/deep.js": "needle;\n",
  "src/lib/deep.ts": "needle;\n",
  "src/main.py": "# needle\n",
  "test1.txt": "needle 1\n",
  "testA.txt": "needle A\n",
  "other.txt": "nothing here\n",
};

const FILTERS: readonly (readonly [glob: string, files: readonly string[]])[] = [
  ["*.py", ["main.py", "src/main.py"]],
  ["**/*.py", ["main.py", "src/main.py"]],
  ["src/**/*.js", ["src/app.js", "src/lib/deep.js"]],
  ["src/*.js", ["src/app.js"]],
  ["test[0-9].txt", ["test1.txt"]],
  ["test[!0-9].txt", ["testA.txt"]],
  ["test?.txt", ["test1.txt", "testA.txt"]],
  ["*.{js,ts}", ["src/app.js", "src/lib/deep.js", "src/lib/deep.ts"]],
  ["{main.py,README.md}", ["README.md", "main.py", "src/main.py"]],
  ["src/**", ["src/app.js", "src/lib/deep.js", "src/lib/deep.ts", "src/main.py"]],
  ["*.none", []],
];

const matchCases: readonly BackendCase[] = [
  {
    name: "gives path, line number and line of each match, sorted by path, then line",
    run: async (subject) => {
      await subject.fill({
        "b.txt": "x\nneedle 2\nneedle 3\n",
        "a/z.txt": "needle\n",
        "a.txt": "\n\n  a needle \n",
      });
      same(await subject.grep("needle"), [
        "a.txt:3:  a needle ",
        "a/z.txt:1:needle",
        "b.txt:2:needle 2",
        "b.txt:3:needle 3",
      ]);
    },
  },
  {
    name: "no match is an empty list",
    run: async (subject) => {
      await subject.write("a.txt", "text\n");
      const result = await succeeded(subject.backend.grep("absent", subject.at("")));
      same([result.matches, result.truncated ?? false], [[], false]);
    },
  },
  {
    name: "the pattern is literal text, not a regular expression",
    run: async (subject) => {
      await subject.write("a.txt", "axb\na.b\n(a+)+$\n[0-9]\n^start\nback\\slash\n$& $1\n");
      same(await subject.grep("a.b"), ["a.txt:2:a.b"]);
      for (const [index, pattern] of ["(a+)+$", "[0-9]", "^start", "back\\slash", "$& $1"].entries())
        same(await subject.grep(pattern), [`a.txt:${index + 3}:${pattern}`]);
    },
  },
  {
    name: "a pattern that looks like an option or a command is text",
    run: async (subject) => {
      await subject.write("a.txt", "-e\n--help\n-f /etc/passwd\n$(id)\n`id`\n'; ls; '\n\"x\"\n");
      for (const [index, pattern] of [
        "-e",
        "--help",
        "-f /etc/passwd",
        "$(id)",
        "`id`",
        "'; ls; '",
        '"x"',
      ].entries())
        same(await subject.grep(pattern), [`a.txt:${index + 1}:${pattern}`]);
    },
  },
  {
    name: "the case of letters counts",
    run: async (subject) => {
      await subject.write("a.txt", "Needle\nneedle\nNEEDLE\n");
      same(await subject.grep("needle"), ["a.txt:2:needle"]);
    },
  },
  {
    name: "a line with several matches is given once",
    run: async (subject) => {
      await subject.write("a.txt", "x x x\ny\nx\n");
      same(await subject.grep("x"), ["a.txt:1:x x x", "a.txt:3:x"]);
    },
  },
  {
    name: "line ends are no part of a line, whatever kind they are",
    run: async (subject) => {
      await subject.write("crlf.txt", "one\r\ntwo needle\r\nthree needle\r\n");
      await subject.write("last.txt", "first\nlast needle");
      same(await subject.grep("needle"), [
        "crlf.txt:2:two needle",
        "crlf.txt:3:three needle",
        "last.txt:2:last needle",
      ]);
    },
  },
  {
    name: "finds letters of every plane",
    run: async (subject) => {
      await subject.write("a.txt", "é\n日本語のテキスト\nx 🚀 y\n");
      same(await subject.grep("本語"), ["a.txt:2:日本語のテキスト"]);
      same(await subject.grep("🚀"), ["a.txt:3:x 🚀 y"]);
    },
  },
  {
    name: "an empty pattern is INVALID_PATTERN",
    run: async (subject) => {
      await subject.write("a.txt", "text\n");
      await refused(subject.backend.grep("", subject.at("")), "INVALID_PATTERN");
    },
  },
  {
    name: "RD-02 a pattern that ruins a backtracking engine, and a long one, cost nothing",
    run: async (subject) => {
      await subject.write("a.txt", `${"a".repeat(100_000)}b\n`);
      const start = Date.now();
      same(await subject.grep("(a+)+$"), []);
      const long = await subject.backend.grep("a".repeat(50_000).concat("c"), subject.root);
      if (long.error === undefined) same(long.matches, []);
      else await refused(long, "INVALID_PATTERN");
      ensure(Date.now() - start < COSTLY_LIMIT_MS, `took ${Date.now() - start} ms`);
    },
  },
];

const placeCases: readonly BackendCase[] = [
  {
    name: "searches below the path alone",
    run: async (subject) => {
      await subject.fill(TREE);
      same(await subject.grep("needle", "src/lib"), [
        "src/lib/deep.js:1:needle;",
        "src/lib/deep.ts:1:needle;",
      ]);
    },
  },
  {
    name: "a directory whose name begins like another's is not searched with it",
    run: async (subject) => {
      await subject.fill({
        "dir/a.txt": "needle\n",
        "dir2/a.txt": "needle\n",
        "d_r/a.txt": "needle\n",
        "d%/a.txt": "needle\n",
      });
      same(await subject.grep("needle", "dir"), ["dir/a.txt:1:needle"]);
      same(await subject.grep("needle", "d_r"), ["d_r/a.txt:1:needle"]);
      same(await subject.grep("needle", "d%"), ["d%/a.txt:1:needle"]);
    },
  },
  {
    name: "a file given as the path is searched alone",
    run: async (subject) => {
      await subject.fill(TREE);
      same(await subject.grep("needle", "main.py"), ["main.py:2:needle = 1", "main.py:3:print(needle)"]);
    },
  },
  {
    name: "a path where nothing is gives no match or FILE_NOT_FOUND",
    run: async (subject) => {
      await subject.write("a.txt", "needle\n");
      const result = await subject.backend.grep("needle", subject.at("nowhere"));
      if (result.error === undefined) same(result.matches, []);
      else await refused(result, "FILE_NOT_FOUND");
    },
  },
  ...FILTERS.map(
    ([glob, files]): BackendCase => ({
      name: `the file filter ${glob} is relative to the path, and without a slash fits at any depth`,
      run: async (subject) => {
        await subject.fill(TREE);
        const matches = await subject.grep("needle", "", glob);
        same([...new Set(matches.map((match) => match.split(":")[0]))], files);
      },
    }),
  ),
  {
    name: "a filter is relative to the path that is searched",
    run: async (subject) => {
      await subject.fill(TREE);
      same(await subject.grep("needle", "src", "lib/*.js"), ["src/lib/deep.js:1:needle;"]);
    },
  },
  {
    name: "no filter is written as null or as nothing",
    run: async (subject) => {
      await subject.write("a.txt", "needle\n");
      same(await subject.grep("needle", "", null, null), ["a.txt:1:needle"]);
      same(await subject.grep("needle", "", undefined, undefined), ["a.txt:1:needle"]);
    },
  },
  {
    name: "FS-05 a filter that leaves the path is a typed error or finds nothing",
    run: async (subject) => {
      await subject.fill({ "in/a.txt": "needle\n", "out.txt": "needle\n" });
      const result = await subject.backend.grep("needle", subject.at("in"), "../*");
      if (result.error === undefined) same(result.matches, []);
      else await refused(result, ["INVALID_PATH", "INVALID_PATTERN", "OUTSIDE_ROOT"]);
    },
  },
];

const limitCases: readonly BackendCase[] = [
  {
    name: "maxCount caps the matches of all files together, and says that there are more",
    run: async (subject) => {
      await subject.fill({ "a.txt": "x\nx\n", "b.txt": "x\nx\n", "c.txt": "x\n" });
      const result = await succeeded(subject.backend.grep("x", subject.at(""), null, 3));
      same(
        result.matches.map(({ path, line }) => `${subject.nameOf(path)}:${line}`),
        ["a.txt:1", "a.txt:2", "b.txt:1"],
      );
      same(result.truncated, true, "truncated");
    },
  },
  {
    name: "a cap that is just reached leaves nothing out, and does not say so",
    run: async (subject) => {
      await subject.fill({ "a.txt": "x\nx\n", "b.txt": "x\n", "c.txt": "y\n" });
      for (const cap of [3, 4]) {
        const result = await succeeded(subject.backend.grep("x", subject.at(""), null, cap));
        same([result.matches.length, result.truncated ?? false], [3, false], `cap ${cap}`);
      }
    },
  },
  {
    name: "a cap that no one means literally is no cap",
    run: async (subject) => {
      await subject.write("a.txt", "x\nx\nx\n");
      for (const cap of [0, -1, Number.NaN])
        same((await subject.grep("x", "", null, cap)).length, 3, `cap ${cap}`);
    },
  },
  {
    name: "binary files are not searched",
    needs: ["bytes"],
    run: async (subject) => {
      await subject.put(
        "data.bin",
        Uint8Array.from([0, 1, ...new TextEncoder().encode("\nneedle\n"), 0, 255]),
      );
      await subject.write("text.txt", "needle\n");
      same(await subject.grep("needle"), ["text.txt:1:needle"]);
    },
  },
  {
    name: "names that begin with a dot are searched",
    run: async (subject) => {
      await subject.fill({ ".hidden": "needle\n", ".dir/file.txt": "needle\n" });
      same(await subject.grep("needle"), [".dir/file.txt:1:needle", ".hidden:1:needle"]);
    },
  },
  {
    name: "what .gitignore names is left out, as is .git; a file given as the path is searched all the same",
    needs: ["ignore files", "upload"],
    run: async (subject) => {
      const ignored = ".gitignore";
      await subject.put(ignored, new TextEncoder().encode("build/\n*.log\n!keep.log\n/only-top.txt\n"));
      await subject.put(".git/config", new TextEncoder().encode("needle\n")).catch(() => undefined);
      await subject.fill({
        "build/out.txt": "needle\n",
        "a.log": "needle\n",
        "keep.log": "needle\n",
        "only-top.txt": "needle\n",
        "src/only-top.txt": "needle\n",
        "src/b.log": "needle\n",
      });
      same(await subject.grep("needle"), ["keep.log:1:needle", "src/only-top.txt:1:needle"]);
      same(await subject.grep("needle", "a.log"), ["a.log:1:needle"]);
    },
  },
  {
    name: "a .gitignore in a directory holds below that directory",
    needs: ["ignore files", "upload"],
    run: async (subject) => {
      await subject.put("sub/.gitignore", new TextEncoder().encode("*.tmp\n"));
      await subject.fill({ "sub/a.tmp": "needle\n", "sub/deep/b.tmp": "needle\n", "c.tmp": "needle\n" });
      same(await subject.grep("needle"), ["c.tmp:1:needle"]);
      same(await subject.grep("needle", "sub/deep"), []);
    },
  },
  {
    name: "an ignored directory given as the path is searched",
    needs: ["ignore files", "upload"],
    run: async (subject) => {
      await subject.put(".gitignore", new TextEncoder().encode("build/\n"));
      await subject.fill({ "build/out.txt": "needle\n", "a.txt": "needle\n" });
      same(await subject.grep("needle"), ["a.txt:1:needle"]);
      same(await subject.grep("needle", "build"), ["build/out.txt:1:needle"]);
    },
  },
  {
    name: "names with colons and digits are kept apart from line numbers",
    run: async (subject) => {
      const name = "a:12:b.txt";
      const made = await subject.backend.write(subject.at(name), "x\nneedle: 3\n");
      if (made.error !== undefined) return void (await refused(made, "INVALID_PATH"));
      const { matches } = await succeeded(subject.backend.grep("needle", subject.at("")));
      same(
        matches.map(({ path, line, text }) => ({ path, line, text })),
        [{ path: subject.at(name), line: 2, text: "needle: 3" }],
        show(matches),
      );
    },
  },
];

export const grepCases: readonly BackendCase[] = [...matchCases, ...placeCases, ...limitCases];
