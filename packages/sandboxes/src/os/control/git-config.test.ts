import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scratchDirectory } from "../os-for-tests.ts";
import { type GitSetting, GitSyntaxError, readGitConfig } from "./git-config.ts";

const hooks = (value: string): GitSetting => ({ key: "core.hookspath", values: [value] });

describe("the settings of git", () => {
  it.each<[string, string, GitSetting[]]>([
    ["a plain one", "[core]\n\thooksPath = .githooks\n", [hooks(".githooks")]],
    ["a comment after it", "[core]\n\thooksPath = .githooks # ours\n", [hooks(".githooks")]],
    ["a comment of the other kind", "[core]\n\thooksPath = .githooks;ours\n", [hooks(".githooks")]],
    ["quotes and a comment", '[core]\n\thooksPath = ".githooks" # x\n', [hooks(".githooks")]],
    ["quotes around a part", '[core]\nhooksPath = .git"hooks # "x\n', [hooks(".githooks # x")]],
    ["all on one line", "[core] hooksPath=.githooks", [hooks(".githooks")]],
    ["any case", "[CORE]\nHOOKSPATH = A\n", [hooks("A")]],
    ["a line that goes on", "[core]\nhooksPath = .git\\\nhooks\n", [hooks(".githooks")]],
    ["a file that ends where a line goes on", "[core]\nhooksPath = a\\", [hooks("a")]],
    ["escapes", '[core]\nhooksPath = a\\"b\\\\c\\td\n', [hooks('a"b\\c\td')]],
    ["ends of lines of another system", "[core]\r\nhooksPath = a b \r\n", [hooks("a b")]],
    ["one without a value", "[core]\nhooksPath\n", [{ key: "core.hookspath", values: [] }]],
    ["one with an empty value", "[core]\nhooksPath =\n", [hooks("")]],
    ["no settings", "# [core]\n; hooksPath = a\n[core]\n", []],
    [
      "a subsection",
      '[includeIf "gitdir:~/A\\"b/"]\npath = x\n',
      [{ key: 'includeif.gitdir:~/A"b/.path', values: ["x"] }],
    ],
    ["an old subsection", "[includeIf.A]\npath = x\n", [{ key: "includeif.a.path", values: ["x"] }]],
    [
      "white space that versions of git read differently",
      "[core]\nhooksPath = a\tb\n",
      [{ key: "core.hookspath", values: ["a\tb", "a b"] }],
    ],
  ])("are read: %s", (_, text, expected) => {
    expect(readGitConfig(text)).toEqual(expected);
  });

  it.each([
    "[core",
    "[core\n]",
    '[core\n"a"]',
    "[co_re]",
    '[core "a]',
    '[core "a\nb"]',
    '[core "a" ]',
    "[core a]",
    "[core]\n= a",
    "[core]\nhooks_path = a",
    "[core]\nhooksPath # a\n",
    '[core]\nhooksPath = "a\n',
    '[core]\nhooksPath = "a\nb"\n',
    "[core]\nhooksPath = \\a\n",
    "[core]\nhooksPath = a\0b\n",
  ])("are refused where git refuses them: %j", (text) => {
    expect(() => readGitConfig(text)).toThrow(GitSyntaxError);
  });

  it("say in which line they are wrong", () => {
    expect(() => readGitConfig("[core]\n\nhooksPath = \\a\n")).toThrow("bad line 3");
  });

  it("are read as git itself reads them, whatever is in them", () => {
    const file = join(scratchDirectory(), "config");
    const piece = fc.constantFrom(
      ...["[core]", "[core ", '"', "]", "[a.B]", '[include "x\\y"]', "hooksPath", "path", "a-1", " = "],
      ...["=", ".githooks", "../x", "\n", "\n", "\r\n", "\r", "\t", " ", "  ", "#", ";", "\\", "\\\n"],
      ...['\\"', "\\t", "\\\\", "ü", "[core]\nhooksPath = ", '[core] hooksPath="', "\f"],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = `[s]\n${pieces.join("")}`;
        writeFileSync(file, text);
        expect(ours(text)).toEqual(gits(file));
      }),
      { numRuns: 250 },
    );
  });
});

type Read = readonly { readonly key: string; readonly value: string | undefined }[] | "refused";

function ours(text: string): Read {
  try {
    return readGitConfig(text).map(({ key, values }) => ({ key, value: spaced(values.at(-1)) }));
  } catch (error) {
    if (error instanceof GitSyntaxError) return "refused";
    throw error;
  }
}

function gits(file: string): Read {
  const { status, stdout } = spawnSync("git", ["config", "--file", file, "--no-includes", "--list", "-z"], {
    encoding: "utf8",
  });
  if (status !== 0) return "refused";
  const settings = stdout.split("\0").slice(0, -1);
  return settings.map((setting) => {
    const end = setting.indexOf("\n");
    return end < 0
      ? { key: setting, value: undefined }
      : { key: setting.slice(0, end), value: spaced(setting.slice(end + 1)) };
  });
}

/** As older and newer versions of git agree on. */
function spaced(value: string | undefined): string | undefined {
  return value?.replace(/[\t\r]/g, " ");
}
