import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { FilesystemBackend } from "deepwright";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { testProgram } from "../../../../scripts/test-program.mjs";
import { until, withinLimit } from "../../../../scripts/test-time.ts";
import { createSandbox } from "../index.ts";
import { leaseSuite } from "../lease/lease-suite.ts";
import { type OsSandboxOptions, osSandbox } from "../os.ts";
import { openFor, run, scratchDirectory } from "./os-for-tests.ts";

leaseSuite(
  { describe, test },
  { name: "osSandbox", provider: () => osSandbox(), endsByItself: true, timeoutMs: 600_000 },
);

describe("osSandbox", () => {
  it("constructs nothing", () => {
    const stateDir = join(scratchDirectory(), "state");
    const provider = osSandbox({ stateDir });
    expect(provider).toMatchObject({ name: "os", network: "none", workingDirectory: "/workspace" });
    expect(existsSync(stateDir)).toBe(false);
  });

  it.each([
    [{ rootdir: "/x" }, /no option 'rootdir'/],
    [{ limits: { memory: 1 } }, /no option 'memory'/],
    [{ limits: { memoryMb: 0 } }, /memoryMb/],
    [{ workingDirectory: "/usr/x" }, /workingDirectory/],
    [{ workingDirectory: "relative" }, /workingDirectory/],
    [{ workingDirectory: "/home/agent/work" }, /workingDirectory/],
    [{ hidden: ["a"] }, /needs rootDir/],
    [{ rootDir: "/tmp", hidden: ["../a"] }, /hidden/],
    [{ visible: ["a"] }, /absolute/],
    [{ controlFiles: "maybe" as never }, /protect/],
    [{ files: new FilesystemBackend() }, /files needs rootDir/],
  ])("refuses options it does not understand: %j", (options, words) => {
    expect(() => osSandbox(options as never)).toThrow(words);
  });

  it("nothing is left of a sandbox that is gone: no file, no process, no control group", async () => {
    const stateDir = scratchDirectory();
    const opened = await osSandbox({ stateDir }).open({ key: "k", env: {} });
    const running = Promise.resolve(opened.sandbox.execute("sleep 600", { timeout: 600 })).catch(
      (error: Error) => error,
    );
    await until(() => processesWith(opened.id).length > 0);
    await opened.destroy();
    await opened.destroy();
    expect(await running).toMatchObject({ code: "SANDBOX_LOST" });
    await until(() => processesWith(opened.id).length === 0);
    expect(readdirSync(join(stateDir, "leases"))).toEqual([]);
    expect(groupsOf(opened.id)).toEqual([]);
    await expect(opened.sandbox.execute("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
  });

  it("a directory of this machine outlives its sandbox", async () => {
    const rootDir = scratchDirectory();
    const opened = await openFor({ rootDir });
    await run(opened, "echo kept > file");
    await opened.destroy();
    expect(readdirSync(rootDir)).toEqual(["file"]);
  });

  it("a private directory whose time is up is removed by the next that is opened, whatever was done to it", async () => {
    const stateDir = scratchDirectory();
    const provider = osSandbox({ stateDir });
    const first = await provider.open({ key: "k", env: {}, ttl: 600 });
    await run(first, "mkdir -p a/b && echo x > a/b/c && chmod 000 a/b a; ln -s / out");
    await first.detach();
    const long = new Date(Date.now() - 3600_000);
    utimesSync(join(stateDir, "leases", first.id, "lease.json"), long, long);
    expect(await provider.find?.("k")).toEqual([]);
    expect(await provider.reattach?.(first.id, { key: "k", env: {} })).toBeUndefined();
    const second = await provider.open({ key: "k", env: {} });
    onTestFinished(() => second.destroy());
    expect(readdirSync(join(stateDir, "leases"))).toEqual([second.id]);
  });

  it("an id that is none is gone, and destroys nothing", async () => {
    const stateDir = scratchDirectory();
    const provider = osSandbox({ stateDir });
    mkdirSync(join(stateDir, "precious"));
    for (const id of ["", "..", "../precious", "os-x", "/etc"]) {
      expect(await provider.reattach?.(id, { key: "k", env: {} }), id).toBeUndefined();
      await provider.destroy?.(id);
    }
    expect(readdirSync(stateDir)).toContain("precious");
  });

  it("somebody else's directory is not used for what is private", async () => {
    const stateDir = join(scratchDirectory(), "state");
    symlinkSync(scratchDirectory(), stateDir);
    await expect(osSandbox({ stateDir }).open({ key: "k", env: {} })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
    });
  });

  it("a directory that others can write is not used for what is private, and its mode is left alone", async () => {
    const stateDir = scratchDirectory();
    chmodSync(stateDir, 0o1777);
    await expect(osSandbox({ stateDir }).open({ key: "k", env: {} })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringMatching(/can be written by others/),
    });
    expect(statSync(stateDir).mode & 0o7777).toBe(0o1777);
  });

  it.runIf(process.getuid?.() === 0)("nothing that somebody else left in it is used", async () => {
    const stateDir = scratchDirectory();
    mkdirSync(join(stateDir, "roots"));
    chownSync(join(stateDir, "roots"), 4321, 4321);
    await expect(osSandbox({ stateDir }).open({ key: "k", env: {} })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringMatching(/roots' is not a directory of this user/),
    });
  });

  it("serves the files of an application that has them already, by its own paths", async () => {
    const rootDir = scratchDirectory();
    const files = new FilesystemBackend({ rootDir, virtualMode: true });
    const provider = osSandbox({ rootDir, files });
    expect(provider.workingDirectory).toBe("/");
    const opened = await provider.open({ key: "k", env: {} });
    onTestFinished(() => opened.destroy());
    await opened.sandbox.write("/a/b.txt", "one\n");
    expect(await run(opened, "cat ./a/b.txt; echo two >> a/b.txt")).toBe("one\n");
    expect(await opened.sandbox.read("/a/b.txt")).toMatchObject({ content: "one\ntwo\n" });
    expect(opened.sandbox.commandNote).toMatch(/write `.\/a\/b` for the file `\/a\/b`/);
    expect((await opened.sandbox.ls("/")).files?.map(({ path }) => path)).toEqual(["/a/"]);
  });

  it("shows what it is told to of this machine, read-only", async () => {
    const visible = scratchDirectory();
    chmodSync(visible, 0o755);
    writeFileSync(join(visible, "tool"), "#!/bin/sh\necho from a tool\n", { mode: 0o755 });
    const opened = await openFor({ visible: [visible] });
    expect(await run(opened, `${visible}/tool; echo x > ${visible}/x`)).toMatch(
      /^from a tool\n[\s\S]*Read-only/,
    );
  });

  it("a thread of createSandbox has its own, found again", async () => {
    const stateDir = scratchDirectory();
    const source = createSandbox({ provider: osSandbox({ stateDir }), env: { GREETING: "hello" } });
    const lease = await source.lease("thread");
    expect((await lease.sandbox.execute("echo $GREETING > kept; cat kept")).output).toBe("hello\n");
    await source.close();
  });

  it("SB-06 kill -9 of the process that holds it leaves nothing alive", async () => {
    const held = async () => {
      const [stateDir, rootDir] = [scratchDirectory(), scratchDirectory()];
      const mark = `6${Math.random().toString().slice(2, 8)}`;
      mkdirSync(join(rootDir, ".git"));
      const holder = await holding(stateDir, rootDir, `(setsid sleep ${mark} &) ; sleep ${mark}`);
      await until(() => processesWith(mark).length >= 2);
      return { holder, mark, stateDir, rootDir };
    };
    const killed = async ({ holder, mark, ...place }: Awaited<ReturnType<typeof held>>) => {
      holder.kill("SIGKILL");
      await until(() => processesWith(mark).length === 0);
      return place;
    };
    const name = "commands in a sandbox of this machine end after their process was killed";
    const { stateDir, rootDir } = await withinLimit(name, killed, held);
    await until(() => processesWith(rootDir).length === 0);
    const next = await openFor({ rootDir, stateDir });
    await run(next, "true");
    await next.detach();
    expect(readdirSync(rootDir, { recursive: true })).toEqual([".git"]);
    const [id = ""] = (await osSandbox({ stateDir }).find?.("holder")) ?? [];
    expect(groupsOf(id)).toEqual([]);
  });

  it("SB-06 a sandbox that asked too late to end with its process ends all the same", async () => {
    const mark = `7${Math.random().toString().slice(2, 8)}`;
    const directory = scratchDirectory();
    const bubblewrap = join(directory, "bwrap");
    chmodSync(directory, 0o755);
    const wait = `until [ -e ${directory}/go ]; do sleep 0.05; done`;
    const late = `case "$*" in *"sleep ${mark}"*) ${wait};; esac; exec bwrap "$@"`;
    writeFileSync(bubblewrap, `#!/bin/sh\n${late}\n`, { mode: 0o755 });
    const holder = await holding(scratchDirectory(), scratchDirectory(), `sleep ${mark}`, { bubblewrap });
    await until(() => processesWith(mark).length >= 1);
    holder.kill("SIGKILL");
    await until(() => holder.signalCode !== null);
    writeFileSync(join(directory, "go"), "");
    await until(() => processesWith(mark).length === 0);
  });

  it("SB-06 a sandbox whose command was started by a shell that is gone ends with its process all the same", async () => {
    const stateDir = scratchDirectory();
    const mark = `9${Math.random().toString().slice(2, 8)}`;
    const holder = await holding(stateDir, undefined, `sleep ${mark}`);
    await until(() => processesWith(`sleep\0${mark}`).length >= 1);
    const starters = processesWith(`${stateDir}/leases`).filter((pid) => isStarter(pid));
    expect(starters.length).toBeGreaterThan(0);
    process.kill(Math.min(...starters.map(Number)), "SIGKILL");
    holder.kill("SIGKILL");
    await until(() => processesWith(mark).length === 0);
  });

  it("destroying by id ends what another process runs in it", async () => {
    const stateDir = scratchDirectory();
    const mark = `7${Math.random().toString().slice(2, 8)}`;
    const holder = await holding(stateDir, undefined, `sleep ${mark}`);
    await until(() => processesWith(mark).length > 0);
    const provider = osSandbox({ stateDir });
    const [id = ""] = (await provider.find?.("holder")) ?? [];
    await provider.destroy?.(id);
    await until(() => processesWith(mark).length === 0);
    expect(existsSync(join(stateDir, "leases", id))).toBe(false);
    holder.kill("SIGKILL");
  });
});

/** A process of its own that runs a command in a sandbox. */
async function holding(
  stateDir: string,
  rootDir: string | undefined,
  command: string,
  more: OsSandboxOptions = {},
): Promise<ChildProcess> {
  const program = await testProgram(new URL("./holder-for-tests.ts", import.meta.url));
  const HOLDER = JSON.stringify({ options: { stateDir, rootDir, ...more }, command });
  const holder = spawn(process.execPath, [program], { stdio: "ignore", env: { ...process.env, HOLDER } });
  onTestFinished(() => void holder.kill("SIGKILL"));
  return holder;
}

/** Besides this one and what it was started by. */
function processesWith(words: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "latin1");
      return /^\d+$/.test(pid) && line.includes(words) && !line.includes("vitest");
    } catch {
      return false;
    }
  });
}

/** Whether it is a shell that starts commands, and not one of them. */
function isStarter(pid: string): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("/bin/sh\0-c\0cd ");
}

function groupsOf(id: string): string[] {
  const found: string[] = [];
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  for (const [, path = "", type = ""] of mounts)
    if (type.startsWith("cgroup"))
      for (const name of readdirSync(path)) if (id !== "" && name.includes(id)) found.push(join(path, name));
  return found;
}
