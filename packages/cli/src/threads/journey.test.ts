import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { createDeepAgent } from "deepwright";
import { scriptedModel } from "deepwright/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { type Answer, type ProviderServer, providerServer } from "../test-support/provider-server.ts";
import { directoryWith, homeOf, runBinary, startBinary } from "../test-support/run-binary.ts";
import { threadsIn } from "../test-support/threads-in.ts";

const CONTROL = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;
const KEY = "key-sentinel-5e0d9b1c";

async function serverWith(
  answers: readonly Answer[],
): Promise<ProviderServer & { env: Record<string, string> }> {
  const server = await providerServer(answers);
  onTestFinished(() => server.close());
  return { ...server, env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url } };
}

function writes(path: string, content: string): Answer {
  return { call: { name: "write_file", args: { file_path: path, content } } };
}

/** The id a run names on stderr. */
function threadIn(stderr: string): string {
  return /^thread: (\S+)$/m.exec(stderr)?.[1] ?? "none";
}

function textOf(body: unknown): string {
  return JSON.stringify((body as { messages: unknown }).messages);
}

async function filesIn(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await readdir(directory)) found[name] = await readFile(join(directory, name), "utf8");
  return found;
}

async function contentOf(directory: string): Promise<Buffer> {
  const names = await readdir(directory);
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(directory, name)))));
}

describe("a thread from its first run to its end", () => {
  it("goes on, is shown, compared, rewound, exported, imported and deleted", async () => {
    const cwd = await directoryWith({ "a.txt": "first\n", "b.txt": "same\n" });
    const { env, asked } = await serverWith([
      writes("/plan.md", "one\n"),
      { call: { name: "edit_file", args: { file_path: "/a.txt", old_string: "first", new_string: "1st" } } },
      { call: { name: "delete", args: { file_path: "/b.txt" } } },
      { text: ["Planned."] },
      { text: ["I remember \x1b[31mred."] },
    ]);
    const run = (...args: string[]) => runBinary(args, { cwd, env });
    const threads = (...args: string[]) => threadsIn(homeOf(cwd), args);
    const json = async (...args: string[]) => JSON.parse((await threads(...args, "--json")).stdout);

    const first = await run("run", "Make a plan");
    expect(first).toMatchObject({ code: 0, stdout: "Planned.\n" });
    expect(first.stderr).toContain(
      `Changes:\n  + /plan.md\n  ~ /a.txt\n  - /b.txt\nWrote 2 files and deleted 1 in ${cwd}\n`,
    );
    const id = threadIn(first.stderr);
    const [prefix] = id.split("-") as [string];

    await writeFile(join(cwd, "a.txt"), "edited\n");
    const second = await run("run", "--thread", prefix, "What was the plan?", "--json");
    expect(second.stderr).toContain(`Workspace: ${cwd} (the directory itself)\nThread: 8 messages\n`);
    expect(JSON.parse(second.stdout.trimEnd().split("\n").at(-1) ?? "").data).toMatchObject({
      type: "run-end",
      threadId: id,
      changes: { created: [], changed: [], deleted: [] },
    });
    const history = textOf(asked().at(-1)?.body);
    for (const words of ["Make a plan", "Planned.", "What was the plan?"]) expect(history).toContain(words);

    const list = await run("threads", "list", "--cwd");
    expect(list.stdout).toMatch(new RegExp(`^THREAD .*\n${prefix}  .* 10 .* Make a plan\n$`));
    const shown = await threads("show", prefix);
    expect(shown.stdout).toContain("First prompt: Make a plan\n");
    expect(shown.stdout).toContain("1 file: /b.txt · Successfully deleted '/b.txt'");
    expect(shown.stdout).toContain("I remember \\x1b[31mred.");

    const [, step = ""] = /^ +(\d+) .*1 file: \/plan.md/m.exec(shown.stdout) ?? [];
    expect((await threads("diff", prefix, step)).stdout).toBe(
      `In ${cwd}:\n--- /dev/null\n+++ b/plan.md\n@@ -0,0 +1,1 @@\n+one\n`,
    );
    expect((await threads("diff", prefix, "-1")).stderr).toBe("No files changed.\n");

    const blamed = await run("threads", "blame", prefix, "plan.md");
    expect(blamed.stdout).toMatch(
      /^ +\[1\] 1 {2}one\n\n\[1\] step \d+ · agent · file tool .* asked: Make a plan\n$/,
    );

    const refused = await threads("rewind", prefix, "0");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("Confirm with --yes.");
    const dry = await threads("rewind", prefix, "0", "--dry-run", "--in", cwd);
    expect(dry.stdout).toContain(
      `after step 0:\n  + /b.txt in ${cwd}\n  - /plan.md in ${cwd}\n  ! /a.txt in ${cwd} is not changed: It was changed since`,
    );
    const rewound = await run("threads", "rewind", prefix, "0", "--yes");
    expect(await filesIn(cwd)).toEqual({
      "a.txt": "edited\n",
      "a.txt.restored": "first\n",
      "b.txt": "same\n",
    });
    const undo = /^Undo: deepwright (.*)$/m.exec(rewound.stdout)?.[1]?.split(" ") ?? [];
    expect((await run(...undo, "--yes")).code).toBe(0);
    expect(await filesIn(cwd)).toEqual({
      "a.txt": "edited\n",
      "a.txt.restored": "first\n",
      "plan.md": "one\n",
    });
    const restored = await run("threads", "restore", prefix, "--path", "plan.md", "--yes");
    expect(restored.stdout).toContain(`Restored:\n  - /plan.md in ${cwd}\n`);
    expect(Object.keys(await filesIn(cwd))).not.toContain("plan.md");
    const undoRestore = /^Undo: deepwright (.*)$/m.exec(restored.stdout)?.[1]?.split(" ") ?? [];
    expect((await run(...undoRestore, "--yes")).code).toBe(0);
    expect((await filesIn(cwd))["plan.md"]).toBe("one\n");
    expect(await json("show", id)).toMatchObject({ messageCount: 10 });

    const exported = await run("threads", "export", id);
    expect(exported).toMatchObject({ code: 0, stderr: "" });
    const copied = await runBinary(["threads", "import", "-", "--as", "copy"], {
      cwd,
      env,
      stdin: exported.stdout,
    });
    expect(copied).toMatchObject({ code: 0, stdout: "Imported copy.\n" });
    expect((await threads("delete", id, "--yes")).stdout).toBe(`Deleted ${prefix}.\n`);
    expect((await json("list")).threads.map(({ threadId }: any) => threadId)).toEqual(["copy"]);
    for (const { stdout, stderr } of [first, second, list, shown, dry, rewound, exported])
      expect(stdout + stderr).not.toMatch(CONTROL);
  });

  it("keys are nowhere in the database or the output (ST-04)", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const { env } = await serverWith([
      writes("/b", "b"),
      { status: 401, body: { error: { message: `bad ${KEY}` } } },
    ]);
    const failed = await runBinary(["run", "Work"], { cwd, env });
    expect(failed.code).toBe(1);
    const running = startBinary(["run", "--thread", threadIn(failed.stderr), "--json"], { cwd, env });
    const [{ all }, database] = [await running.result, await contentOf(homeOf(cwd))];
    expect(database.includes("Work")).toBe(true);
    expect(database.includes(KEY)).toBe(false);
    expect(failed.all + all).not.toContain(KEY);
    expect((await stat(homeOf(cwd))).mode & 0o777).toBe(0o700);
    for (const name of await readdir(homeOf(cwd)))
      expect((await stat(join(homeOf(cwd), name))).mode & 0o777).toBe(0o600);
  });

  it("a run that was killed goes on where it was, does nothing twice, and tells all it wrote", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const never = new Promise<void>(() => {});
    const { env, asked } = await serverWith([
      writes("/b", "b"),
      { text: ["Half an ans", "wer"], hold: never },
      writes("/c", "c"),
      { text: ["Finished."] },
    ]);
    const killed = startBinary(["run", "Write b"], { cwd, env });
    await until(() => asked().length === 2);
    killed.child.kill("SIGKILL");
    await killed.result;
    const [thread] = JSON.parse((await threadsIn(homeOf(cwd), ["list", "--json"])).stdout).threads;
    const resumed = await runBinary(["run", "--thread", thread.threadId], { cwd, env });
    expect(resumed.stderr).toContain("its last run continues\n");
    expect(resumed.stderr).toContain(`Changes:\n  + /b\n  + /c\nWrote 2 files in ${cwd}\n`);
    expect(await filesIn(cwd)).toEqual({ "a.txt": "x", b: "b", c: "c" });
    expect(resumed).toMatchObject({ code: 0, stdout: "Finished.\n" });
    expect(asked()).toHaveLength(4);
    expect(textOf(asked()[2]?.body)).toBe(textOf(asked()[1]?.body));
    const again = await runBinary(["run", "--thread", thread.threadId], { cwd, env });
    expect(again.stderr).toContain("The last run of this thread is finished: there is nothing to continue.");
    expect(again.code).toBe(2);
  });

  it("a run that ended between the results of a step and its checkpoint goes on, too", async () => {
    const cwd = await directoryWith({ "a.txt": "x" });
    const saver = await SqliteSaver.open(join(homeOf(cwd), "state.db"));
    const put = saver.put.bind(saver);
    let puts = 0;
    saver.put = async (...given) => {
      puts += 1;
      if (puts > 1) throw new Error("the end");
      return put(...given);
    };
    const agent = createDeepAgent({ model: scriptedModel(["never"]), checkpointer: saver });
    const input = { messages: [{ role: "user", content: "Go" }] };
    const config = { configurable: { thread_id: "early" }, durability: "sync" } as const;
    await expect(agent.invoke(input as never, config)).rejects.toThrow("the end");
    await saver.close();
    const { env } = await serverWith([writes("/b", "b"), { text: ["Finished."] }]);
    const resumed = await runBinary(["run", "--thread", "early"], { cwd, env });
    expect(resumed).toMatchObject({ code: 0, stdout: "Finished.\n" });
    expect(resumed.stderr).toContain(`Changes:\n  + /b\nWrote 1 file in ${cwd}\n`);
  });

  it("of two runs on one thread the second is told to wait", async () => {
    const cwd = await directoryWith({});
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { env, asked } = await serverWith([
      { text: ["One."] },
      { text: ["Two", "."], hold: held },
      { text: ["Three."] },
    ]);
    const id = threadIn((await runBinary(["run", "First"], { cwd, env })).stderr);
    const slow = startBinary(["run", "--thread", id, "Second"], { cwd, env });
    await until(() => asked().length === 2);
    const second = await runBinary(["run", "--thread", id, "Third"], { cwd, env });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(
      `deepwright: Another run is using the thread '${id}'. Wait for it to end, or start a new thread`,
    );
    const rewind = await threadsIn(homeOf(cwd), ["rewind", id, "0", "--yes", "--in", cwd]);
    expect(rewind.code).toBe(1);
    expect(rewind.stderr).toContain(`the thread '${id}'. Wait for it to end.`);
    expect(asked()).toHaveLength(2);
    release();
    expect((await slow.result).code).toBe(0);
    expect((await runBinary(["run", "--thread", id, "Third"], { cwd, env })).stdout).toBe("Three.\n");
  });
});
