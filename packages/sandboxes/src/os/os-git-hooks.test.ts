import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { openFor, run, scratchDirectory } from "./os-for-tests.ts";

const HOOKS = ".githooks";
const SETTING = `[core]\n\thooksPath = ${HOOKS}\n`;

function git(cwd: string, ...args: string[]): string {
  const who = ["-c", "user.email=a@b", "-c", "user.name=a"];
  return execFileSync("git", [...who, ...args], { cwd, encoding: "utf8", stdio: "pipe" });
}

/** A repository with such settings, and a directory for hooks. */
function repository(settings: string, rootDir = scratchDirectory()): string {
  git(rootDir, "init", "-q");
  write(rootDir, `${HOOKS}/pre-push`, "");
  appendFileSync(join(rootDir, ".git/config"), settings);
  return rootDir;
}

function write(rootDir: string, path: string, text: string): void {
  mkdirSync(dirname(join(rootDir, path)), { recursive: true });
  writeFileSync(join(rootDir, path), text);
}

/** Whether a command can make git of this machine run a hook of its own there. */
async function isHooked(rootDir: string, path = `${HOOKS}/pre-commit`, worktree = rootDir): Promise<boolean> {
  const mark = join(scratchDirectory(), "ran");
  const opened = await openFor({ rootDir });
  const planted = `mkdir -p "$(dirname ${path})"; printf '#!/bin/sh\\ntouch ${mark}\\n' > ${path}; chmod +x ${path}`;
  await run(opened, `(${planted}) 2>/dev/null; true`);
  await opened.detach();
  git(worktree, "commit", "-q", "--allow-empty", "-m", "x");
  return existsSync(mark);
}

function setVariable(name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

describe("SB-03 a command plants no hook that git of this machine runs", () => {
  it.each([
    ["plainly", SETTING],
    ["before a comment", `[core]\n\thooksPath = ${HOOKS} # ours\n`],
    ["before a comment of the other kind", `[core]\n\thooksPath = ${HOOKS} ; ours\n`],
    ["in quotes before a comment", `[core]\n\thooksPath = "${HOOKS}" # x\n`],
    ["on the line of its section", `[core] hooksPath = ${HOOKS}\n`],
    ["on two lines", "[core]\n\thooksPath = .git\\\nhooks\n"],
    ["twice", `[core]\n\thooksPath = elsewhere\n\thooksPath = "${HOOKS}";\n`],
  ])("where its settings name a directory of hooks %s", async (_, settings) => {
    expect(await isHooked(repository(settings))).toBe(false);
  });

  it("where a file names the directory that the settings include", async () => {
    const rootDir = repository("[include]\n\tpath = ../team.gitconfig # ours\n");
    write(rootDir, "team.gitconfig", '[includeIf "gitdir:/"] path = deep/more\n');
    write(rootDir, "deep/more", SETTING);
    expect(git(rootDir, "config", "core.hooksPath")).toBe(`${HOOKS}\n`);
    expect(await isHooked(rootDir)).toBe(false);
    const opened = await openFor({ rootDir });
    for (const path of ["team.gitconfig", "deep/more", "deep"])
      expect(await run(opened, `mv ${path} away`), path).toMatch(/exit \d+/);
  });

  it("where the settings of the user name one for every repository", async () => {
    setVariable("HOME", scratchDirectory());
    writeFileSync(join(process.env.HOME ?? "", ".gitconfig"), SETTING);
    const rootDir = repository("");
    expect(git(rootDir, "config", "core.hooksPath")).toBe(`${HOOKS}\n`);
    expect(await isHooked(rootDir)).toBe(false);
  });

  it("where the settings of a working tree name one", async () => {
    const rootDir = repository("[extensions] worktreeConfig = true\n");
    writeFileSync(join(rootDir, ".git/config.worktree"), SETTING);
    expect(git(rootDir, "config", "core.hooksPath")).toBe(`${HOOKS}\n`);
    expect(await isHooked(rootDir)).toBe(false);
  });

  it("where the repository of a working tree lies elsewhere", async () => {
    const main = repository(SETTING);
    git(main, "commit", "-q", "--allow-empty", "-m", "first");
    const rootDir = scratchDirectory();
    rmSync(rootDir, { recursive: true });
    git(main, "worktree", "add", "-q", rootDir);
    mkdirSync(join(rootDir, HOOKS));
    expect(await isHooked(rootDir)).toBe(false);
  });

  it("where a working tree belongs to a repository without one in the workspace", async () => {
    const rootDir = scratchDirectory();
    const main = repository("", join(rootDir));
    git(main, "commit", "-q", "--allow-empty", "-m", "first");
    git(main, "clone", "-q", "--bare", ".", "bare");
    rmSync(join(main, ".git"), { recursive: true });
    git(join(main, "bare"), "worktree", "add", "-q", "../tree");
    const tree = join(rootDir, "tree");
    expect(await isHooked(rootDir, "bare/hooks/pre-commit", tree)).toBe(false);
    git(join(rootDir, "bare"), "config", "core.hooksPath", HOOKS);
    expect(await isHooked(rootDir, `tree/${HOOKS}/pre-commit`, tree)).toBe(false);
  });

  it("where the repository lies apart from its files", async () => {
    const rootDir = scratchDirectory();
    git(rootDir, "init", "-q", "--separate-git-dir=apart", "files");
    appendFileSync(join(rootDir, "apart/config"), SETTING);
    expect(await isHooked(rootDir, `files/${HOOKS}/pre-commit`, join(rootDir, "files"))).toBe(false);
  });

  it("where the workspace is a directory of a larger repository", async () => {
    const top = repository(`[core]\n\thooksPath = packages/app/${HOOKS}\n`);
    const rootDir = join(top, "packages/app");
    write(rootDir, `${HOOKS}/pre-push`, "");
    expect(await isHooked(rootDir, undefined, top)).toBe(false);
  });

  it("where the workspace is a directory of a further working tree", async () => {
    const main = repository(`[core]\n\thooksPath = app/${HOOKS}\n`);
    git(main, "commit", "-q", "--allow-empty", "-m", "first");
    const tree = join(scratchDirectory(), "tree");
    git(main, "worktree", "add", "-q", tree);
    write(tree, `app/${HOOKS}/pre-push`, "");
    expect(await isHooked(join(tree, "app"), undefined, tree)).toBe(false);
  });

  it("by moving the directory that the settings name as the place of the files", async () => {
    const rootDir = repository("[core]\n\tworktree = ../files\n");
    mkdirSync(join(rootDir, "files"));
    const opened = await openFor({ rootDir });
    expect(await run(opened, "mv files away")).toMatch(/exit \d+/);
    expect(await run(opened, "touch files/a && mkdir more && mv more moved")).toBe("");
  });

  it("where a hook in a named directory is a link", async () => {
    const rootDir = repository(SETTING);
    write(rootDir, "scripts/commit.sh", "");
    symlinkSync("../scripts/commit.sh", join(rootDir, HOOKS, "pre-commit"));
    expect(await isHooked(rootDir, "scripts/commit.sh")).toBe(false);
  });
});

describe("SB-03 no command is run, and files can be used, where hooks cannot be kept", () => {
  const refusal = async (rootDir: string): Promise<string> => {
    const opened = await openFor({ rootDir });
    const refused = await run(opened, "true").then(
      () => "it was run",
      (error: Error) => error.message,
    );
    expect(await opened.sandbox.write("/workspace/a.txt", "a")).not.toHaveProperty("error");
    return refused;
  };

  it("since git itself could not read the settings", async () => {
    const said = await refusal(repository("[core]\n\thooksPath = \\x\n"));
    expect(said).toMatch(/'.git\/config' cannot be read \(bad line \d+\).*controlFiles to "allow"/);
  });

  it("since the settings are no text", async () => {
    const rootDir = repository("");
    appendFileSync(join(rootDir, ".git/config"), Buffer.from([0x23, 0xff, 0x0a]));
    expect(await refusal(rootDir)).toContain("cannot be read");
  });

  it("since files of settings include each other", async () => {
    const names = Array.from({ length: 13 }, (_, index) => `c${index}`);
    const rootDir = repository("[include] path = ../c0\n");
    for (const [index, name] of names.entries()) write(rootDir, name, `[include] path = c${index + 1}\n`);
    expect(await refusal(rootDir)).toContain("include each other");
  });

  it("since the directory of hooks is a link, which a command could replace", async () => {
    const rootDir = repository("[core] hooksPath = linked\n");
    symlinkSync(HOOKS, join(rootDir, "linked"));
    expect(await refusal(rootDir)).toContain("past links in the workspace");
  });

  it("since a hook is a link that leads through another one", async () => {
    const rootDir = repository(SETTING);
    write(rootDir, "scripts/commit.sh", "");
    symlinkSync("scripts", join(rootDir, "linked"));
    symlinkSync("../linked/commit.sh", join(rootDir, HOOKS, "pre-commit"));
    expect(await refusal(rootDir)).toContain("past links in the workspace");
  });

  it("since the directory of hooks is the whole workspace", async () => {
    expect(await refusal(repository("[core] hooksPath = .\n"))).toContain("the whole workspace");
  });

  it.each([
    ["a long path", `gitdir: ${"a/".repeat(32_000)}\n`],
    ["a path of many names", `gitdir: ${"a/".repeat(1_000)}\n`],
    ["many lines", `gitdir: a${"\n".repeat(65_000)}b`],
  ])("since a `.git` file has %s", async (_, text) => {
    const rootDir = scratchDirectory();
    write(rootDir, "inner/.git", text);
    const said = await withinCpuLimit("a command beside a hostile `.git` file", () => refusal(rootDir));
    expect(said).toContain("by a path of more than 4096 bytes or 128 names");
    expect(said).not.toContain(rootDir);
  });

  it("since a `.git` file has more bytes than any path", async () => {
    const rootDir = scratchDirectory();
    write(rootDir, ".git", "");
    truncateSync(join(rootDir, ".git"), 1_500_000_000);
    const said = await withinCpuLimit("a command beside a hostile `.git` file", () => refusal(rootDir));
    expect(said).toContain("'.git' leads git to another place");
  });
});

describe("SB-03 a command is run", () => {
  it("where a `.git` file names what no system can hold", async () => {
    const rootDir = scratchDirectory();
    write(rootDir, ".git", `gitdir: ${"a".repeat(300)}\n`);
    write(rootDir, "inner/.git", `gitdir: /${"a".repeat(4_000)}\n`);
    expect(await run(await openFor({ rootDir }), "echo ran")).toBe("ran\n");
  });
});
