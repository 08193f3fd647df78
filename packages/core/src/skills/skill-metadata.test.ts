import { describe, expect, test } from "vitest";
import { type FieldMap, readSimpleFields } from "./front-matter.ts";
import { checkSkill, MAX_SKILL_DESCRIPTION_LENGTH, MAX_SKILL_FILE_SIZE } from "./skill-metadata.ts";

const check = (text: string, directory = "pdf") =>
  checkSkill(readSimpleFields(text) as FieldMap, `/skills/${directory}/SKILL.md`, directory);

describe("the metadata of a skill", () => {
  test("has what the front matter says", () => {
    const text = `name: pdf
description: Fills in forms
license: MIT
compatibility: Needs pdftk
metadata:
  author: me
  version: 1.0
allowed-tools: read_file Bash(git add:*), execute
module: index.ts
`;
    expect(check(text)).toEqual({
      skill: {
        name: "pdf",
        description: "Fills in forms",
        path: "/skills/pdf/SKILL.md",
        license: "MIT",
        compatibility: "Needs pdftk",
        metadata: { author: "me", version: "1.0" },
        allowedTools: ["read_file", "Bash(git add:*)", "execute"],
        module: "index.ts",
      },
      warnings: [],
    });
  });

  test("takes a list of tools as well", () => {
    expect(check("name: pdf\ndescription: x\nallowed-tools:\n  - a\n  - b\n").skill?.allowedTools).toEqual([
      "a",
      "b",
    ]);
  });

  test("leaves out what is empty or null", () => {
    expect(check("name: pdf\ndescription: x\nlicense:\ncompatibility: null\nmetadata:\n").skill).toEqual({
      name: "pdf",
      description: "x",
      path: "/skills/pdf/SKILL.md",
    });
  });

  test.each([
    ["description: x\n", /no 'name'/],
    ["name: pdf\n", /no 'description'/],
    ["name: pdf\ndescription:\n", /no 'description'/],
    ["name:\n  - pdf\ndescription: x\n", /no 'name'/],
  ])("%j cannot be used", (text, reason) => {
    const { skill, warnings } = check(text);
    expect(skill).toBeUndefined();
    expect(warnings).toMatchObject([{ code: "INVALID_FRONT_MATTER", path: "/skills/pdf/SKILL.md" }]);
    expect(warnings[0]?.message).toMatch(reason);
  });

  test("with a key that could reach prototypes is refused, wherever it stands", () => {
    const inside = new Map([["__proto__", "x"]]);
    const fields = new Map<string, never>([
      ["name", "pdf" as never],
      ["description", "x" as never],
      ["metadata", inside as never],
    ]);
    expect(checkSkill(fields, "/s/pdf/SKILL.md", "pdf").skill).toBeUndefined();
    expect(checkSkill(new Map([["__proto__", "x"]]), "/s/pdf/SKILL.md", "pdf").skill).toBeUndefined();
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test.each([
    ["other", "other", /lies in 'pdf'/],
    ["My Skill", "My Skill", /lower-case/],
    ["a--b", "a--b", /hyphens/],
    ["x".repeat(80), "x".repeat(64), /cut to 64/],
  ])("the name %j is kept as %j, with a warning", (given, kept, reason) => {
    const { skill, warnings } = check(`name: ${given}\ndescription: x\n`);
    expect(skill?.name).toBe(kept);
    expect(warnings).toMatchObject([{ code: "SKILL_IRREGULAR" }]);
    expect(warnings[0]?.message).toMatch(reason);
  });

  test("names in other scripts are regular", () => {
    expect(check("name: 文档-2\ndescription: x\n", "文档-2").warnings).toEqual([]);
  });

  test("a long description is cut and marked, without half a character", () => {
    const { skill, warnings } = check(`name: pdf\ndescription: a${"😀".repeat(600)}\n`);
    expect(skill?.description.length).toBeLessThanOrEqual(MAX_SKILL_DESCRIPTION_LENGTH);
    expect(skill?.description).toMatch(/^a(?:😀)+…$/u);
    expect(warnings[0]?.message).toMatch(/cut/);
  });

  test("the limit of a file is 10 MB", () => {
    expect(MAX_SKILL_FILE_SIZE).toBe(10 * 1024 * 1024);
  });
});
