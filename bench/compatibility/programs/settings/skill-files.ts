/** Skills read from directories on disk. */
import {
  listSkills,
  MAX_SKILL_DESCRIPTION_LENGTH,
  MAX_SKILL_FILE_SIZE,
  MAX_SKILL_NAME_LENGTH,
  parseSkillMetadata,
} from "library";
import { fill, scratch } from "../../kit/scratch.ts";

const skill = (name: string, description: string, more = "") =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\nBody.\n`;

export default async function program() {
  const root = scratch("skill-files");
  const more =
    "license: MIT\ncompatibility: needs git\nallowed-tools: read_file grep\nmetadata:\n  author: ann\n  version: 2\n";
  fill(root, {
    "user/web/SKILL.md": skill("web", "from the user", more),
    "user/long/SKILL.md": skill("long", "d".repeat(2000)),
    "user/wrong-name/SKILL.md": skill("Other Name", "not the name of its directory"),
    "user/no-description/SKILL.md": "---\nname: no-description\n---\n",
    "user/not-yaml/SKILL.md": "---\n: : :\n  - {\n---\n",
    "project/web/SKILL.md": skill("web", "from the project"),
    "project/new/SKILL.md": skill("new", 'quoted: "yes"'),
  });
  const parse = (path: string) => parseSkillMetadata(`${root}/${path}/SKILL.md`, "user");
  const both = listSkills({ userSkillsDir: `${root}/user`, projectSkillsDir: `${root}/project` });
  return {
    limits: [MAX_SKILL_DESCRIPTION_LENGTH, MAX_SKILL_FILE_SIZE, MAX_SKILL_NAME_LENGTH],
    web: parse("user/web"),
    long: parse("user/long")?.description.length,
    broken: ["user/no-description", "user/not-yaml", "user/nowhere"].map(parse),
    listed: both.map(({ name, source, description }) => [name, source, description.slice(0, 20)]).sort(),
    userOnly: listSkills({ userSkillsDir: `${root}/user` })
      .map((one) => one.name)
      .sort(),
    nothing: listSkills({ userSkillsDir: null, projectSkillsDir: `${root}/none` }),
  };
}
