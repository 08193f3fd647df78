import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { IgnoreScope, parseIgnoreFile } from "./ignore-rules.ts";

const decide = (text: string, path: string): boolean | undefined => {
  const isDirectory = path.endsWith("/");
  const entry = isDirectory ? path.slice(0, -1) : path;
  return parseIgnoreFile(text).decide(entry, entry.slice(entry.lastIndexOf("/") + 1), isDirectory);
};

describe("parseIgnoreFile", () => {
  it.each<[string, string, boolean | undefined]>([
    ["node_modules", "node_modules/", true],
    ["node_modules", "a/b/node_modules/", true],
    ["node_modules", "node_modules/x.js", undefined],
    ["dist/", "dist/", true],
    ["dist/", "dist", undefined],
    ["/build", "build", true],
    ["/build", "a/build", undefined],
    ["a/b", "a/b", true],
    ["a/b", "x/a/b", undefined],
    ["*.log", "deep/x.log", true],
    ["*.log\n!keep.log", "keep.log", false],
    ["!keep.log\n*.log", "keep.log", true],
    ["keep\n!keep\nkeep/", "keep", false],
    ["keep\n!keep\nkeep/", "keep/", true],
    ["docs/**/*.pdf", "docs/x.pdf", true],
    ["docs/**/*.pdf", "docs/a/b/x.pdf", true],
    ["docs/**", "docs/", undefined],
    ["docs/**", "docs/a/b", true],
    ["**/tmp", "a/tmp/", true],
    ["# no rule", "# no rule", undefined],
    ["\\#file", "#file", true],
    ["\\!file", "!file", true],
    ["file   ", "file", true],
    ["file\\ ", "file ", true],
    ["x[0-9].txt", "x7.txt", true],
    ["x[!0-9].txt", "x7.txt", undefined],
    ["x[[:alpha:]].txt", "xq.txt", true],
    ["x[unclosed", "x[unclosed", undefined],
    ["a?c", "abc", true],
    ["File", "file", undefined],
    ["crlf\r\nother\r", "crlf", true],
    ["\uFEFFmarked", "marked", true],
    ["", "a", undefined],
    ["/", "a/", undefined],
    ["!", "a", undefined],
  ])("%j on %j: %s", (text, path, expected) => expect(decide(text, path)).toBe(expected));

  it("answers hostile rules quickly", async () => {
    await withinCpuLimit("hostile rules of ignore files", () => {
      for (const line of [
        `${"*a".repeat(20)}b`,
        `${"**/a/".repeat(60)}b`,
        `${"[a]*".repeat(60)}b`,
        "x?\n".repeat(90_000),
      ]) {
        const rules = parseIgnoreFile(line);
        for (const path of ["a".repeat(250), `${"a/".repeat(120)}a`])
          rules.decide(path, path.slice(path.lastIndexOf("/") + 1), false);
      }
    });
  });
});

describe("IgnoreScope", () => {
  it("lets the nearest file decide, and only about the entry itself", () => {
    const scope = IgnoreScope.none
      .inside("/", parseIgnoreFile("*.log\nout"))
      .inside("/sub/", parseIgnoreFile("!keep.log\n!out"));
    expect(scope.ignores("/sub/keep.log", "keep.log", false)).toBe(false);
    expect(scope.ignores("/sub/other.log", "other.log", false)).toBe(true);
    expect(scope.ignores("/sub/out", "out", true)).toBe(false);
    expect(scope.ignores("/sub/out/file", "file", false)).toBe(false);
  });

  it("always ignores .git", () => {
    expect(IgnoreScope.none.ignores("/a/.git", ".git", true)).toBe(true);
    expect(IgnoreScope.none.ignores("/a/.gitignore", ".gitignore", false)).toBe(false);
  });
});

describe("against git itself, where a character is one byte", () => {
  const name = fc.constantFrom("a", "b", "ab", "a.log", "x.ts", ".env", "out", "a b", "[x]");
  const part = fc.constantFrom(
    "a",
    "b",
    "a*",
    "*",
    "*.log",
    "?",
    "[ab]",
    "[!a]",
    "**",
    "out",
    "a*b*",
    "\\[x\\]",
    "a b",
  );
  const line = fc
    .tuple(
      fc.constantFrom("", "!"),
      fc.constantFrom("", "/", "**/"),
      fc.array(part, { minLength: 1, maxLength: 3 }),
      fc.constantFrom("", "/", "/**"),
    )
    .map(([negation, anchor, parts, end]) => `${negation}${anchor}${parts.join("/")}${end}`);
  const file = fc.array(line, { minLength: 1, maxLength: 5 }).map((lines) => lines.join("\n"));
  const paths = fc.uniqueArray(
    fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/")),
    {
      minLength: 1,
      maxLength: 12,
    },
  );

  it("ignores what git ignores", () => {
    fc.assert(
      fc.property(file, file, paths, (outer, inner, wanted) => {
        const root = mkdtempSync(join(tmpdir(), "ignore-rules-"));
        try {
          execFileSync("git", ["init", "-q", root]);
          writeFileSync(join(root, ".gitignore"), outer);
          mkdirSync(join(root, "a"));
          writeFileSync(join(root, "a", ".gitignore"), inner);
          const made = wanted.filter((path) => make(root, path));
          const untracked = execFileSync("git", ["ls-files", "-z", "--others", "--exclude-standard"], {
            cwd: root,
            encoding: "utf8",
            env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
          });
          const seen = new Set(untracked.split("\0"));
          for (const path of made)
            expect({ outer, inner, path, seen: !isIgnored(outer, inner, path) }).toEqual({
              outer,
              inner,
              path,
              seen: seen.has(path),
            });
        } finally {
          rmSync(root, { recursive: true });
        }
      }),
      { numRuns: 60 },
    );
  });

  function make(root: string, path: string): boolean {
    try {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), "", { flag: "wx" });
      return true;
    } catch {
      return false;
    }
  }

  function isIgnored(outer: string, inner: string, path: string): boolean {
    const above = IgnoreScope.none.inside("/", parseIgnoreFile(outer));
    const below = above.inside("/a/", parseIgnoreFile(inner));
    const names = path.split("/");
    return names.some((entry, index) => {
      const scope = index > 0 && names[0] === "a" ? below : above;
      return scope.ignores(`/${names.slice(0, index + 1).join("/")}`, entry, index < names.length - 1);
    });
  }
});
