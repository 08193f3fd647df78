import { describe, expect, it } from "vitest";
import { withinCpuLimit } from "../../../scripts/test-time.ts";
import { canonicalPath, isWithin, parentPath, showPath } from "./paths.ts";

describe("canonicalPath", () => {
  it.each([
    ["foo/bar", "/foo/bar"],
    ["/./foo//bar", "/foo/bar"],
    ["/ok.txt", "/ok.txt"],
    ["//ok.txt", "/ok.txt"],
    ["/./ok.txt", "/ok.txt"],
    ["/ok.txt/", "/ok.txt"],
    ["ok.txt", "/ok.txt"],
    ["src\\app\\main.ts", "/src/app/main.ts"],
    ["/", "/"],
    [".", "/"],
    ["./", "/"],
    ["/a..b.txt", "/a..b.txt"],
    ["/..hidden", "/..hidden"],
    ["/a/...", "/a/..."],
    ["/[...slug].ts", "/[...slug].ts"],
    ["/~/x", "/~/x"],
    ["/a~", "/a~"],
    ["/__proto__", "/__proto__"],
    ["/f.txt:ads", "/f.txt:ads"],
    ["..%2fsecret", "/..%2fsecret"],
    ["/my file (1).md", "/my file (1).md"],
    ["/e\u0301.txt", "/\u00e9.txt"],
    ["/日本語/🙂.md", "/日本語/🙂.md"],
  ])("spells %j as %j", (given, expected) => {
    expect(canonicalPath(given)).toEqual({ path: expected });
    expect(canonicalPath(expected)).toEqual({ path: expected });
  });

  it.each([
    ["../etc/passwd", "Path traversal not allowed: ../etc/passwd"],
    ["/a/../b", "Path traversal not allowed: /a/../b"],
    ["/sub\\..\\..\\x", "Path traversal not allowed: /sub\\..\\..\\x"],
    ["..", "Path traversal not allowed: .."],
    ["~/x", "Path traversal not allowed: ~/x"],
    ["~root/x", "Path traversal not allowed: ~root/x"],
    ["C:\\Users\\file", "Windows absolute paths are not supported: C:\\Users\\file"],
    ["c:/x", "Windows absolute paths are not supported: c:/x"],
    ["/C:/x", "Windows absolute paths are not supported: /C:/x"],
    ["C:", "Windows absolute paths are not supported: C:"],
    ["\\\\server\\share", "Windows absolute paths are not supported: \\\\server\\share"],
    ["", "Path is empty"],
    ["/ok.txt\0.png", "Path contains a control character: /ok.txt\\u0000.png"],
    ["/a\nb", "Path contains a control character: /a\\u000ab"],
    ["/.git./config", "Path segment must not end with a dot or a space: '.git.'"],
    ["/a /b", "Path segment must not end with a dot or a space: 'a '"],
    ["/\ud800x", "Path is not valid Unicode"],
    [`/${"x".repeat(5000)}`, "Path is longer than 4096 characters"],
    [`/${"ab/".repeat(2000)}`, "Path is longer than 4096 characters"],
  ])("refuses %j", (given, words) => {
    const result = canonicalPath(given);
    expect(result.error).toMatch(new RegExp(`^${words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`));
    expect(result).toMatchObject({ code: "INVALID_PATH" });
  });

  it("refuses what is not text", () => {
    const refused = (got: string) => ({ code: "INVALID_PATH", error: `Path must be text, got ${got}` });
    expect(canonicalPath(7 as never)).toEqual(refused("number"));
    expect(canonicalPath(null as never)).toEqual(refused("null"));
  });

  it.each([
    ["a.txt", "/home/me", "/home/me/a.txt"],
    ["./a", "/home/me", "/home/me/a"],
    [".", "/home/me", "/home/me"],
    ["/a", "/home/me", "/a"],
    ["//a", "/home/me", "/a"],
    ["\\a", "/home/me", "/a"],
    ["a", "/", "/a"],
  ])("%j from the directory %j is %j", (given, base, expected) => {
    expect(canonicalPath(given, { base })).toEqual({ path: expected });
  });

  it.each([
    ["/data/f.txt", ["/data/"], true],
    ["/data", ["/data/"], true],
    ["data/./f.txt", ["/data"], true],
    ["/b/x", ["/a", "/b"], true],
    ["/anything", ["/"], true],
    ["/database/f.txt", ["/data"], false],
    ["/etc/f.txt", ["/data/"], false],
    ["/x", [], false],
  ])("%j under the prefixes %j: %j", (given, allowedPrefixes, allowed) => {
    const result = canonicalPath(given, { allowedPrefixes });
    if (allowed) expect(result.error).toBeUndefined();
    else
      expect(result.error).toBe(`Path must start with one of ${JSON.stringify(allowedPrefixes)}: ${given}`);
  });

  it("answers a hostile path quickly", async () => {
    await withinCpuLimit("a hostile path", () => canonicalPath(`${"/a.a".repeat(1000)}!`));
  });
});

describe("path arithmetic", () => {
  it.each([
    ["/a/b", "/a", true],
    ["/a", "/a", true],
    ["/ab", "/a", false],
    ["/x", "/", true],
  ])("%s within %s: %s", (path, directory, expected) => expect(isWithin(path, directory)).toBe(expected));

  it.each([
    ["/a/b.txt", "/a"],
    ["/a", "/"],
    ["/", "/"],
  ])("the parent of %s is %s", (path, expected) => expect(parentPath(path)).toBe(expected));

  it("shows a name without letting it break the line or turn its direction", () => {
    expect(showPath("/a\nb\u202egnp.exe")).toBe("/a\\u000ab\\u202egnp.exe");
    expect(showPath("/é 🙂.txt")).toBe("/é 🙂.txt");
  });
});
