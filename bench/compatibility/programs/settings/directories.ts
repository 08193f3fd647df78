/** Settings: where agents, memory and skills live. */
import { existsSync, mkdirSync } from "node:fs";
import { createAgent } from "langchain";
import { createAgentMemoryMiddleware, createSettings, findProjectRoot } from "library";
import { outcome } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";
import { scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const root = scratch("project");
  mkdirSync(`${root}/.git`);
  mkdirSync(`${root}/src/deep`, { recursive: true });
  const bare = scratch("no-project");
  const settings = createSettings({ startPath: `${root}/src/deep` });
  const without = createSettings({ startPath: bare });
  const skills = settings.ensureProjectSkillsDir();
  const agentDirectory = settings.ensureAgentDir("coder");
  fill(agentDirectory, { "agent.md": "I like short answers." });
  const model = scripted(["ok"]);
  const memory = createAgentMemoryMiddleware({ settings, assistantId: "coder" });
  await createAgent({ model, middleware: [memory] }).invoke({ messages: [{ role: "user", content: "hi" }] });
  const folder = (path: string | null) => path?.replace(".deepwright", ".deepagents") ?? null;
  return {
    found: findProjectRoot(`${root}/src/deep`),
    projectRoot: settings.projectRoot,
    hasProject: [settings.hasProject, without.hasProject],
    userDirectory: folder(settings.userDeepagentsDir),
    agentDirectory: folder(settings.getAgentDir("coder")),
    agentFile: folder(settings.getUserAgentMdPath("coder")),
    projectFile: folder(settings.getProjectAgentMdPath()),
    userSkills: folder(settings.getUserSkillsDir("coder")),
    projectSkills: folder(settings.getProjectSkillsDir()),
    made: [existsSync(skills ?? ""), existsSync(agentDirectory)],
    withoutProject: [without.getProjectAgentMdPath(), without.ensureProjectSkillsDir()],
    badName: await outcome(() => settings.getAgentDir("../escape")),
    remembered: model.requests[0]?.system.includes("I like short answers."),
  };
}
