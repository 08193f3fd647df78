import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Answer, providerServer } from "../test-support/provider-server.ts";
import { type BinaryResult, directoryWith, homeOf, runBinary } from "../test-support/run-binary.ts";
import { threadsIn } from "../test-support/threads-in.ts";
import { findKnowledge, knowledgeLine } from "./knowledge.ts";
import { ProjectFiles } from "./project-files.ts";

const skill = (name: string): string =>
  `---\nname: ${name}\ndescription: How to ${name}\n---\nBody of ${name}\n`;
const BOTH = { memory: true, skills: true };

async function found(project: Record<string, string>, home: Record<string, string>, options = BOTH) {
  const [cwd, user] = [await directoryWith(project), await directoryWith(home)];
  const files = new ProjectFiles({ rootDir: cwd, virtualMode: true });
  return findKnowledge(files, options, { DEEPWRIGHT_HOME: user });
}

describe("what an agent is told beside its task", () => {
  it("is what the directory and the user have, those of the directory last", async () => {
    const project = {
      "AGENTS.md": "x",
      "skills/a/SKILL.md": skill("a"),
      ".agents/skills/b/SKILL.md": skill("b"),
      ".deepwright/skills/c/SKILL.md": skill("c"),
    };
    const user = { "AGENTS.md": "mine", "skills/d/SKILL.md": skill("d"), "state.db": "threads" };
    const known = await found(project, user);
    expect(known).toMatchObject({
      memory: ["/.user/memory/AGENTS.md", "/AGENTS.md"],
      skills: ["/.user/skills/", "/skills/", "/.agents/skills/", "/.deepwright/skills/"],
      readOnly: ["/.user/memory/AGENTS.md"],
      warnings: [],
    });
    expect(knowledgeLine(known)).toBe(
      "Memory: the user's AGENTS.md, /AGENTS.md · Skills: the user's skills, /skills/, /.agents/skills/, /.deepwright/skills/",
    );
    expect(await found(project, user, { memory: false, skills: false })).toMatchObject({
      memory: [],
      skills: [],
      mounts: {},
    });
  });

  it("a directory of another kind that is called skills is none", async () => {
    const known = await found({ "skills/readme.txt": "x", "skills/deep/er/SKILL.md": "x" }, {});
    expect(known).toMatchObject({ memory: [], skills: [], mounts: {} });
    expect(knowledgeLine(known)).toBeUndefined();
  });

  it("what is the user's cannot be changed, and nothing beside it can be reached", async () => {
    const { mounts } = await found(
      {},
      { "AGENTS.md": "mine", "skills/d/SKILL.md": skill("d"), "state.db": "threads" },
    );
    const [memory, skills] = [mounts["/.user/memory/"], mounts["/.user/skills/"]];
    expect((await memory?.ls("/"))?.files).toMatchObject([{ path: "/AGENTS.md" }]);
    expect((await skills?.ls("/"))?.files).toMatchObject([{ path: "/d/" }]);
    expect(await memory?.write("/AGENTS.md", "x", { overwrite: true })).toMatchObject({
      code: "PERMISSION_DENIED",
    });
    expect(await skills?.edit("/d/SKILL.md", "Body", "x")).toMatchObject({ code: "PERMISSION_DENIED" });
    expect((await skills?.read("/../state.db"))?.error).toBeDefined();
  });

  it("a link out of the directory is no memory and no skill", async () => {
    const outside = await directoryWith({ "AGENTS.md": "secret", "s/SKILL.md": skill("s") });
    const cwd = await directoryWith({});
    await symlink(join(outside, "AGENTS.md"), join(cwd, "AGENTS.md"));
    await symlink(outside, join(cwd, "skills"));
    const files = new ProjectFiles({ rootDir: cwd, virtualMode: true });
    expect(await findKnowledge(files, BOTH, { DEEPWRIGHT_HOME: outside })).toMatchObject({
      memory: ["/.user/memory/AGENTS.md"],
      skills: [],
    });
  });

  it("what is there and cannot be read is told", async () => {
    const { warnings } = await found({}, { "AGENTS.md": "x".repeat(2 ** 20 + 1) });
    expect(warnings).toEqual([expect.stringMatching(/^Too large, not read: .*AGENTS\.md$/)]);
    const user = await directoryWith({});
    await mkdir(join(user, "AGENTS.md"));
    const files = new ProjectFiles({ rootDir: user, virtualMode: true });
    expect((await findKnowledge(files, BOTH, { DEEPWRIGHT_HOME: user })).warnings).toEqual([
      expect.stringMatching(/AGENTS\.md \(EISDIR\)$/),
    ]);
  });
});

describe("a run of the program", () => {
  async function run(
    cwd: string,
    answers: readonly Answer[],
    ...args: string[]
  ): Promise<BinaryResult & { told: string[] }> {
    const server = await providerServer([...answers, { text: ["Done."] }]);
    onTestFinished(() => server.close());
    const env = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: server.url };
    const result = await runBinary(["run", "Work", ...args], { cwd, env });
    return { ...result, told: server.asked().map(({ body }) => JSON.stringify(body)) };
  }

  it("loads memory and skills of the directory and the user, and says so", async () => {
    const cwd = await directoryWith({ "AGENTS.md": "Use spaces.", "skills/bake/SKILL.md": skill("bake") });
    await mkdir(join(homeOf(cwd), "skills/swim"), { recursive: true });
    await writeFile(join(homeOf(cwd), "AGENTS.md"), "Answer in Latin.");
    await writeFile(join(homeOf(cwd), "skills/swim/SKILL.md"), skill("swim"));
    const reads: Answer = { call: { name: "read_file", args: { file_path: "/.user/skills/swim/SKILL.md" } } };
    const result = await run(cwd, [reads], "--json", "--trust");
    expect(result.stderr).toContain(
      "Memory: the user's AGENTS.md, /AGENTS.md · Skills: the user's skills, /skills/\n",
    );
    for (const words of ["Use spaces.", "Answer in Latin.", "How to bake", "How to swim"])
      expect(result.told[0]).toContain(words);
    expect(result.told[0]).not.toContain("Body of swim");
    expect(result.told[1]).toContain("Body of swim");
    expect(result.stderr).not.toContain("Changes:");
    const startOf = ({ stdout }: BinaryResult) => JSON.parse(stdout.split("\n")[0] ?? "").data;
    const type = "run-start";
    const memory = ["/.user/memory/AGENTS.md", "/AGENTS.md"];
    expect(startOf(result)).toEqual({ type, directory: cwd, memory, skills: ["/.user/skills/", "/skills/"] });
    const without = await run(cwd, [], "--json", "--no-memory", "--no-skills");
    expect(startOf(without)).toEqual({ type, directory: cwd, memory: [], skills: [] });
    for (const words of ["Use spaces.", "How to bake"]) expect(without.told[0]).not.toContain(words);
    expect(without.stderr).not.toContain("Memory:");
  });

  it("what is put aside is kept in the thread, not in the directory", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const server = await providerServer([{ text: ["Done."] }]);
    onTestFinished(() => server.close());
    const env = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: server.url };
    const stdin = `Summarise this.\n${"many different words here, ".repeat(30_000)}`;
    const result = await runBinary(["run", "-", "--json"], { cwd, env, stdin });
    expect(await readdir(cwd)).toEqual(["a.txt"]);
    const told = JSON.stringify(server.asked()[0]?.body);
    expect(told).toMatch(/\/(conversation_history|large_tool_results)\//);
    expect(told.length).toBeLessThan(stdin.length / 2);
    const end = JSON.parse(result.stdout.trimEnd().split("\n").at(-1) ?? "").data;
    expect(end).toMatchObject({ exitCode: 0, changes: { created: [], changed: [], deleted: [] } });
    const threads = (...args: string[]) => threadsIn(homeOf(cwd), args);
    const shown = await threads("show", end.threadId);
    expect(shown.stdout).not.toMatch(/\d files?: /);
    const undone = await threads("rewind", end.threadId, "-1", "--yes", "--in", cwd);
    expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining("no file changes") });
  });

  it("a skill that is broken is a warning, not a failure", async () => {
    const cwd = await directoryWith({
      "skills/bad/SKILL.md": "no front matter",
      "skills/good/SKILL.md": skill("good"),
    });
    const result = await run(cwd, []);
    expect(result.code).toBe(0);
    expect(result.stderr).toMatch(/^Warning: .*bad.*$/m);
    expect(result.told[0]).toContain("How to good");
  });
});
