/** Skills from two sources, and from a single directory. */

import { createAgent } from "langchain";
import {
  createDeepAgent,
  createFilesystemMiddleware,
  createSkillsMiddleware,
  FilesystemBackend,
} from "library";
import { fill, scratch } from "../../kit/scratch.ts";
import { scripted } from "../../kit/scripted-model.ts";

const skill = (name: string, description: string, more = "") =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n# ${name}\n\nBody of ${name}.\n`;
const input = { messages: [{ role: "user", content: "go" }] };

export default async function program() {
  const rootDir = scratch("skills");
  fill(rootDir, {
    "user/web/SKILL.md": skill("web", "Searches the web (user)."),
    "user/sql/SKILL.md": skill("sql", "Queries databases.", "license: MIT\nallowed-tools: read_file grep\n"),
    "project/web/SKILL.md": skill("web", "Searches the web (project)."),
    "project/broken/SKILL.md": "no front matter",
    "project/nothing/README.md": "not a skill",
    "single/SKILL.md": skill("single", "One directory."),
  });
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const deep = scripted(["done"]);
  await createDeepAgent({ model: deep, backend, skills: ["/user/", "/project/", "/single/"] }).invoke(input);
  const plain = scripted(["done"]);
  const middleware = createSkillsMiddleware({ backend, sources: ["/user/"] });
  await createAgent({
    model: plain,
    middleware: [createFilesystemMiddleware({ backend }), middleware],
  }).invoke(input);
  const none = scripted(["done"]);
  await createDeepAgent({ model: none, backend, skills: ["/nowhere/"] }).invoke(input);
  const system = deep.requests[0]?.system ?? "";
  return {
    name: middleware.name,
    descriptions: [
      "Searches the web (user).",
      "Searches the web (project).",
      "Queries databases.",
      "One directory.",
    ].map((text) => system.includes(text)),
    paths: ["/user/sql/SKILL.md", "/project/web/SKILL.md", "/single/SKILL.md", "/user/web/SKILL.md"].map(
      (path) => system.includes(path),
    ),
    bodies: /Body of/.test(system),
    license: system.includes("MIT"),
    allowedTools: system.includes("grep"),
    inCreateAgent: plain.requests[0]?.system.includes("Queries databases."),
    runsWithoutSkills: none.requests.length,
  };
}
