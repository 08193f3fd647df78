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
import { basename, join } from "node:path";
import { isControlPath } from "deepwright/internal";
import { describe, expect, it } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { openFor, run, scratchDirectory, waitingCommand } from "./os-for-tests.ts";

describe("files that steer other programs", () => {
  const ABSENT = [
    "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
    "git init",
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
    "mkdir -p .github/workflows && echo x > .github/workflows/ci.yml",
    "echo x > Jenkinsfile",
    "echo x > .gitlab-ci.yml",
  ];

  it.each(ABSENT)(
    "SB-03 are moved away where a command makes one at the top, and it is told: %s",
    async (attempt) => {
      const rootDir = scratchDirectory();
      const opened = await openFor({ rootDir });
      expect(await run(opened, attempt)).toMatch(
        /^\['(\S+)' was created while the command ran\. .* so it was moved to '\1\.blocked-[0-9a-f]{8}'\.\]$/m,
      );
      expect(readdirSync(rootDir).filter((name) => isControlPath(`/${name}`))).toEqual([]);
      expect(readdirSync(rootDir).filter((name) => name.includes(".blocked-"))).not.toEqual([]);
    },
  );

  it("SB-03 are listed only where they are, for commands and on the machine, and nothing is made for them", async () => {
    const rootDir = scratchDirectory();
    execFileSync("git", ["init", "-q"], { cwd: rootDir });
    const opened = await openFor({ rootDir, readOnly: ["later"], hidden: ["secrets"] });
    const { command, begun, goOn } = waitingCommand(rootDir, "ls -A . .git");
    const before = readdirSync(rootDir, { recursive: true });
    const running = run(opened, command);
    await begun();
    expect(readdirSync(rootDir, { recursive: true }).filter((name) => name !== "begun")).toEqual(before);
    goOn();
    const seen = new Set((await running).split("\n"));
    const there = before.map((path) => basename(String(path)));
    for (const name of ["", ".:", ".git:", "begun", "go", ...there]) seen.delete(name);
    expect([...seen]).toEqual([]);
  });

  it("SB-03 are moved away while the command still runs, which goes on", async () => {
    const rootDir = scratchDirectory();
    execFileSync("git", ["init", "-q"], { cwd: rootDir });
    const opened = await openFor({ rootDir });
    const { command, begun, goOn } = waitingCommand(rootDir);
    const running = run(opened, `mkdir .vscode; echo x > .git/commondir; ${command}; echo went on`);
    await begun();
    await until(() => !existsSync(join(rootDir, ".vscode")) && !existsSync(join(rootDir, ".git/commondir")));
    goOn();
    expect(await running).toMatch(
      /^went on\n\['\.vscode' was created[\s\S]*\['\.git\/commondir' was created/,
    );
  });

  it("SB-03 end a command that makes one again and again", async () => {
    const rootDir = scratchDirectory();
    const opened = await openFor({ rootDir });
    const attempt = "while true; do mkdir .vscode 2>/dev/null && echo x > .vscode/tasks.json; done";
    expect(await run(opened, attempt)).toMatch(/^\[ended: '\.vscode' was created again and again\]$/m);
    expect(readdirSync(rootDir)).not.toContain(".vscode");
    expect(readdirSync(rootDir).length).toBeLessThan(20);
  });

  it("SB-03 stay where a file operation made them, which somebody agreed to, while a command runs", async () => {
    const rootDir = scratchDirectory();
    const opened = await openFor({ rootDir, approve: () => true });
    const { command, begun, goOn } = waitingCommand(rootDir);
    const running = run(opened, command);
    await begun();
    await opened.sandbox.write("/workspace/.vscode/settings.json", "{}");
    await opened.sandbox.uploadFiles?.([["/workspace/.npmrc", Buffer.from("x")]]);
    goOn();
    expect(await running).toBe("");
    expect(readdirSync(rootDir).sort()).toEqual([".npmrc", ".vscode"]);
  });

  it("SB-03 are not kept open by a file operation that was refused", async () => {
    const rootDir = scratchDirectory();
    const opened = await openFor({ rootDir });
    const { command, begun, goOn } = waitingCommand(rootDir);
    const running = run(opened, `${command}; mkdir .vscode`);
    await begun();
    expect(await opened.sandbox.write("/workspace/.vscode/a", "x")).toMatchObject({
      code: "APPROVAL_REQUIRED",
    });
    goOn();
    expect(await running).toContain("'.vscode' was created");
  });

  it("SB-03 named paths cannot be changed, moved or replaced; a file operation has to be approved", async () => {
    const rootDir = scratchDirectory();
    mkdirSync(join(rootDir, "mcp"));
    for (const name of ["mcp/tools.js", "top.js"]) writeFileSync(join(rootDir, name), "old");
    const opened = await openFor({ rootDir, controlPaths: ["mcp/tools.js", "top.js", "not/there.js"] });
    for (const attempt of [
      "echo x > mcp/tools.js",
      "rm -f mcp/tools.js",
      "mv mcp elsewhere",
      "echo x > mcp/y && mv -f mcp/y mcp/tools.js",
      "echo x > y && mv -f y top.js",
      "ln -f y top.js",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    expect(await run(opened, "echo x > mcp/other && cat mcp/tools.js")).toBe("old");
    expect(await opened.sandbox.write("/workspace/mcp/tools.js", "new", { overwrite: true })).toMatchObject({
      code: "APPROVAL_REQUIRED",
    });
    for (const name of ["mcp/tools.js", "top.js"])
      expect(readFileSync(join(rootDir, name), "utf8"), name).toBe("old");
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
      "echo ../evil > lead && mv lead .git/commondir",
      "cp evil/config .git/config.worktree",
      "cp evil/config second && mv second .git/config.worktree",
      "mkdir -p .git/modules/x && echo x > .git/modules/x/config",
      "mkdir -p .git/worktrees/x && echo x > .git/worktrees/x/commondir",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/was created while the command ran/);
    expect(await run(opened, "git log --format=%s && git rev-parse --show-toplevel")).toBe(
      "first\n/workspace\n",
    );
    expect(git("log", "--format=%s")).toBe("first\n");
    await opened.detach();
    git("status");
    expect(existsSync(join(rootDir, "ran"))).toBe(false);
    for (const name of ["commondir", "config.worktree", "modules", "worktrees"])
      expect(readdirSync(join(rootDir, ".git"))).not.toContain(name);
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
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    expect(await run(opened, "mkdir -p missing/hooks && echo x > missing/hooks/pre-commit")).toMatch(
      /'missing' was created/,
    );
    expect(existsSync(join(rootDir, "missing"))).toBe(false);
    expect(await run(opened, "echo x > scripts/other.sh && cat scripts/other.sh")).toBe("x\n");
  });

  it("SB-03 are moved away by whichever sandbox of this process runs a command on the directory", async () => {
    const rootDir = scratchDirectory();
    const [one, other] = [await openFor({ rootDir }), await openFor({ rootDir })];
    const { command, begun, goOn } = waitingCommand(rootDir);
    const running = run(one, `${command}; mkdir .idea`);
    await begun();
    await run(other, "mkdir .vscode");
    await other.destroy();
    expect(readdirSync(rootDir)).not.toContain(".vscode");
    goOn();
    expect(await running).toMatch(/'\.vscode' was created[\s\S]*'\.idea' was created/);
    expect(readdirSync(rootDir).filter((name) => !name.includes(".blocked-"))).toEqual([]);
  });

  it("paths that are read-only or hidden are so for commands, and what is made where one is to be read-only is moved away", async () => {
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
      "cat .env",
      "rm .env",
      "mv .env env",
    ])
      expect(await run(opened, attempt), attempt).toMatch(/exit \d+/);
    expect(await run(opened, "echo x > later")).toMatch(/'later' was created/);
    expect(await run(opened, "mkdir secrets && echo x > secrets/x; cat secrets/x")).toBe("x\n");
    expect(await run(opened, "cat secrets/x")).toMatch(/exit 1/);
    expect(await run(opened, "cat policies/deep/a.md")).toBe("rule");
    await opened.detach();
    expect(readdirSync(rootDir).sort()).toEqual([
      ".env",
      expect.stringMatching(/^later\.blocked-/),
      "policies",
      "secrets",
    ]);
  });

  it("files that steer other programs may appear where they are allowed, beside a path that is to be read-only", async () => {
    const rootDir = scratchDirectory();
    const opened = await openFor({ rootDir, readOnly: ["later"], controlFiles: "allow" });
    expect(await run(opened, "touch .envrc; touch later")).toMatch(/^(?!.*envrc).*'later' was created/s);
    await opened.detach();
    expect(readdirSync(rootDir)).toContain(".envrc");
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
