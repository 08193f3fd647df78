/** Attempts to get out, each of which succeeds where a sandbox has the hole it is about. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OsSandboxOptions, osSandbox } from "../os.ts";
import type { OpenedSandbox } from "../provider.ts";
import { ESCAPES, failing, ifThere, makeOutside, type Outside, tries } from "./escape-attempts-for-tests.ts";
import { openFor, run, scratchDirectory } from "./os-for-tests.ts";

const KINDS: readonly [string, () => OsSandboxOptions][] = [
  ["a private directory", () => ({})],
  ["a directory of this machine", () => ({ rootDir: mkdtempSync(join(tmpdir(), "deepwright-os-test-")) })],
  [
    "one with files that are protected",
    () => {
      const rootDir = mkdtempSync(join(tmpdir(), "deepwright-os-test-"));
      mkdirSync(join(rootDir, ".vscode"));
      return { rootDir };
    },
  ],
];

describe.each(KINDS)("from %s no command gets out", (_, options) => {
  let opened: OpenedSandbox;
  let outside: Outside;
  const given = options();
  beforeAll(async () => {
    outside = makeOutside();
    opened = await osSandbox(given).open({ key: "escapes", env: {} });
  });
  afterAll(async () => {
    await opened.destroy();
    outside.end();
    if (given.rootDir) rmSync(given.rootDir, { recursive: true, force: true });
  });

  it.each(ESCAPES)("%s", async (_name, attempts) => {
    const before = ofTheMachine();
    expect(failing(await run(opened, tries(...attempts(outside))))).toBeUndefined();
    expect(ofTheMachine()).toEqual(before);
    expect(outside.pids.filter((pid) => !existsSync(`/proc/${pid}`))).toEqual([]);
  });

  it("by ending all processes there are: it ends its own alone", async () => {
    await opened.sandbox.execute("kill -9 -1");
    expect(outside.pids.filter((pid) => !existsSync(`/proc/${pid}`))).toEqual([]);
    expect(await run(opened, "echo next")).toBe("next\n");
  });

  it("by the modes of devices", async () => {
    const before = ofTheMachine();
    // Of devices of their own they may change what they like.
    await run(
      opened,
      "chmod 000 /dev/null /dev/zero; chown 1000 /dev/null; touch -d 2001-01-01 /dev/null /dev/zero; rm -f /dev/null",
    );
    expect(ofTheMachine()).toEqual(before);
  });
});

it("an attempt that got out, broke off or had no program is not taken for one that was refused", () => {
  const shell = (command: string): string =>
    execFileSync("/bin/sh", ["-c", `exec 2>&1; ${command}`], { encoding: "utf8" });
  expect(failing(shell(tries("false", "cat /nowhere")))).toBeUndefined();
  expect(failing(shell(tries("false", "true", "false")))).toMatch(/^got out/);
  expect(failing(shell(`${tries("false")}; exit 0`.replace("echo tried", "exit 0; echo tried")))).toMatch(
    /^broke off/,
  );
  for (const program of ["no-such-program-anywhere", "busybox no-such-program-anywhere"])
    expect(failing(shell(tries(program))), program).toMatch(/^was not tried/);
  expect(
    failing(shell(tries(ifThere("no-such-program-anywhere", "no-such-program-anywhere")))),
  ).toBeUndefined();
});

function ofTheMachine(): object {
  const devices = ["/dev/null", "/dev/zero", "/dev/urandom"].map((path) => {
    const { mode, uid, gid, ino } = statSync(path);
    return { path, mode, uid, gid, ino };
  });
  const made = ["/usr/bin/evil", "/usr/lib/evil", "/etc/ld.so.preload", "/usr/local/bin/evil"];
  return {
    devices,
    made: made.filter((path) => existsSync(path)),
    swappiness: readFileSync("/proc/sys/vm/swappiness", "utf8"),
  };
}

describe("bombs", () => {
  const limits = { memoryMb: 256, processes: 40, fileSizeMb: 8, cpuSeconds: 2, openFiles: 64 };

  it("memory is bounded, and the sandbox goes on", async () => {
    const opened = await openFor({ limits });
    const output = await run(opened, "perl -e '$x = q(a) x (1024*1024*700); print length $x'; echo after $?");
    expect(output).toMatch(/after 137|exit 137/);
    expect(await run(opened, "echo next")).toBe("next\n");
  });

  it("memory in files of memory is bounded too", async () => {
    const opened = await openFor({ limits: { ...limits, fileSizeMb: 2048 } });
    await opened.sandbox.execute("head -c 600M /dev/zero > /dev/shm/x; echo $?", { timeout: 600 });
    expect(await run(opened, "ls /dev/shm; echo next")).toBe("next\n");
    const size = "df --output=size -BM /dev/shm | tail -1 | tr -d ' '";
    expect(await run(opened, size)).toBe("256M\n");
    expect(
      await run(opened, "for d in /usr/local/etc /usr/etc; do (echo x > $d/x) && echo made; done; true"),
    ).not.toMatch(/^made$/m);
  });

  it("a hidden directory takes no memory, whatever its mode is made", async () => {
    const rootDir = scratchDirectory();
    mkdirSync(join(rootDir, "secrets"));
    const opened = await openFor({ rootDir, hidden: ["secrets"], limits: { ...limits, fileSizeMb: 2048 } });
    const fill = "chmod 700 secrets; head -c 100M /dev/zero > secrets/x; du -m secrets/x | cut -f1";
    expect(await run(opened, fill)).toMatch(/No space left on device[\s\S]*\n[01]\n$/);
  });

  it("processes are bounded", async () => {
    const opened = await openFor({ limits });
    const output = await run(opened, "bomb() { bomb | bomb & }; bomb; sleep 1; echo over", 60);
    expect(output).toMatch(/Resource temporarily unavailable|retry|exit/);
    expect(await run(opened, "echo next")).toBe("next\n");
  });

  it("a file, the time of a processor and open files are bounded", async () => {
    const opened = await openFor({ limits });
    expect(await run(opened, "head -c 20M /dev/zero > big; stat -c %s big")).toMatch(/8388608/);
    expect(await run(opened, "perl -e '1 while 1'")).toMatch(/exit 137|exit 152/);
    expect(await run(opened, "ulimit -n; ulimit -n 1000000")).toMatch(/^64\n[\s\S]*exit 1/);
    expect(await run(opened, "ulimit -f unlimited; ulimit -t unlimited")).toMatch(/exit 1/);
  });
});

it("files are bounded for file operations as they are for commands", async () => {
  const opened = await openFor({ limits: { fileSizeMb: 1 } });
  const text = "x".repeat(1024 * 1024);
  for (const directory of ["/workspace", "/tmp"]) {
    expect(await opened.sandbox.write(`${directory}/a`, text)).toEqual({ path: `${directory}/a` });
    expect(await opened.sandbox.edit(`${directory}/a`, "x", "xx", true)).toMatchObject({ code: "TOO_LARGE" });
    expect(await opened.sandbox.write(`${directory}/b`, `${text}x`)).toMatchObject({ code: "TOO_LARGE" });
  }
  expect(await run(opened, "ls /workspace; ls /tmp")).toBe("a\na\n");
});

describe("by what lies in a directory of this machine", () => {
  it("links that lead out lead nowhere, and hard links are refused by file operations as usual", async () => {
    const rootDir = scratchDirectory();
    const outside = scratchDirectory();
    writeFileSync(join(outside, "secret"), "secret");
    symlinkSync(outside, join(rootDir, "out"));
    symlinkSync(join(outside, "secret"), join(rootDir, "file"));
    const opened = await openFor({ rootDir });
    expect(await run(opened, "cat out/secret file; echo x > out/new; echo x > file")).toMatch(/exit 1/);
    expect(readdirSync(outside)).toEqual(["secret"]);
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
    expect(await opened.sandbox.read("/workspace/file")).toHaveProperty("error");
  });

  it("a directory that is swapped for a link while file operations run leads them nowhere", async () => {
    const rootDir = scratchDirectory();
    const outside = scratchDirectory();
    writeFileSync(join(outside, "file.txt"), "outside");
    mkdirSync(join(rootDir, "dir"));
    writeFileSync(join(rootDir, "dir/file.txt"), "inside");
    symlinkSync(outside, join(rootDir, "link"));
    const opened = await openFor({ rootDir });
    const swapping = run(
      opened,
      "end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do mv dir real; mv link dir; mv dir link; mv real dir; done",
    );
    const seen = new Set<string>();
    for (let done = false; !done; ) {
      const [read] = await Promise.all([
        opened.sandbox.read("/workspace/dir/file.txt"),
        opened.sandbox.write(`/workspace/dir/${Math.random()}.txt`, "x"),
      ]);
      if (read.error === undefined) seen.add(String(read.content));
      done = await Promise.race([
        swapping.then(() => true),
        new Promise<boolean>((resolve) => setTimeout(resolve, 1, false)),
      ]);
    }
    expect([...seen].every((content) => content.startsWith("inside"))).toBe(true);
    expect(readdirSync(outside)).toEqual(["file.txt"]);
  });

  it("a set-user-id program that lies there lends nothing", async () => {
    const rootDir = scratchDirectory();
    writeFileSync(join(rootDir, "s"), readFileSync("/bin/sh"), { mode: 0o755 });
    chmodSync(join(rootDir, "s"), 0o4755);
    const opened = await openFor({ rootDir });
    expect(await run(opened, "./s -p -c 'id -u; grep CapEff /proc/self/status'")).toBe(
      "1000\nCapEff:\t0000000000000000\n",
    );
  });

  it("a second name of a file outside is the file itself: whoever made it shared it", async () => {
    const rootDir = scratchDirectory();
    const outside = scratchDirectory();
    writeFileSync(join(outside, "shared"), "before");
    linkSync(join(outside, "shared"), join(rootDir, "shared"));
    const opened = await openFor({ rootDir });
    expect(await run(opened, "ln shared again && rm shared again && ls -A | grep -c shared; true")).toBe(
      "0\n",
    );
    expect(readFileSync(join(outside, "shared"), "utf8")).toBe("before");
  });
});

it("a variable that a loader obeys takes effect inside alone", async () => {
  const rootDir = scratchDirectory();
  const opened = await openFor({
    rootDir,
    env: { LD_PRELOAD: "/workspace/evil.so", BASH_ENV: "/workspace/start.sh" },
  });
  writeFileSync(join(rootDir, "start.sh"), "echo started as $(id -u)\n");
  expect(await run(opened, "env | grep -E '^(LD_PRELOAD|BASH_ENV)='")).toMatch(
    /started as 1000[\s\S]*LD_PRELOAD=\/workspace\/evil\.so/,
  );
});
