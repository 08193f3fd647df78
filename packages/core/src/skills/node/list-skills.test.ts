import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
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
  });
});

describe("parseSkillMetadata", () => {
  test("gives null for a file that is not there", () => {
    const warnings: SkillWarning[] = [];
    expect(parseSkillMetadata("/does/not/exist/SKILL.md", "user", (one) => warnings.push(one))).toBeNull();
    expect(warnings[0]?.message).toMatch(/ENOENT/);
  });
});
