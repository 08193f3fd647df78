import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { openFor, run, scratchDirectory, waitingCommand } from "./os-for-tests.ts";

describe("files that steer other programs", () => {
  const ABSENT = [
    "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
    "git init",
    "echo x > .git/config",
    "echo x > .git",
    "ln -s /tmp .git",
    "echo x > .mcp.json",
    "mkdir -p .deepwright && echo x > .deepwright/config.json",
    "mkdir -p .vscode && echo x > .vscode/tasks.json",
    "mkdir .vs && echo x > .vs/tasks.json && mv .vs .vscode && test -e .vscode/tasks.json",
    "echo x > .bashrc",
    "echo x > rc && mv rc .envrc && test -f .envrc",
    "echo x > rc && ln -f rc .npmrc",
    "ln -s rc .profile && test -L .profile",
    "rm -rf .vscode",
    "rmdir .idea",
    "mv .idea elsewhere",
  ];

  it("SB-03 cannot be made where they are not there yet, and nothing is left of what keeps them closed", async () => {
    const rootDir = scratchDirectory();
    const opened = await openFor({ rootDir });
    for (const attempt of ABSENT) expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    await opened.detach();
    expect(readdirSync(rootDir).filter((name) => name.startsWith("."))).toEqual(
      readdirSync(rootDir).includes(".vs") ? [".vs"] : [],
    );
  });

  it("SB-03 cannot be changed, moved or replaced where they are there, and git goes on working", async () => {
    const rootDir = scratchDirectory();
    const setUp =
      "git init -q . && git config user.email a@b && git config user.name a && mkdir .vscode && echo old > .vscode/settings.json && echo old > .mcp.json";
    await run(await openFor({ rootDir, controlFiles: "allow" }), setUp);
    const opened = await openFor({ rootDir });
    for (const attempt of [
      "echo x > .git/hooks/pre-commit",
      "echo x >> .git/config",
      "git config core.fsmonitor /tmp/x",
      "mv .git .got",
      "mv .git/hooks .git/hooks2",
      "rm -rf .git/hooks",
      "ln -sfn /tmp .git/hooks && test -L .git/hooks",
      "mkdir -p .git/modules/x && echo x > .git/modules/x/config",
      "echo x > .vscode/settings.json",
      "echo x > .vscode/tasks.json",
      "rm .mcp.json",
      "echo x > y && mv y .mcp.json",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    expect(readFileSync(join(rootDir, ".vscode/settings.json"), "utf8")).toBe("old\n");
    expect(
      await run(
        opened,
        "echo a > a && git add -A && git commit -qm first && git log --format=%s && git status --short",
      ),
    ).toBe("first\n");
    expect(await run(opened, "git show --stat --format= HEAD")).not.toMatch(/mcp.*0$|bashrc/);
  });

  it("SB-03 a repository below, and one that a file names, are protected too", async () => {
    const rootDir = scratchDirectory();
    const free = await openFor({ rootDir, controlFiles: "allow" });
    await run(free, "git init -q packages/inner; git init -q --separate-git-dir=real other; cat other/.git");
    const opened = await openFor({ rootDir });
    for (const attempt of [
      "echo x >> packages/inner/.git/config",
      "echo x > packages/inner/.git/hooks/pre-commit",
      "mv packages/inner packages/gone",
      "echo 'gitdir: /tmp' > other/.git",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
  });

  it("SB-03 those that lie below the top cannot be changed, moved or replaced either, and what is beside them can", async () => {
    const rootDir = scratchDirectory();
    const files = [".vscode/tasks.json", ".mcp.json", ".envrc", ".npmrc", ".bashrc", ".claude/settings.json"];
    const all = files.map((file) => join("packages/app", file));
    for (const path of [...all, "packages/app/.deepwright/config", "packages/app/src/a.ts"]) {
      mkdirSync(join(rootDir, path, ".."), { recursive: true });
      writeFileSync(join(rootDir, path), "old");
    }
    symlinkSync("src/a.ts", join(rootDir, "packages/app/.cursorrules"));
    mkdirSync(join(rootDir, "packages/.vimrc"));
    const opened = await openFor({ rootDir });
    for (const path of [...all, "packages/app/.deepwright/config"])
      for (const attempt of [`echo x > ${path}`, `rm ${path}`, `echo x > y; mv y ${path}`])
        expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    for (const attempt of ["mv packages other", "mv packages/app other", "mv packages/app/.vscode other"])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    const work =
      "cd packages/app && mkdir -p src ../.vimrc && echo new > src/a.ts && mv src/a.ts b.ts && echo x > ../.vimrc/x && cat b.ts";
    expect(await run(opened, work)).toBe("new\n");
    for (const path of all) expect(readFileSync(join(rootDir, path), "utf8"), path).toBe("old");
  });

  it("SB-03 one below the top that is gone since hinders no command", async () => {
    const rootDir = scratchDirectory();
    mkdirSync(join(rootDir, "app"));
    writeFileSync(join(rootDir, "app/.npmrc"), "old");
    const opened = await openFor({ rootDir });
    rmSync(join(rootDir, "app/.npmrc"));
    expect(await run(opened, "ls -A app")).toBe("");
    rmSync(join(rootDir, "app"), { recursive: true });
    symlinkSync("/tmp", join(rootDir, "app"));
    expect(await run(opened, "echo ran")).toBe("ran\n");
  });

  it("SB-03 git of this machine is led to no other settings or hooks, where there is no such lead yet", async () => {
    const rootDir = scratchDirectory();
    const git = (...args: string[]): string => execFileSync("git", args, { cwd: rootDir, encoding: "utf8" });
    git("init", "-q");
    git("-c", "user.email=a@b", "-c", "user.name=a", "commit", "-q", "--allow-empty", "-m", "first");
    git("config", "extensions.worktreeConfig", "true");
    const opened = await openFor({ rootDir });
    const settings = `git config -f evil/config core.fsmonitor "touch ${rootDir}/ran; false"`;
    await run(opened, `mkdir evil; cp -r .git/objects .git/refs .git/config evil; ${settings}`);
    for (const attempt of [
      "echo ../evil > .git/commondir",
      "rm -f .git/commondir && echo ../evil > .git/commondir",
      "echo ../evil > lead && mv lead .git/commondir",
      "cp evil/config .git/config.worktree",
      "cp evil/config second && mv second .git/config.worktree",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    expect(await run(opened, "git log --format=%s && git rev-parse --show-toplevel")).toBe(
      "first\n/workspace\n",
    );
    expect(git("log", "--format=%s")).toBe("first\n");
    await opened.detach();
    git("status");
    expect(existsSync(join(rootDir, "ran"))).toBe(false);
    expect(readdirSync(join(rootDir, ".git"))).not.toContain("commondir");
    expect(readdirSync(join(rootDir, ".git"))).not.toContain("config.worktree");
  });

  it("SB-03 hooks and settings that a repository has elsewhere in the workspace are closed too", async () => {
    const rootDir = scratchDirectory();
    const files = ["scripts/commit.sh", "team/gitconfig", "githooks/pre-push", "other/.git"];
    for (const file of files) mkdirSync(join(rootDir, file, ".."), { recursive: true });
    for (const file of files)
      writeFileSync(join(rootDir, file), file === "other/.git" ? "gitdir: ../missing\n" : "#!/bin/sh\n");
    execFileSync("git", ["init", "-q"], { cwd: rootDir });
    execFileSync("git", ["config", "core.hooksPath", "githooks"], { cwd: rootDir });
    execFileSync("git", ["config", "include.path", "../team/gitconfig"], { cwd: rootDir });
    symlinkSync("../../scripts/commit.sh", join(rootDir, ".git/hooks/pre-commit"));
    const opened = await openFor({ rootDir });
    for (const attempt of [
      "echo x > scripts/commit.sh",
      "mv scripts elsewhere",
      "echo x > team/gitconfig",
      "echo x > githooks/post-checkout",
      "mkdir -p missing/hooks && echo x > missing/hooks/pre-commit",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    expect(await run(opened, "echo x > scripts/other.sh && cat scripts/other.sh")).toBe("x\n");
  });

  it.each([
    ["", true],
    [" that keeps its notes elsewhere", false],
  ])(
    "SB-03 stay closed in a sandbox when another one of this process on the directory%s has ended its command",
    async (_, isShared) => {
      const rootDir = scratchDirectory();
      const stateDir = scratchDirectory();
      const one = await openFor({ rootDir, stateDir });
      const other = await openFor({ rootDir, stateDir: isShared ? stateDir : scratchDirectory() });
      const tries = "mkdir -p .git/hooks && echo x > .git/hooks/a && echo made";
      const { command, begun, goOn } = waitingCommand(rootDir, tries);
      const running = run(one, `${command}; ${tries}`);
      await begun();
      await run(other, "true");
      await other.sandbox.ls("/workspace");
      await other.destroy();
      goOn();
      expect(await running).not.toContain("made");
      await one.detach();
      expect(readdirSync(rootDir)).toEqual([]);
    },
  );

  it("SB-03 stay closed when the shell that watches for our end was told late that it is not needed any more", async () => {
    const rootDir = scratchDirectory();
    const opened = await openFor({ rootDir });
    await run(opened, "true");
    const watching = processesWith(`placeholders\0${rootDir}\0`);
    for (const pid of watching) process.kill(pid, "SIGSTOP");
    await opened.sandbox.ls("/workspace");
    const { command, begun, goOn } = waitingCommand(rootDir);
    const running = run(opened, `${command}; mkdir -p .git/hooks && echo x > .git/hooks/a && echo made`);
    await begun();
    for (const pid of watching.filter(isThere)) process.kill(pid, "SIGCONT");
    expect(watching).toHaveLength(1);
    await until(() => !watching.some(isThere));
    goOn();
    expect(await running).not.toContain("made");
    await opened.detach();
    expect(readdirSync(rootDir)).toEqual([]);
  });

  it("placeholders that got content in the meantime are somebody's and stay", async () => {
    const rootDir = scratchDirectory();
    const opened = await openFor({ rootDir });
    const { command, begun, goOn } = waitingCommand(rootDir);
    const running = opened.sandbox.execute(command);
    await begun();
    writeFileSync(join(rootDir, ".vscode/settings.json"), "{}");
    goOn();
    await running;
    await opened.detach();
    expect(readdirSync(rootDir)).toEqual([".vscode"]);
  });

  it("paths that are read-only or hidden are so for commands, also where nothing is there yet", async () => {
    const rootDir = scratchDirectory();
    mkdirSync(join(rootDir, "policies/deep"), { recursive: true });
    writeFileSync(join(rootDir, "policies/deep/a.md"), "rule");
    writeFileSync(join(rootDir, ".env"), "KEY=secret");
    const opened = await openFor({
      rootDir,
      readOnly: ["policies/deep", "later"],
      hidden: [".env", "secrets"],
    });
    for (const attempt of [
      "echo x > policies/deep/a.md",
      "mv policies other",
      "mv policies/deep policies/x",
      "echo x > later",
      "cat .env",
      "rm .env",
      "mv .env env",
      "mkdir secrets && echo x > secrets/x",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    expect(await run(opened, "cat policies/deep/a.md")).toBe("rule");
    await opened.detach();
    expect(readdirSync(rootDir).sort()).toEqual([".env", "policies"]);
  });

  it("a directory that is read-only or hidden stays so where there is a repository in it", async () => {
    const rootDir = scratchDirectory();
    for (const path of ["fixed/inner", "secret/inner"])
      execFileSync("git", ["init", "-q", join(rootDir, path)], { stdio: "pipe" });
    const opened = await openFor({ rootDir, readOnly: ["fixed"], hidden: ["secret"] });
    for (const attempt of [
      "echo x > fixed/inner/x",
      "echo x > fixed/inner/.git/description",
      "ls secret/inner",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    expect(await run(opened, "ls fixed/inner/.git")).toMatch(/^(?!.*commondir).*hooks/s);
  });
});

function processesWith(words: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(words))
    .map(Number);
}

function isThere(pid: number): boolean {
  return commandLine(String(pid)) !== "";
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
