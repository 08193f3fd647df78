import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandGate } from "./command-gate.ts";

const KEY = "sentinel-4711";

const FILES = {
  "a.txt": "a\n",
  "b.txt": "b\n",
  ".env": "KEY=none\n",
  "one/.env": `KEY=${KEY}\n`,
  "two/.env": "KEY=two\n",
  "3/.env": "KEY=three\n",
  ".aws/credentials": KEY,
};

let directory = "";
/** The hash of a file with the key in it. */
let blob = "";

/** A repository whose history, settings and files have the key in them. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "deepwright-gate-"));
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  const git = (...words: string[]): string =>
    execFileSync("git", words, { cwd: directory, encoding: "utf8" });
  const commit = (): string =>
    git("-c", "user.email=a@example.com", "-c", "user.name=a", "commit", "--quiet", "-m", "x");
  git("init", "--quiet");
  git("add", "--force", ".");
  commit();
  await writeFile(join(directory, ".env"), `KEY=${KEY}\n`);
  git("add", ".env");
  commit();
  await writeFile(join(directory, ".env"), `KEY=${KEY}-new\n`);
  git("add", ".env");
  git("remote", "add", "origin", `https://user:${KEY}@example.com/x`);
  await mkdir(join(directory, "sub"));
  await symlink("../.git", join(directory, "sub/link"));
  blob = git("rev-parse", "HEAD:.env").trim();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function asksAbout(command: string): Promise<boolean> {
  const gate = commandGate({ kind: "os", reach: "" }, { directory, place: "" });
  const toolCall = { name: "execute", args: { command } };
  return (await gate.when?.({ toolCall } as never)) !== false;
}

describe("a command that would show a key is asked about", () => {
  it.each([
    ...[
      "git diff",
      "git diff --cached",
      "git diff -U9",
      "git diff --stat -p",
      "git diff --cached --exit-code",
    ],
    ...["git log -p", "git log --patch -1", "git log -1 -u", "git log -p --stat", "git log -S sentinel"],
    ...["git show", "git show HEAD", "git show HEAD HEAD:a.txt", "git show HEAD:.env", "git show :.env"],
    ...["git show --stat BLOB", "git show -s BLOB", "git show BLOB", "git show HEAD^{/x:}", "git show :/x"],
    ...["git show HEAD~1..HEAD:a.txt", "git show --stat HEAD -- a.txt -p", "git show -n 1 --stat BLOB"],
    ...["git status -v", "git status -sv", "git remote -v", "git remote show origin", "git blame .env"],
    ...[
      "cat .env",
      "cat .git/config",
      "cat sub/link/config",
      "head -c 100 one/.env",
      'cat .e"n"v',
      "cat one/../.env",
    ],
    ...[
      "cat .aws/credentials",
      "diff one two",
      "diff a.txt one",
      "diff .env a.txt",
      "diff -U 3 one two",
      "diff 3 3",
      "diff -U 3 3 3",
      "cat .git/objects/ab/cd",
      "grep KEY .env",
    ],
  ])("%s", async (command) => {
    expect(await asksAbout(command.replace("BLOB", blob))).toBe(true);
  });
});

describe("a command that only looks is not, and shows none", () => {
  it.each([
    ...[
      "git diff --stat",
      "git diff --cached --name-only",
      "git diff HEAD~1 --numstat -- a.txt",
      "git diff --stat=80",
    ],
    ...[
      "git log",
      "git log --oneline -5",
      "git log --stat",
      "git log --name-status -- one",
      "git log --raw --all",
    ],
    ...["git show --stat", "git show HEAD --name-only", "git show HEAD~1 --summary", "git show HEAD:a.txt"],
    ...[
      "git show HEAD:one",
      "git show -s HEAD",
      "git status -sb",
      "git remote",
      "git branch -av",
      "git stash list",
    ],
    ...[
      "cat a.txt",
      "ls -laR",
      "find . -name .envy",
      "diff a.txt b.txt",
      "diff -U 3 a.txt b.txt",
      "git blame a.txt",
    ],
    ...["git ls-files -s", "wc -l a.txt", "du -a", "git rev-parse HEAD"],
  ])("%s", async (command) => {
    expect(await asksAbout(command)).toBe(false);
    let shown = "";
    try {
      shown = execFileSync("sh", ["-c", command], { cwd: directory, encoding: "utf8" });
    } catch (error) {
      // `diff` ends with 1 where files differ.
      shown = String((error as { stdout?: unknown }).stdout);
    }
    expect(shown).not.toContain("sentinel");
  });
});

it("without isolation every command is asked about", () => {
  const gate = commandGate({ kind: "none", reach: "It runs as you." }, { directory: "/", place: "here" });
  expect(gate).toEqual({ description: "It runs as you.", rememberedFor: "here" });
});
