import { writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { scratchDirectory } from "../os-for-tests.ts";
import { gitSettings } from "./git-settings.ts";
import { WorkspaceRoot } from "./workspace-root.ts";

/** Hooks that this file of settings names, for users with these homes. */
function hooksOf(text: string, homes: readonly string[] = ["/homes/ada", "/homes/bob"]): readonly string[] {
  const directory = scratchDirectory();
  const file = join(directory, "config");
  writeFileSync(file, text);
  const root = new WorkspaceRoot(directory);
  onTestFinished(() => root.close());
  const others = new Set(gitSettings([], { homes, root }).hooks);
  return gitSettings([file], { homes, root }).hooks.filter((path) => !others.has(path));
}

describe("the directories of hooks that settings of git name", () => {
  it.each<[string, readonly string[]]>([
    ["a/hooks", ["a/hooks"]],
    ["~/hooks", ["/homes/ada/hooks", "/homes/bob/hooks"]],
    [`~${userInfo().username}/hooks`, [`${userInfo().homedir}/hooks`]],
    [":(optional)a/hooks", ["a/hooks", ":(optional)a/hooks"]],
    [":(optional)~/hooks", ["/homes/ada/hooks", "/homes/bob/hooks"]],
  ])("%s", (path, expected) => {
    expect(hooksOf(`[core]\n\thooksPath = ${path}\n`)).toEqual(expected);
  });

  it.each([
    ["~no-such-user-of-this-machine/hooks", "the user of '~no-such-user-of-this-machine' is unknown"],
    ["%(prefix)/hooks", "'%(prefix)/hooks' depends on where git is"],
  ])("cannot be known: %s", (path, why) => {
    expect(() => hooksOf(`[core]\n\thooksPath = ${path}\n`)).toThrow(why);
  });

  it("cannot be known where nobody has a home", () => {
    expect(() => hooksOf("[core]\n\thooksPath = ~/hooks\n", [])).toThrow("the user of '~' is unknown");
  });
});
