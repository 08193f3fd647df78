import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../../scripts/test-time.ts";
import { testEngine } from "../../sandboxes/src/docker/engine-for-tests.ts";
import { type Desk, DONE, desk, endOf, runs } from "./test-support/desk.ts";
import { homeOf, type RunningBinary, runBinary, startBinary } from "./test-support/run-binary.ts";
import { startAtTerminal } from "./test-support/terminal.ts";
import { threadsIn } from "./test-support/threads-in.ts";

const MENU = "decision: ";

/** Whether a process has this text in its command line. */
async function isAlive(text: string): Promise<boolean> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
  return lines.some((line) => line.includes(text));
}

/** A time to sleep that no other process sleeps. */
function ownSeconds(): string {
  return `98${Math.floor(Math.random() * 1e9)}`;
}

describe("commands run in a sandbox", () => {
  it("asks at a terminal, tells what a command can do, and runs it with no key in sight (SH-01)", async () => {
    const command = "id -un; env; cat /etc/shadow /root/x; touch /x ../x; echo hi > made.txt";
    const { attended, told, files, cwd } = await desk([runs(command)], { "a.txt": "a" });
    const terminal = attended(["Work"]);
    await terminal.shows("It runs in a sandbox: it can change only this directory, and reaches no network.");
    await terminal.answer(MENU, "y\r");
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain(
      "Commands: in a sandbox (they change only this directory and reach no network)",
    );
    expect(terminal.screen()).toContain("1 command ran and changed:");
    expect([await files(), await readFile(join(cwd, "made.txt"), "utf8")]).toEqual([
      ["a.txt", "made.txt"],
      "hi\n",
    ]);
    expect(told()).toContain("PATH=/usr");
    expect(told()).toMatch(/shadow: (No such file|Permission denied)/);
    for (const secret of ["key-key-key", "ANTHROPIC", "DEEPWRIGHT_HOME", "root:"])
      expect(told()).not.toContain(secret);
  });

  it("where nobody is, commands that only look run, the others are denied, and the code is 4", async () => {
    const denied = "echo b > b.txt";
    const { headless, server, files, cwd } = await desk(
      [runs("cat a.txt"), runs("cat .env"), runs("cat link.txt"), runs(denied)],
      {
        "a.txt": "what is in a",
        ".env": "KEY=sentinel",
      },
    );
    await symlink(".env", join(cwd, "link.txt"));
    const result = await headless(["Work"]);
    expect(result.code).toBe(4);
    const told = server.asked().map(({ body }) => JSON.stringify(body));
    expect(told[1]).toContain("what is in a");
    expect(told[2]).toContain("no person could be asked");
    expect(told.at(-1)).not.toContain("sentinel");
    expect(told[0]).toContain("every other command needs approval");
    expect(await files()).toEqual([".env", "a.txt", "link.txt"]);
    expect(result.stderr).toContain("Denied: execute (3 calls): no person is here to approve it\n");
  });

  it("--ask execute asks about all of them, and --ask none about those it would ask about anyway", async () => {
    const all = await desk([runs("ls")]);
    expect((await all.headless(["Work", "--ask", "execute"])).code).toBe(4);
    const none = await desk([runs("ls"), runs("touch x")]);
    const result = await none.headless(["Work", "--ask", "none"]);
    expect([result.code, result.stderr.includes("Denied: execute:"), await none.files()]).toEqual([
      4,
      true,
      [],
    ]);
  });

  it("with --yes they run, and the end tells what they changed, as does --json and a rewind", async () => {
    const { headless, cwd } = await desk([runs("echo b > b.txt; rm a.txt"), runs("true")], { "a.txt": "a" });
    const result = await headless(["Work", "--yes", "--json"]);
    const end = endOf(result);
    expect(end).toMatchObject({
      exitCode: 0,
      commands: { count: 2, created: ["/b.txt"], changed: [], deleted: ["/a.txt"] },
    });
    const rewind = ["rewind", end.threadId, "0", "--yes", "--json", "--in", cwd];
    const rewound = await threadsIn(homeOf(cwd), rewind);
    expect(JSON.parse(rewound.stdout)).toMatchObject({
      restored: [
        { path: "/a.txt", kind: "created", after: "a" },
        { path: "/b.txt", kind: "deleted" },
      ],
      notCovered: [],
    });
  });

  it("a command waits with the thread, and is approved from another process", async () => {
    const { headless, files, server } = await desk([runs("echo b > b.txt"), runs("echo c > c.txt")]);
    const waiting = await headless(["Work", "--wait"]);
    expect([waiting.code, await files()]).toEqual([4, []]);
    const [, id = ""] = waiting.stderr.match(/thread: (\S+)/) ?? [];
    const later = await headless(["--thread", id, "--approve"]);
    expect([later.code, await files(), server.asked().length]).toEqual([4, ["b.txt"], 3]);
    expect(later.stderr).toContain("Denied: execute: no person is here to approve it");
  });

  it("neither a .env nor programs of the directory take part (TR-01, SB-09)", async () => {
    const evil = '#!/bin/sh\necho evil > "$(dirname "$0")/evil.txt"\n';
    const names = ["bwrap", "rg", "git", "bash", "sh", "node", "prlimit"];
    const settings = [
      ...[
        "BASH_ENV=./bash",
        "ENV=./sh",
        "LD_PRELOAD=./x.so",
        "NODE_OPTIONS=--require ./x.js",
        "PATH=.",
        "SHELL=./sh",
      ],
      ...[
        "GIT_SSH_COMMAND=./git",
        "ANTHROPIC_BASE_URL=http://127.0.0.1:1",
        "OPENAI_BASE_URL=http://127.0.0.1:1",
      ],
      ...[
        "HTTPS_PROXY=http://127.0.0.1:1",
        "HTTP_PROXY=http://127.0.0.1:1",
        "DEEPWRIGHT_HOME=./home",
        "MARK=sentinel",
      ],
    ].join("\n");
    const { headless, cwd, told, files } = await desk([runs("env; git --version; bash -c true")], {
      ...Object.fromEntries(names.map((name) => [name, evil])),
      ".env": settings,
      "x.js": "require('fs').writeFileSync('evil.txt', '')",
    });
    for (const name of names) await chmod(join(cwd, name), 0o755);
    const result = await headless(["Work", "--yes"], { PATH: `.:${cwd}:${process.env.PATH}` });
    expect([result.code, result.stdout]).toEqual([0, "Done.\n"]);
    expect(await files()).toEqual([".env", "x.js", ...names].sort());
    expect(told()).toContain("git version");
    for (const mark of [
      "sentinel",
      "BASH_ENV",
      "LD_PRELOAD",
      "NODE_OPTIONS",
      "GIT_SSH",
      "_PROXY",
      "BASE_URL",
      cwd,
    ])
      expect(JSON.parse(told()).messages.at(-1).content[0].content).not.toContain(mark);
  });
});

describe("nothing of a command is left", () => {
  /** The command is at work when this resolves; false: the run ended before it was. */
  async function isAtWork({ result }: RunningBinary, seconds: string): Promise<boolean> {
    let isOver = false;
    void result.then(() => {
      isOver = true;
    });
    let isWorking = false;
    await until(async () => {
      await sleep(200);
      isWorking = await isAlive(seconds);
      return isWorking || isOver;
    });
    return isWorking;
  }

  it.each<[string, NodeJS.Signals, number | null]>([
    ["after Ctrl-C", "SIGINT", 130],
    ["after a kill that cannot be caught", "SIGKILL", null],
  ])("%s", async (_, signal, code) => {
    const seconds = ownSeconds();
    const { cwd, env, files } = await desk([runs(`sleep ${seconds} & setsid sleep ${seconds}`)]);
    const run = startBinary(["run", "Work", "--yes"], { cwd, env });
    expect(await isAtWork(run, seconds)).toBe(true);
    run.child.kill(signal);
    expect((await run.result).code).toBe(code);
    await until(async () => !(await isAlive(seconds)));
    if (signal !== "SIGKILL") expect(await files()).toEqual([]);
  });

  it("when --timeout is over", async () => {
    // On a slow machine a short time is over before the command has begun.
    for (const limit of ["4", "16", "64", "256"]) {
      const seconds = ownSeconds();
      const { cwd, env, files } = await desk([runs(`sleep ${seconds} & setsid sleep ${seconds}`)]);
      const run = startBinary(["run", "Work", "--yes", "--timeout", limit], { cwd, env });
      const began = await isAtWork(run, seconds);
      expect((await run.result).code).toBe(3);
      await until(async () => !(await isAlive(seconds)));
      expect(await files()).toEqual([]);
      if (began) return;
    }
    expect.fail("The command never began.");
  });
});

describe("without a sandbox there are no commands", () => {
  const BUBBLEWRAP = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].find(existsSync) ?? "";
  const offered = ({ server }: Desk): readonly string[] =>
    server.asked()[0]?.body.tools.map(({ name }: { name: string }) => name);

  it("says why and how to get one, and the run goes on; what was asked for must be there", async () => {
    const one = await desk([]);
    const { cwd, env } = one;
    const launcher = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", "/dev/null", BUBBLEWRAP];
    const result = await runBinary(["run", "Work"], { cwd, env, launcher });
    expect([result.code, result.stdout]).toEqual([0, "Done.\n"]);
    expect(result.stderr).toMatch(/No commands in this run: .*bubblewrap/);
    expect(offered(one)).not.toContain("execute");
    const asked = await runBinary(["run", "Work", "--sandbox", "os"], { cwd, env, launcher });
    expect([asked.code, asked.stderr]).toEqual([
      1,
      expect.stringMatching(/sandbox cannot be opened: .*bubblewrap/),
    ]);
  });

  it("--sandbox off has none", async () => {
    const one = await desk([]);
    expect((await one.headless(["Work", "--sandbox", "off"])).code).toBe(0);
    expect(offered(one)).not.toContain("execute");
  });

  it("a sandbox there is none of, and hosts where they mean nothing, are wrong usage", async () => {
    const { headless } = await desk([]);
    for (const [args, words] of [
      [["--sandbox", "osx"], "It can be os, docker, modal"],
      [
        ["--sandbox", "none", "--allow-host", "example.com"],
        "--allow-host is for commands in the os sandbox",
      ],
      [["--allow-host", "*"], "--allow-host"],
    ] as const) {
      const result = await headless(["Work", ...args]);
      expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(words)]);
    }
  });
});

describe("a sandbox in a container", () => {
  it("works in the directory, and the container is gone after the run", async () => {
    const engine = await testEngine();
    const { headless, files, cwd, told } = await desk(
      [runs("pwd; cat a.txt; echo hi > made.txt; ls /root")],
      { "a.txt": "of a" },
    );
    // Nothing runs as root in it: the directory has to be somebody's.
    if (process.getuid?.() === 0) for (const path of [cwd, join(cwd, "a.txt")]) await chown(path, 1000, 1000);
    const env = { DOCKER_HOST: `unix://${engine.socketPath}` };
    const result = await headless(
      ["Work", "--sandbox", `docker:${engine.bashImage}`, "--yes", "--json"],
      env,
    );
    expect(endOf(result)).toMatchObject({ exitCode: 0, commands: { count: 1, created: ["/made.txt"] } });
    expect(told()).toContain("/workspace\\nof a");
    expect([await files(), await readFile(join(cwd, "made.txt"), "utf8")]).toEqual([
      ["a.txt", "made.txt"],
      "hi\n",
    ]);
    const podman = (...words: string[]): string =>
      spawnSync("podman", [...engine.args, ...words], { env: engine.env, encoding: "utf8" }).stdout;
    const ids = podman("ps", "--all", "--quiet").split("\n").filter(Boolean);
    expect(ids.length > 0 ? podman("inspect", ...ids) : "").not.toContain(cwd);
  });

  it("where it could not write to the directory the run is not begun, and what to do is said", async () => {
    const engine = await testEngine();
    const { headless, cwd } = await desk([]);
    if (process.getuid?.() === 0) await chown(cwd, 1000, 1000);
    await chmod(cwd, 0o555);
    const args = ["Work", "--sandbox", `docker:${engine.bashImage}`];
    const result = await headless(args, { DOCKER_HOST: `unix://${engine.socketPath}` });
    expect([result.code, result.stderr]).toEqual([
      1,
      expect.stringContaining(`Commands in the container cannot write to ${cwd}: its owner may not.`),
    ]);
  });

  it("without an engine the run is not begun", async () => {
    const { headless } = await desk([]);
    const result = await headless(["Work", "--sandbox", "docker"], { DOCKER_HOST: "unix:///nowhere.sock" });
    expect([result.code, result.stderr]).toEqual([
      1,
      expect.stringContaining("The sandbox cannot be opened: "),
    ]);
  });
});

describe("--sandbox none", () => {
  it("says in red what it means, also to those who want it quiet", async () => {
    const { cwd, env } = await desk([]);
    const args = ["run", "Work", "--sandbox", "none", "--quiet"];
    const terminal = startAtTerminal(args, { cwd, env: { ...env, NO_COLOR: "" } });
    onTestFinished(() => void terminal.child.kill());
    await terminal.ended;
    expect(terminal.screen()).toContain(
      "\u001b[31mCommands: NOT ISOLATED (--sandbox none). They can read, change and send everything that you can.",
    );
  });

  it("asks about every command, and runs it in the directory", async () => {
    const { attended, cwd, told, files } = await desk([runs("pwd; echo hi > made.txt")]);
    const terminal = attended(["Work", "--sandbox", "none"]);
    await terminal.shows("It runs as you, with no isolation.");
    await terminal.answer(MENU, "y\r");
    expect(await terminal.ended).toBe(0);
    expect([told().includes(`${cwd}\\n[Succeeded`), await files()]).toEqual([true, ["made.txt"]]);
    expect(terminal.screen()).toContain("1 command ran and changed:\n  + /made.txt\n");
  });

  it("denies commands where nobody is, also one that only looks", async () => {
    const { headless, told } = await desk([runs("ls")]);
    const result = await headless(["Work", "--sandbox", "none"]);
    expect([result.code, told().includes("no person could be asked")]).toEqual([4, true]);
    expect(result.stderr).toContain("Denied: execute: no person is here to approve it\n");
  });
});

describe("a thread keeps its sandbox", () => {
  const threadOf = (text: string): string => text.match(/thread: (\S+)/)?.[1] ?? "";

  it("what was approved runs in its directory and with its hosts, or not at all", async () => {
    const { headless, cwd, files } = await desk([runs("echo b > b.txt")], { "one/a.txt": "a" });
    const waiting = await headless(["Work", "--wait", "--in", "one"]);
    const id = threadOf(waiting.stderr);
    expect(waiting.stderr).toContain(
      `Decide with: deepwright run --thread ${id} --in one, or with --approve`,
    );
    const approve = ["--thread", id, "--approve"];
    const refused = await headless(approve);
    const words = `Continue with --in ${join(cwd, "one")},`;
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(words)]);
    expect((await headless([...approve, "--in", "one"])).code).toBe(0);
    expect([await files(), await readdir(join(cwd, "one"))]).toEqual([["one"], ["a.txt", "b.txt"]]);
  });

  it("what was approved for the thread is asked about in another sandbox, and none has to be named", async () => {
    const command = runs("echo once >> made.txt");
    const { attended, headless, cwd, server } = await desk([command, DONE, command, DONE, command]);
    const terminal = attended(["Work", "--sandbox", "none"]);
    await terminal.answer(MENU, "a\r");
    expect(await terminal.ended).toBe(0);
    const id = threadOf(terminal.screen());
    const again = ["Again", "--thread", id];
    expect((await headless(again)).stderr).toContain("Add --sandbox none, or give a task with another");
    expect((await headless([...again, "--sandbox", "none"])).code).toBe(0);
    expect(await readFile(join(cwd, "made.txt"), "utf8")).toBe("once\nonce\n");
    expect((await headless([...again, "--sandbox", "os"])).code).toBe(4);
    expect(await readFile(join(cwd, "made.txt"), "utf8")).toBe("once\nonce\n");
    expect(server.asked()).toHaveLength(6);
  });
});
