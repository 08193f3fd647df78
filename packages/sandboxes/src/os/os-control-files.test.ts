import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openFor, run, scratchDirectory, waitUntil } from "./os-for-tests.ts";

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

  it("SB-04 a link in the place of one is refused with a clear word, whatever it leads to", async () => {
    for (const [link, target] of [
      [".git/hooks", "../decoy"],
      [".vscode", "decoy"],
      [".mcp.json", "decoy/file"],
      [".git", "decoy"],
      [".bashrc", "/nowhere"],
    ] as const) {
      const rootDir = scratchDirectory();
      mkdirSync(join(rootDir, "decoy"));
      if (link.includes("/")) mkdirSync(join(rootDir, ".git"));
      const opened = await openFor({ rootDir });
      await opened.sandbox.ls("/workspace");
      symlinkSync(target, join(rootDir, link));
      await expect(opened.sandbox.execute("echo x > decoy/x"), link).rejects.toMatchObject({
        code: "COMMAND_FAILED",
        message: expect.stringMatching(new RegExp(`'${link}' steers other programs and is a link`)),
      });
      expect(readdirSync(join(rootDir, "decoy"))).toEqual([]);
    }
  });

  it("placeholders that got content in the meantime are somebody's and stay", async () => {
    const rootDir = scratchDirectory();
    const opened = await openFor({ rootDir });
    const running = opened.sandbox.execute("sleep 1");
    await waitUntil(() => existsSync(join(rootDir, ".vscode")), 900);
    writeFileSync(join(rootDir, ".vscode/settings.json"), "{}");
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
});
