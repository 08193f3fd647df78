import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileGlob } from "./glob-match.ts";
import { directoryFilter, literalDirectory } from "./glob-prune.ts";

describe("directoryFilter", () => {
  it.each<[string, string, string, boolean]>([
    ["*.ts", "/", "/any/where/", true],
    ["src/*.ts", "/", "/src/", true],
    ["src/*.ts", "/", "/src/deep/", false],
    ["src/*.ts", "/", "/other/", false],
    ["src/**/*.ts", "/", "/src/deep/er/", true],
    ["s*/lib/**", "/", "/src/", true],
    ["s*/lib/**", "/", "/src/other/", false],
    ["lib/*.ts", "/src", "/src/lib/", true],
    ["lib/*.ts", "/src", "/src/x/", false],
    ["/src/lib/*.ts", "/src", "/src/lib/", true],
    ["{src,test}/a/*.ts", "/", "/test/a/", true],
    ["{src,test}/a/*.ts", "/", "/docs/", false],
    ["src/", "/", "/src/a/b/", true],
  ])("%j below %j in %j: %s", (pattern, base, directory, expected) =>
    expect(directoryFilter(pattern, base)(directory)).toBe(expected),
  );

  it("lets in every directory in which something fits", () => {
    const name = fc.constantFrom("a", "b", "ab", "x.ts");
    const part = fc.constantFrom("a", "b", "*", "?", "a*", "**", "{a,b}", "{a/b,c}", "[ab]", "*.ts", "");
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
        fc.array(name, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("/", "/a", "/a/b"),
        (pattern, names, base) => {
          const path = `${base === "/" ? "" : base}/${names.join("/")}`;
          if (!compileGlob(pattern || "x", base).matches?.(path)) return;
          for (let at = path.indexOf("/", base.length + 1); at !== -1; at = path.indexOf("/", at + 1))
            expect(directoryFilter(pattern, base)(path.slice(0, at + 1))).toBe(true);
        },
      ),
      { numRuns: 3000 },
    );
  });
});

it.each([
  ["src/lib/*.ts", "/", "/src/lib"],
  ["src/lib/*.ts", "/pkg", "/pkg/src/lib"],
  ["/src/*.ts", "/pkg", "/src"],
  ["*.ts", "/pkg", "/pkg"],
  ["**/x", "/", "/"],
  ["./a/b.ts", "/", "/a"],
  ["{a,b}/c", "/", "/"],
  ["a/", "/", "/a"],
])("literalDirectory of %j below %j is %j", (pattern, base, expected) =>
  expect(literalDirectory(pattern, base)).toBe(expected),
);
