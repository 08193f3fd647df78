import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { providerServer } from "./test-support/provider-server.ts";
import { directoryWith, runBinary } from "./test-support/run-binary.ts";

const CONTROL = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;
const LABEL =
  "No model key found: using the offline model. It is not an LLM: it follows a fixed routine with the tools.";

/** The scripts that processes with NODE_V8_COVERAGE loaded. */
async function scriptsIn(directory: string): Promise<string[]> {
  const reports = (await readdir(directory)).map((name) => readFile(join(directory, name), "utf8"));
  return (await Promise.all(reports)).flatMap((text) => {
    const { result } = JSON.parse(text) as { result: { url: string }[] };
    return result.map(({ url }) => url);
  });
}

describe("help, version and usage", () => {
  it("help and version load the command line and nothing else", async () => {
    const cwd = await directoryWith({});
    const env = { NODE_V8_COVERAGE: join(cwd, "loaded") };
    const help = await runBinary(["--help"], { cwd, env });
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("Examples:");
    const version = await runBinary(["--version"], { cwd, env });
    expect(version).toMatchObject({ code: 0, stderr: "" });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await runBinary(["-v"], { cwd })).stdout).toBe(version.stdout);
    const loaded = await scriptsIn(join(cwd, "loaded"));
    expect(loaded.filter((url) => /\/cli\/(src|dist)\/main\.[tj]s$/.test(url))).toHaveLength(2);
    const files = loaded.filter((url) => url.startsWith("file:"));
    const expected = /\/node_modules\/commander\/|\/cli\/dist\/(main|chunks\/(chunk|command-line)-\w+)\.js$/;
    expect(files.filter((url) => !expected.test(url))).toEqual([]);
    const texts = await Promise.all(files.map((url) => readFile(new URL(url), "utf8")));
    expect(texts.join()).not.toContain("pi-tui/dist");
  });

  it("the help of run names every option and every exit code", async () => {
    const { code, stdout } = await runBinary(["run", "--help"], { cwd: await directoryWith({}) });
    expect(code).toBe(0);
    for (const name of [
      "model",
      "base-url",
      "in",
      "dry-run",
      "ask",
      "yes",
      "wait",
      "approve",
      "reject",
      "max-steps",
      "max-cost",
      "max-tokens",
      "max-seconds",
      "json",
      "system",
      "timeout",
      "quiet",
      "verbose",
    ])
      expect(stdout).toContain(`--${name}`);
    expect(stdout).toContain("130 interrupted");
    expect(stdout).not.toContain("--out");
  });

  it.each<[string, string[], string]>([
    ["no command", [], "Usage: deepwright"],
    ["an unknown command", ["fly"], "unknown command 'fly'"],
    ["a task without run", ["describe", "this project", "-q"], 'deepwright run "describe this project"\n'],
    ["a task that quotes do not hold", ["say `ls`"], 'For a task: deepwright run "…"\n'],
    ["an unknown option", ["run", "x", "--jsn"], "Did you mean --json?"],
    ["no task", ["run"], "The task read from stdin is empty"],
    ["an empty task", ["run", ""], "The task is empty"],
    ["an option without its value", ["run", "x", "--in"], "argument missing"],
    ["an empty option", ["run", "x", "--in", ""], "--in is empty"],
    ["a time that is no number", ["run", "x", "--timeout", "soon"], "--timeout must be a number of seconds"],
    ["quiet and verbose", ["run", "x", "-q", "-v"], "exclude each other"],
    ["a model that is no name", ["run", "x", "--model", "gpt"], "--model must be provider:model"],
    ["a provider nobody knows", ["run", "x", "--model", "foo:bar"], "unknown provider: 'foo'"],
    ["a directory that is not there", ["run", "x", "--in", "nowhere"], "There is no directory 'nowhere'"],
    ["a file to work in", ["run", "x", "--in", "file.txt"], "--in must be a directory, but 'file.txt' is"],
    ["the --out of older versions", ["run", "x", "--out", "o"], "--out was removed: changes are made in"],
    ["the same without its value", ["run", "x", "--out"], "With --dry-run they are only shown"],
  ])("%s is wrong usage: 2, with a hint, and nothing on stdout", async (_, args, message) => {
    const result = await runBinary(args, { cwd: await directoryWith({ "file.txt": "x" }) });
    expect(result.stderr).toContain(message);
    expect(result).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("a run without any key", () => {
  it("says it is the offline model, works in the directory, and says what it wrote", async () => {
    const cwd = await directoryWith({
      "README.md": "# Rocket\n\n## Fuel\n",
      "src/engine.ts": "// TODO: ignite\n",
      ".gitignore": "ignored.txt\n",
      "ignored.txt": "TODO: never seen",
      "data.bin": new Uint8Array([0, 1, 2]),
    });
    const result = await runBinary(["run", "Describe", "the", "engine", "in", "report.md"], { cwd });
    expect(result.stderr.split("\n").filter((line) => /^\S.*offline model/.test(line))).toEqual([LABEL]);
    expect(result.stderr).toContain(`Workspace: ${cwd} (the directory itself)\n`);
    expect(result.stderr).toContain("● glob **/*");
    expect(result.stderr).toContain("☑ Write a report");
    expect(result.stderr).toContain(`Changes:\n  + /report.md\nWrote 1 file in ${cwd}\n`);
    expect(result.stderr).toMatch(/✔ done · [\d.]+ s/);
    expect(result.stdout).toMatch(/^I am the offline model, not an LLM/);
    expect(result.code).toBe(0);
    const report = await readFile(join(cwd, "report.md"), "utf8");
    expect(report).toContain("> Describe the engine in report.md");
    expect(report).toContain("/src/engine.ts:1: // TODO: ignite");
    expect(report).not.toContain("ignored.txt");
    expect((await readdir(cwd)).sort()).toEqual([
      ".gitignore",
      "README.md",
      "data.bin",
      "ignored.txt",
      "report.md",
      "src",
    ]);
    expect(result.all).not.toMatch(CONTROL);
  });

  it("works in the directory that --in names, on a task from stdin", async () => {
    const cwd = await directoryWith({ "sub/a.txt": "x" });
    const result = await runBinary(["run", "-", "--in", "sub"], { cwd, stdin: "Write notes.md" });
    expect(result.stderr).toContain(`  + /notes.md\nWrote 1 file in ${join(cwd, "sub")}\n`);
    expect(result.code).toBe(0);
    expect([await readdir(cwd), (await readdir(join(cwd, "sub"))).sort()]).toEqual([
      ["sub"],
      ["a.txt", "notes.md"],
    ]);
  });

  it("leaves no file behind unless the task asks for one, and prints its report", async () => {
    const cwd = await directoryWith({ "a.txt": "TODO: x" });
    const result = await runBinary(["run", "Look at a.txt"], { cwd });
    expect(result.stdout).toContain("# Report of the offline model");
    expect(result.stdout).toContain("/a.txt:1: TODO: x");
    expect(await readdir(cwd)).toEqual(["a.txt"]);
  });

  it("adds what is piped to the task and says so, and leaves the report of an earlier run alone", async () => {
    const cwd = await directoryWith({ "a.txt": "x", "report.md": "an old report" });
    const result = await runBinary(["run", "Review this in report.md"], { cwd, stdin: "+ piped line\n" });
    expect(result.stderr).toContain("Task: 12 B from stdin added to it\n");
    expect(result.stderr).toContain("  + /report-2.md\n");
    expect(await readFile(join(cwd, "report-2.md"), "utf8")).toContain("+ piped line");
    expect(await readFile(join(cwd, "report.md"), "utf8")).toBe("an old report");
  });

  it("does not hang on a pipe that stays idle", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const result = await runBinary(["run", "Look", "--quiet"], { cwd, idleStdin: true });
    expect(result.stderr).toContain("Nothing came on stdin within 2 s: it is not read.");
    expect(result.code).toBe(0);
  });

  it("quiet leaves the warning and the answer", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const result = await runBinary(["run", "Look", "--quiet"], { cwd });
    expect(result.stderr).toBe(`${LABEL}\n`);
    expect(result.stdout).toContain("The workspace has 1 file");
  });

  it("file names with control characters reach neither terminal nor report (TI-01)", async () => {
    const cwd = await directoryWith({ "ok.txt": "x" });
    await writeFile(join(cwd, "evil\x1b]0;owned\x07.txt"), "TODO: owned");
    await writeFile(join(cwd, "todo.txt"), "TODO \x1b[2J\x9b31m \u202eevil\n");
    const result = await runBinary(["run", "evil todo", "--verbose"], { cwd });
    expect(result.code).toBe(0);
    expect(result.all).not.toMatch(CONTROL);
    expect(result.stderr).toContain("TODO \\x1b[2J");
  });
});

describe("--json", () => {
  it("prints parts of a v2 stream, one a line, and nothing else on stdout", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const result = await runBinary(["run", "Write report.md", "--json"], { cwd });
    expect(result.code).toBe(0);
    const parts = result.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const part of parts) {
      expect(Object.keys(part).sort()).toEqual(["data", "ns", "type"]);
      expect(["updates", "messages", "custom"]).toContain(part.type);
      expect(Array.isArray(part.ns)).toBe(true);
    }
    const updates = parts.filter(({ type }) => type === "updates");
    expect(updates[0].data.model_request.messages[0]).toMatchObject({
      type: "ai",
      role: "assistant",
      tool_calls: [{ name: "write_todos" }],
    });
    expect(JSON.stringify(updates)).toContain('"role":"tool"');
    const words = parts.filter(({ type }) => type === "messages").map(({ data }) => data[0].content);
    expect(words.join("")).toContain("I am the offline model");
    expect(parts.at(-1)).toMatchObject({
      type: "custom",
      ns: [],
      data: {
        type: "run-end",
        outcome: { kind: "done" },
        exitCode: 0,
        directory: cwd,
        changes: { created: ["/report.md"], changed: [], deleted: [] },
        notWritten: [],
      },
    });
    for (const name of ["written", "refused", "dryRun", "patches"])
      expect(parts.at(-1).data).not.toHaveProperty(name);
  });

  it("carries no raw control character and no key, and says at the end what failed", async () => {
    const key = "sk-live-0123456789abcdef";
    const evil = "\x1b[2J\x9b1m\u202e\u2028";
    const server = await providerServer([
      { text: [evil], call: { name: "ls", args: { path: evil } } },
      { status: 401, body: { error: { message: `bad ${key}` } } },
    ]);
    const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.url };
    const result = await runBinary(["run", "Look", "--json"], { cwd: await directoryWith({}), env });
    await server.close();
    expect(result.all).not.toMatch(CONTROL);
    expect(result.all).not.toContain(key);
    expect(result.stdout).toContain("\\u009b1m");
    const last = JSON.parse(result.stdout.trimEnd().split("\n").at(-1) ?? "");
    expect(last.data).toMatchObject({ type: "run-end", end: "failed", exitCode: 1 });
    expect(last.data.error).toContain("the provider refused the key (HTTP 401)");
    expect(result.code).toBe(1);
  });

  it("a run that cannot start still ends with a part", async () => {
    const cwd = await directoryWith({});
    const result = await runBinary(["run", "Look", "--json", "--model", "openai:x"], { cwd });
    const data = { type: "run-end", end: "failed", exitCode: 1 };
    expect(JSON.parse(result.stdout)).toMatchObject({ type: "custom", ns: [], data });
  });
});

describe("output that is no terminal", () => {
  it("gets no escape at all, even when colours are asked for (TI-03)", async () => {
    const evil = "Hello \x1b[31mred\x1b[0m \x9b2J\rover\u202e\n";
    const server = await providerServer([{ text: [evil.slice(0, 8), evil.slice(8)] }]);
    const env = { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: server.url, FORCE_COLOR: "1" };
    const result = await runBinary(["run", "Talk"], { cwd: await directoryWith({}), env });
    await server.close();
    expect(result.all).not.toMatch(CONTROL);
    expect(result.stdout).toBe("Hello \\x1b[31mred\\x1b[0m \\x9b2J\\rover\\u202e\n");
  });
});

it("an error that ends the program shows no value of a secret variable", async () => {
  const env = { SOME_TOKEN: "token-value-4711" };
  const args = ["mcp", "list", "--in", "/nowhere/token-value-4711"];
  const { code, all } = await runBinary(args, { cwd: await directoryWith({}), env });
  expect([code, all]).toEqual([2, expect.stringContaining("/nowhere/[SOME_TOKEN]")]);
  expect(all).not.toContain("4711");
});
