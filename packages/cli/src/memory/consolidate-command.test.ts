import { readdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { holdThread } from "../test-support/held-thread.ts";
import { type Answer, type ProviderServer, providerServer } from "../test-support/provider-server.ts";
import {
  type BinaryResult,
  directoryWith,
  homeOf,
  runBinary,
  startBinary,
} from "../test-support/run-binary.ts";

const MEMORY = "# Style\n- uses tabs\n- short answers\n- lives in Rome\n- likes figs\n- writes Go\n";
const DONE: Answer = { text: ["Done."] };

function edits(old: string, now: string): Answer {
  return { call: { name: "edit_file", args: { file_path: "/AGENTS.md", old_string: old, new_string: now } } };
}

async function server(
  ...answers: Answer[]
): Promise<ProviderServer & { readonly env: Record<string, string> }> {
  const made = await providerServer([...answers, DONE]);
  onTestFinished(() => made.close());
  return Object.assign(made, { env: { ANTHROPIC_API_KEY: "key-key-key", ANTHROPIC_BASE_URL: made.url } });
}

/** A directory with a memory, in which one thread was held. */
async function directory(memory = MEMORY): Promise<string> {
  const cwd = await directoryWith({ "AGENTS.md": memory });
  await holdThread(cwd, "Use spaces, not tabs", "Noted.");
  return cwd;
}

async function consolidate(
  cwd: string,
  answers: Answer[],
  ...args: string[]
): Promise<BinaryResult & { told: string[] }> {
  const made = await server(...answers);
  const result = await runBinary(["memory", "consolidate", ...args], { cwd, env: made.env });
  return { ...result, told: made.asked().map(({ body }) => JSON.stringify(body)) };
}

const memoryOf = (cwd: string): Promise<string> => readFile(join(cwd, "AGENTS.md"), "utf8");

describe("deepwright memory consolidate", () => {
  it("reviews threads, changes AGENTS.md, keeps a diff beside the project, and does not look twice", async () => {
    const cwd = await directoryWith({ "AGENTS.md": MEMORY });
    const { env } = await server({ text: ["Noted."] });
    const run = ["run", "Use spaces, not tabs", "--no-memory"];
    expect(await runBinary(run, { cwd, env })).toMatchObject({ code: 0 });
    const look: Answer = { call: { name: "search_recent_conversations", args: { query: "spaces" } } };
    const result = await consolidate(cwd, [look, edits("- uses tabs", "- uses spaces")]);
    expect(result.stderr).toContain(
      "Reviewed 1 thread\n  ~ /AGENTS.md: 1 line removed, 1 added\n    - - uses tabs\n",
    );
    expect(result).toMatchObject({ code: 0, stdout: "Done.\n" });
    expect(result.told[1]).toContain("[0 user]\\n  Use spaces, not tabs");
    expect(await memoryOf(cwd)).toBe(MEMORY.replace("tabs", "spaces"));
    const [, diff = ""] = /^Diff: (.+)$/m.exec(result.stderr) ?? [];
    expect(diff.startsWith(join(homeOf(cwd), "memory_history"))).toBe(true);
    expect(await readFile(diff, "utf8")).toContain("-- uses tabs\n+- uses spaces\n");
    expect(await readdir(cwd)).toEqual(["AGENTS.md"]);
    const again = await consolidate(cwd, []);
    expect(again).toMatchObject({ code: 0, told: [] });
    expect(again.stderr).toContain(
      `✔ nothing new: no threads of ${cwd} since the last time (--all: threads of every directory) · `,
    );
  });

  it("makes AGENTS.md where there is none", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    await holdThread(cwd, "Hello", "Hello.");
    const write: Answer = {
      call: { name: "write_file", args: { file_path: "/AGENTS.md", content: "- polite\n" } },
    };
    expect(await consolidate(cwd, [write])).toMatchObject({ code: 0 });
    expect(await memoryOf(cwd)).toBe("- polite\n");
  });

  it("a dry run shows the diff and leaves no trace, and the next run sees the same threads", async () => {
    const cwd = await directory();
    const result = await consolidate(cwd, [edits("- uses tabs", "- uses spaces")], "--dry-run");
    expect(result.stderr).toContain("-- uses tabs\n+- uses spaces\n");
    expect(result.stderr).toContain("Nothing was written: --dry-run\n");
    expect(await memoryOf(cwd)).toBe(MEMORY);
    await expect(stat(join(homeOf(cwd), "memory_history"))).rejects.toThrow("ENOENT");
    const json = await consolidate(cwd, [edits("- uses tabs", "- uses spaces")], "--json", "--quiet");
    expect(JSON.parse(json.stdout)).toMatchObject({
      status: "done",
      exitCode: 0,
      directory: cwd,
      dryRun: false,
      offline: false,
      conversations: [{ title: "Use spaces, not tabs", messageCount: 2 }],
      removed: [{ path: "/AGENTS.md", line: "- uses tabs" }],
      diff: expect.stringContaining(".diff"),
    });
    expect(json.stderr).toBe("");
  });

  it("puts back what lost too much: 1, and the diff tells what was tried", async () => {
    const cwd = await directory();
    const result = await consolidate(cwd, [edits(MEMORY.slice(8), "- nothing\n")]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(
      "5 of its 6 lines were removed, which is more than 50 %: it was restored",
    );
    expect(await memoryOf(cwd)).toBe(MEMORY);
  });

  it("a failing provider is told: 1, and the threads wait for the next run", async () => {
    const cwd = await directory();
    const failed = await consolidate(cwd, [edits("- uses tabs\n", ""), { status: 401, body: {} }]);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/ {4}- - uses tabs\n[\s\S]*✘ failed: the provider refused the key/);
    expect((await consolidate(cwd, [])).stderr).toContain("Reviewed 1 thread\n");
  });

  it("the offline model says that it changes nothing, and leaves the threads for a real one", async () => {
    const cwd = await directory();
    const result = await runBinary(["memory", "consolidate"], { cwd });
    expect(result.code).toBe(0);
    expect(result.stdout).toContain("I listed 1 conversation, but I cannot judge");
    expect(result.stderr).toContain("Looked at 1 thread, none reviewed\n");
    expect(result.stderr).toContain("Nothing was written: the offline model cannot judge");
    expect(result.stderr).toContain("✔ nothing reviewed · ");
    const json = await runBinary(["memory", "consolidate", "--json"], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({ dryRun: false, offline: true });
    expect(JSON.parse(json.stdout)).not.toHaveProperty("diff");
    expect((await consolidate(cwd, [])).stderr).toContain("Reviewed 1 thread\n");
  });

  it("looks at threads of the directory alone, unless told otherwise, and not further back than --since", async () => {
    const cwd = await directory();
    const other = await directoryWith({ "a.txt": "x" });
    const [env, elsewhere] = [{ DEEPWRIGHT_HOME: homeOf(cwd) }, ["memory", "consolidate", "--in", other]];
    expect((await runBinary(elsewhere, { cwd, env })).stderr).toContain("nothing new");
    expect((await runBinary([...elsewhere, "--all"], { cwd, env })).stderr).toContain("Looked at 1 thread");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await consolidate(cwd, [], "--since", "1s", "--all")).stderr).toContain(
      "nothing new: no threads since the last time and within --since · ",
    );
  });

  it("two at once: the second says so and ends", async () => {
    const cwd = await directory();
    let letGo = (): void => {};
    const hold = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const made = await server({ text: ["Slow", "."], hold });
    const first = startBinary(["memory", "consolidate"], { cwd, env: made.env });
    await first.shows("Slow");
    const second = await consolidate(cwd, []);
    expect(second).toMatchObject({ code: 1, told: [] });
    expect(second.stderr).toContain("These memory files are being consolidated already.");
    letGo();
    expect(await first.result).toMatchObject({ code: 0 });
  });

  it("Ctrl-C ends it: 130, with a diff of what it did", async () => {
    const cwd = await directory();
    const made = await server(edits("- uses tabs\n", ""), {
      text: ["Slow", "."],
      hold: new Promise(() => {}),
    });
    const running = startBinary(["memory", "consolidate"], { cwd, env: made.env });
    await running.shows("Slow");
    running.child.kill("SIGINT");
    expect((await running.result).code).toBe(130);
    const [name = ""] = await readdir(join(homeOf(cwd), "memory_history"));
    expect((await readdir(join(homeOf(cwd), "memory_history", name))).sort()).toEqual([
      expect.stringMatching(/\.diff$/),
      "state.json",
    ]);
  });

  it("what a killed run changed is told by the next one", async () => {
    const cwd = await directory();
    const made = await server(edits("- uses tabs\n", ""), {
      text: ["Slow", "."],
      hold: new Promise(() => {}),
    });
    const running = startBinary(["memory", "consolidate"], { cwd, env: made.env });
    await running.shows("Slow");
    running.child.kill("SIGKILL");
    await running.result;
    let next = await consolidate(cwd, []);
    while (next.stderr.includes("consolidated already")) {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      next = await consolidate(cwd, []);
    }
    const [, diff = ""] = /^An earlier run did not end; changes since then: (.+)$/m.exec(next.stderr) ?? [];
    expect(await readFile(diff, "utf8")).toContain("-- uses tabs\n");
  });

  it("does not follow an AGENTS.md that leads out of the directory", async () => {
    const outside = await directoryWith({ "secret.md": "untouched" });
    const cwd = await directory();
    await rm(join(cwd, "AGENTS.md"));
    await symlink(join(outside, "secret.md"), join(cwd, "AGENTS.md"));
    const result = await consolidate(cwd, [edits("untouched", "evil")]);
    expect(result.code).toBe(1);
    expect(await readFile(join(outside, "secret.md"), "utf8")).toBe("untouched");
    expect(result.told).toEqual([]);
  });

  it("keeps line ends and byte order mark when a file is put back", async () => {
    const memory = `\ufeff${MEMORY.replaceAll("\n", "\r\n")}`;
    const cwd = await directory(memory);
    const before = await readFile(join(cwd, "AGENTS.md"));
    expect((await consolidate(cwd, [edits(MEMORY.slice(8), "- nothing\n")])).code).toBe(1);
    expect(await readFile(join(cwd, "AGENTS.md"))).toEqual(before);
  });
});

describe("help and usage of memory", () => {
  it("the help names every option, the exit codes and a line for cron", async () => {
    const { code, stdout } = await runBinary(["memory", "consolidate", "--help"], {
      cwd: await directoryWith({}),
    });
    expect(code).toBe(0);
    for (const name of [
      "since",
      "all",
      "in",
      "db",
      "model",
      "timeout",
      "dry-run",
      "json",
      "quiet",
      "verbose",
    ])
      expect(stdout).toContain(`--${name}`);
    expect(stdout).toContain("0 */6 * * *");
    expect(stdout).toContain("130 interrupted");
  });

  it("without any threads there is nothing new", async () => {
    const cwd = await directoryWith({});
    expect(await runBinary(["memory", "consolidate"], { cwd })).toMatchObject({ code: 0, stdout: "" });
    const json = await runBinary(["memory", "consolidate", "--json"], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "nothing-new", exitCode: 0 });
  });

  it.each<[string, string[], string]>([
    ["no command", [], "Usage: deepwright memory"],
    ["an unknown command", ["forget"], "unknown command 'forget'"],
    ["an age that is none", ["consolidate", "--since", "soon"], "--since must be an age such as"],
    ["a database that is not there", ["consolidate", "--db", "no.db"], "There is no database at"],
    ["a directory that is not there", ["consolidate", "--in", "no"], "There is no directory 'no'"],
  ])("%s is wrong usage: 2", async (_, args, message) => {
    const result = await runBinary(["memory", ...args], { cwd: await directoryWith({ "a.txt": "" }) });
    expect(result.stderr).toContain(message);
    expect(result).toMatchObject({ code: 2, stdout: "" });
  });
});
