/** Effects of settings, hooks, agents and commands in `deepwright run`, through the real program. */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Answer, type ProviderServer, providerServer } from "../test-support/provider-server.ts";
import { directoryWith, homeOf, runBinary } from "../test-support/run-binary.ts";
import { startAtTerminal } from "../test-support/terminal.ts";

async function serverWith(answers: readonly Answer[]): Promise<ProviderServer> {
  const server = await providerServer(answers, ["tiny"]);
  onTestFinished(() => server.close());
  return server;
}

async function inHome(directory: string, name: string, content: unknown): Promise<void> {
  const path = join(homeOf(directory), name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
}

function environment(server: ProviderServer): Record<string, string> {
  return { OPENAI_API_KEY: "sk-test-0000", OPENAI_BASE_URL: `${server.url}/v1` };
}

function toolResults(server: ProviderServer): readonly string[] {
  const messages = server.asked().at(-1)?.body.messages as { role: string; content: unknown }[];
  return messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content));
}

const write = (path: string): Answer => ({
  call: { name: "write_file", args: { file_path: path, content: "x" } },
});
const execute = (command: string): Answer => ({ call: { name: "execute", args: { command } } });

describe("settings in a run", () => {
  it("the user's settings choose the model, deny paths and commands, allow a command, and hooks see and refuse calls", async () => {
    const server = await serverWith([
      { status: 404, body: { error: { message: "no such model" } } },
      write("/secrets/a.txt"),
      write("/blocked.txt"),
      execute("curl http://x.test"),
      execute("touch made.txt"),
      { text: ["done"] },
    ]);
    const directory = await directoryWith({ "RULES.md": "Answer in rhymes." });
    const log = `${directory}.home/hooks.jsonl`;
    const note = `cat >> '${log}'`;
    await inHome(
      directory,
      "guard.sh",
      "grep -q blocked.txt && { echo 'not that file' >&2; exit 2; }; exit 0",
    );
    await inHome(directory, "AGENTS-more.md", "Be brief.");
    await inHome(directory, "settings.json", {
      model: "openai:first",
      fallbacks: ["openai:second"],
      permissions: [{ operations: ["read", "write"], paths: ["/secrets/**"], mode: "deny" }],
      commands: { allow: ["touch *"], deny: ["curl"] },
      memory: { files: ["AGENTS-more.md"] },
      hooks: {
        "run-start": [{ command: note }],
        "before-tool": [{ command: `sh '${homeOf(directory)}/guard.sh'`, tools: ["write_*"] }],
        "after-tool": [{ command: note, tools: ["execute"] }],
        "run-end": [{ command: note }, { command: "exit 3" }],
      },
    });
    const { code, all } = await runBinary(["run", "go"], { cwd: directory, env: environment(server) });
    expect({ code, all }).toMatchObject({ code: 0 });
    expect(all).toContain(`Model: openai:first (model in ${homeOf(directory)}/settings.json)`);
    expect(all).toContain("Warning: The run-end hook 'exit 3' ended with 3");
    const models = server.asked().map(({ body }) => body.model);
    expect(models[0]).toBe("first");
    expect(models).toContain("second");
    const results = toolResults(server).join("\n");
    expect(results).toContain("permission denied for write on /secrets/a.txt");
    expect(results).toContain("did not run, a hook refused it: not that file");
    expect(results).toContain("A rule refuses `curl`");
    expect(JSON.stringify(server.asked()[0]?.body.messages)).toContain("Be brief.");
    await expect(readFile(join(directory, "made.txt"), "utf8")).resolves.toBe("");
    const events = (await readFile(log, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ event }) => event)).toEqual(["run-start", "after-tool", "run-end"]);
    expect(events[0]).toMatchObject({ directory, task: "go" });
    expect(events[1]).toMatchObject({ tool: "execute", args: { command: "touch made.txt" } });
    expect(events[2]).toMatchObject({ end: "outcome", exitCode: 0 });
  });

  it("a hook sees the calls of subagents, and one that does not end in time refuses its call and is ended", async () => {
    const server = await serverWith([
      { call: { name: "task", args: { subagent_type: "general-purpose", description: "write it" } } },
      write("/blocked.txt"),
      { text: ["sub done"] },
      execute("ls"),
      { text: ["done"] },
    ]);
    const directory = await directoryWith({});
    const pid = `${directory}.home/pid`;
    await inHome(directory, "settings.json", {
      hooks: {
        "before-tool": [
          { command: "echo 'by nobody' >&2; exit 2", tools: ["write_file"] },
          { command: `echo $$ > '${pid}'; exec sleep 3600`, timeout: 1, tools: ["execute"] },
        ],
      },
    });
    const run = await runBinary(["run", "go"], { cwd: directory, env: environment(server) });
    expect(run).toMatchObject({ code: 0 });
    const child = JSON.stringify(server.asked()[2]?.body.messages);
    expect(child).toContain("did not run, a hook refused it: by nobody");
    expect(toolResults(server).join()).toContain("did not end within 1 s");
    const sleeper = Number(await readFile(pid, "utf8"));
    expect(() => process.kill(sleeper, 0)).toThrow("ESRCH");
  });

  it("a project's hooks stop a run without a person, are shown at a terminal, and run once they are trusted", async () => {
    const server = await serverWith([{ text: ["done"] }]);
    const settings = { hooks: { "run-start": [{ command: "sh ./hook.sh" }] }, commands: { allow: ["rm *"] } };
    const directory = await directoryWith({
      "hook.sh": "touch ran.txt",
      ".deepwright/settings.json": JSON.stringify(settings),
    });
    const options = { cwd: directory, env: environment(server) };
    const refused = await runBinary(["run", "go"], options);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("you have not trusted them as they are now: hooks in");
    expect(server.asked()).toHaveLength(0);
    const terminal = startAtTerminal(["run", "go"], options);
    await terminal.answer("Trust them as they are now? [y/N]", "y\r");
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain(
      `/.deepwright/settings.json hooks: {"run-start":[{"command":"sh ./hook.sh"}]}`,
    );
    await expect(readFile(join(directory, "ran.txt"), "utf8")).resolves.toBe("");
    const trusted = await runBinary(["run", "go", "--quiet"], options);
    expect(trusted.code).toBe(0);
    await writeFile(
      join(directory, ".deepwright/settings.json"),
      JSON.stringify({ ...settings, theme: "dark" }),
    );
    const changed = await runBinary(["run", "go"], options);
    expect(changed.code).toBe(2);
  });

  it("agents, commands and skills of a trusted project are used; an agent's tools are all it has", async () => {
    const server = await serverWith([
      { call: { name: "task", args: { subagent_type: "reader", description: "read it" } } },
      { call: { name: "write_file", args: { file_path: "/b.txt", content: "x" } } },
      { text: ["sub done"] },
      { text: ["done"] },
    ]);
    const directory = await directoryWith({
      ".claude/agents/reader.md":
        "---\nname: reader\ndescription: Reads files\nmodel: sonnet\ntools: Read, Grep\n---\nYou only read.",
      ".deepwright/commands/review.md": "---\ndescription: Review\n---\nReview $1 with care: $ARGUMENTS",
      ".claude/skills/one/SKILL.md": "---\nname: one\ndescription: Skill of Claude\n---\nx",
      ".deepwright/skills/one/SKILL.md": "---\nname: one\ndescription: Skill of ours\n---\nx",
    });
    const options = { cwd: directory, env: environment(server) };
    const untrusted = await runBinary(["run", "/review a.ts b"], options);
    expect(untrusted.code).toBe(2);
    expect(untrusted.stderr).toContain("The command '/review' is /.deepwright/commands/review.md");
    expect((await runBinary(["trust", "--yes"], options)).stderr).toContain("/.claude/agents/reader.md");
    const run = await runBinary(["run", "/review a.ts b"], options);
    expect(run).toMatchObject({ code: 0 });
    const [first, child] = server.asked();
    const messages = JSON.stringify(first?.body.messages);
    expect(messages).toContain("Review a.ts with care: a.ts b");
    expect(messages).toContain("Skill of ours");
    expect(messages).not.toContain("Skill of Claude");
    expect(JSON.stringify(child?.body.messages)).toContain("You only read.");
    const offered: { function: { name: string } }[] = child?.body.tools ?? [];
    const tools = offered.map((tool) => tool.function.name);
    expect(tools.toSorted()).toEqual(["grep", "read_file"]);
    expect(JSON.stringify(server.asked()[2]?.body.messages)).toContain("This agent has no tool write_file");
  });

  it("plan mode only looks; memory files of settings are instructions in a trusted directory; a hook answers for a person", async () => {
    const server = await serverWith([
      write("/a.txt"),
      { text: ["planned"] },
      execute("touch made.txt"),
      { text: ["done"] },
    ]);
    const settings = { memory: { files: ["RULES.md"] } };
    const directory = await directoryWith({
      "RULES.md": "Answer in rhymes.",
      ".deepwright/settings.json": JSON.stringify(settings),
    });
    await inHome(directory, "settings.json", {
      hooks: { "before-approval": [{ command: "echo 'not today' >&2; exit 2", tools: ["execute"] }] },
    });
    const env = environment(server);
    const planned = await runBinary(["run", "go", "--trust"], {
      cwd: directory,
      env: { ...env, DEEPWRIGHT_MODE: "plan" },
    });
    expect(planned).toMatchObject({ code: 0 });
    const [first] = server.asked();
    expect(JSON.stringify(first?.body.tools)).not.toContain('"execute"');
    const [system] = first?.body.messages ?? [];
    expect(JSON.stringify(system)).toContain("Answer in rhymes.");
    expect(JSON.stringify(system)).toContain("End with a plan");
    expect(toolResults(server).join()).toContain("permission denied for write on /a.txt");
    expect((await runBinary(["trust", "--yes"], { cwd: directory, env })).stderr).toContain("/RULES.md");
    expect(await runBinary(["run", "go"], { cwd: directory, env })).toMatchObject({ code: 0 });
    expect(JSON.stringify(server.asked()[2]?.body.messages[0])).toContain("Answer in rhymes.");
    expect(toolResults(server).join()).toContain(
      "The call of execute did not run, a hook refused it: not today",
    );
  });

  it("config shows where values come from, sets and edits them, and refuses what is wrong", async () => {
    const directory = await directoryWith({ "editor.sh": "sed -i 's/light/purple/' \"$1\"" });
    await chmod(join(directory, "editor.sh"), 0o700);
    const env = { EDITOR: join(directory, "editor.sh"), DEEPWRIGHT_MODE: "plan" };
    const config = (...words: string[]) => runBinary(["config", ...words], { cwd: directory, env });
    expect(await config("set", "theme", "light")).toMatchObject({ code: 0 });
    expect(await config("set", "commands.allow", '["npm test *"]', "--local")).toMatchObject({ code: 0 });
    const wrong = await config("set", "theme", "green");
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain("'theme' must be auto, light or dark");
    const { stdout } = await config("list");
    expect(stdout).toMatch(/commands\.allow +\["npm test \*"\] +\S+settings\.local\.json \(local\)/);
    expect(stdout).toMatch(/mode +plan +DEEPWRIGHT_MODE/);
    expect(stdout).toMatch(/theme +light +\S+settings\.json \(yours\)/);
    const edited = await config("edit");
    expect(edited.code).toBe(2);
    expect(edited.stderr).toContain(`must be auto, light or dark, but it is "purple"`);
    const got = await config("get", "theme");
    expect([got.stdout, got.code]).toEqual(["light\n", 0]);
  });
});
