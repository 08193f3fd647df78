import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigurationError } from "../../errors.ts";
import { skillText, temporaryDirectory, writeTree } from "../skill-files-for-tests.ts";
import type { SkillWarning } from "../skill-metadata.ts";
import { listSkills, parseSkillMetadata } from "./list-skills.ts";

function listed(user: Record<string, string>, project: Record<string, string> = {}) {
  const root = temporaryDirectory();
  const [userSkillsDir, projectSkillsDir] = [join(root, "user"), join(root, "project")];
  writeTree(userSkillsDir, user);
  writeTree(projectSkillsDir, project);
  const warnings: SkillWarning[] = [];
  const onWarning = (warning: SkillWarning) => void warnings.push(warning);
  const list = () => listSkills({ userSkillsDir, projectSkillsDir, onWarning });
  return { list, warnings, userSkillsDir, projectSkillsDir };
}

describe("listSkills", () => {
  test("gives the skills of both directories; those of the project win", () => {
    const { list, userSkillsDir, projectSkillsDir } = listed(
      { "/pdf/SKILL.md": skillText("pdf", "of the user"), "/web/SKILL.md": skillText("web") },
      { "/pdf/SKILL.md": skillText("pdf", "of the project", "license: MIT\nallowed-tools: [a, b]\n") },
    );
    expect(list()).toEqual([
      {
        name: "pdf",
        description: "of the project",
        path: join(projectSkillsDir, "pdf/SKILL.md"),
        source: "project",
        license: "MIT",
        allowedTools: "a b",
      },
      {
        name: "web",
        description: "Does web things.",
        path: join(userSkillsDir, "web/SKILL.md"),
        source: "user",
      },
    ]);
  });

  test("has none where there is no directory", () => {
    expect(listSkills({})).toEqual([]);
    expect(listSkills({ userSkillsDir: null, projectSkillsDir: "/does/not/exist" })).toEqual([]);
  });

  test.skipIf(process.platform === "win32")("waits for no pipe", () => {
    const { list, warnings, userSkillsDir } = listed({ "/good/SKILL.md": skillText("good") });
    mkdirSync(join(userSkillsDir, "pipe"));
    execFileSync("mkfifo", [join(userSkillsDir, "pipe/SKILL.md")]);
    expect(list().map(({ name }) => name)).toEqual(["good"]);
    expect(warnings.map(({ code }) => code)).toEqual(["SKILL_UNREADABLE"]);
    expect(parseSkillMetadata(join(userSkillsDir, "pipe/SKILL.md"), "user", () => {})).toBeNull();
  });

  test("skips what is bad or leads out, with a warning", () => {
    const { list, warnings, userSkillsDir } = listed({
      "/good/SKILL.md": skillText("good", "'a: b'"),
      "/bad/SKILL.md": "---\nname: [bad\n---\n",
      "/none/SKILL.md": "text",
      "/long/SKILL.md": skillText("long", "x".repeat(5_000_000)),
      "/folded/SKILL.md": skillText("folded", ">-\n  two\n  lines"),
    });
    mkdirSync(join(userSkillsDir, "link"));
    symlinkSync("/etc/passwd", join(userSkillsDir, "link/SKILL.md"));
    mkdirSync(join(userSkillsDir, "directory/SKILL.md"), { recursive: true });
    expect(list().map(({ name, description }) => [name, description])).toEqual([
      ["folded", "two lines"],
      ["good", "a: b"],
    ]);
    expect(warnings.map(({ path }) => path.slice(userSkillsDir.length))).toEqual([
      "/bad/SKILL.md",
      "/directory/SKILL.md",
      "/link/SKILL.md",
      "/long/SKILL.md",
      "/none/SKILL.md",
    ]);
    expect(warnings.map(({ code }) => code)).toEqual([
      "INVALID_FRONT_MATTER",
      "SKILL_UNREADABLE",
      "SKILL_UNREADABLE",
      "INVALID_FRONT_MATTER",
      "INVALID_FRONT_MATTER",
    ]);
  });

  test("skips a file over 10 MB, and says that this is why", () => {
    const { list, warnings } = listed({
      "/big/SKILL.md": skillText("big") + "x".repeat(10 * 1024 * 1024),
    });
    expect(list()).toEqual([]);
    expect(warnings.map(({ code }) => code)).toEqual(["SKILL_TOO_LARGE"]);
  });

  test.each([
    [undefined, "listSkills takes an object with directories"],
    [{ skillsDir: "/skills" }, "listSkills has no option 'skillsDir'"],
    [{ userSkillsDir: 5 }, "The option 'userSkillsDir' must be text"],
    [{ onWarning: 5 }, "The option 'onWarning' must be a function"],
  ])("refuses %j", (options, words) => {
    expect(() => listSkills(options as never)).toThrow(ConfigurationError);
    expect(() => listSkills(options as never)).toThrow(words);
  });
});

describe("parseSkillMetadata", () => {
  test("gives null for a file that is not there", () => {
    const warnings: SkillWarning[] = [];
    expect(parseSkillMetadata("/does/not/exist/SKILL.md", "user", (one) => warnings.push(one))).toBeNull();
    expect(warnings).toMatchObject([{ code: "SKILL_UNREADABLE", message: expect.stringMatching(/ENOENT/) }]);
  });

  test("refuses what is no path", () => {
    expect(() => parseSkillMetadata(undefined as never, "user")).toThrow(ConfigurationError);
  });
});
