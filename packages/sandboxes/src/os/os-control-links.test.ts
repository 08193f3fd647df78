import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { endOfLink } from "./control/control-links.ts";
import { WorkspaceRoot } from "./control/workspace-root.ts";
import { failing, tries } from "./escape-attempts-for-tests.ts";
import { openFor, run, scratchDirectory, waitingCommand } from "./os-for-tests.ts";

/** A project whose files that steer other programs are links, made before any sandbox is opened. */
function project(links: Readonly<Record<string, string>>): string {
  const rootDir = scratchDirectory();
  mkdirSync(join(rootDir, "decoy/deep"), { recursive: true });
  writeFileSync(join(rootDir, "decoy/settings.json"), "old");
  writeFileSync(join(rootDir, "AGENTS.md"), "old");
  writeFileSync(join(rootDir, "a.txt"), "text");
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(join(rootDir, path, ".."), { recursive: true });
    symlinkSync(target, join(rootDir, path));
  }
  return rootDir;
}

const LINKS = {
  ".vscode": "decoy",
  ".cursorrules": "AGENTS.md",
  ".idea": "decoy/deep",
  ".mcp.json": "missing/mcp",
};

describe("SB-04 a link in the place of a file that steers other programs", () => {
  it("is followed by commands, which cannot write through it, nor to what it leads to", async () => {
    const rootDir = project({ ...LINKS, ".bashrc": "/nowhere", ".profile": "../elsewhere" });
    const opened = await openFor({ rootDir });
    expect(await run(opened, "cat .vscode/settings.json .cursorrules a.txt; echo x > b.txt")).toBe(
      "oldoldtext",
    );
    for (const attempt of [
      "echo x > .vscode/tasks.json",
      "echo x > .vscode/settings.json",
      "echo x > decoy/tasks.json",
      "echo x > .cursorrules",
      "echo x > AGENTS.md",
      "rm AGENTS.md",
      "mv decoy elsewhere",
      "mv decoy/deep decoy/other",
      "echo x > y && mv y AGENTS.md",
      "echo x > .mcp.json",
    ])
      expect(failing(await run(opened, tries(`(${attempt})`))), attempt).toBeUndefined();
    expect(await run(opened, "mkdir missing && echo x > missing/mcp")).toMatch(/'missing\/mcp' was created/);
    await opened.detach();
    expect(readdirSync(join(rootDir, "decoy")).sort()).toEqual(["deep", "settings.json"]);
    expect(existsSync(join(rootDir, "missing/mcp"))).toBe(false);
    expect(readFileSync(join(rootDir, "AGENTS.md"), "utf8")).toBe("old");
  });

  it.each([
    "rm .vscode",
    "rm .vscode && mkdir .vscode && echo x > .vscode/tasks.json",
    "mv .vscode gone && ln -s evil .vscode",
    "ln -sfn evil .vscode",
    "echo x > y && mv -T y .cursorrules",
    "while true; do rm -rf .vscode; mkdir .vscode; echo x > .vscode/tasks.json; done",
  ])("ends a command that replaces it, and is put back: %s", async (attempt) => {
    const rootDir = project(LINKS);
    const opened = await openFor({ rootDir });
    const { output, exitCode } = await opened.sandbox.execute(`${attempt}; sleep 600; echo went on`, {
      timeout: 600,
    });
    expect(output).toMatch(
      /^\[ended: '\.(vscode|cursorrules)' steers other programs and is a link.*It was put back/m,
    );
    expect(output).not.toContain("went on");
    expect(exitCode).toBe(137);
    for (const [path, target] of Object.entries(LINKS))
      expect(readlinkSync(join(rootDir, path))).toBe(target);
    expect(await run(opened, "cat .vscode/settings.json")).toBe("old");
  });

  it("is put back also where the command was quicker than its end, which has not succeeded then", async () => {
    const rootDir = project(LINKS);
    const opened = await openFor({ rootDir });
    const { output, exitCode } = await opened.sandbox.execute("echo x > y && mv -T y .cursorrules");
    expect(output).toMatch(/what was in its place is '(\.cursorrules\.replaced-\w+)' now/);
    expect(exitCode).not.toBe(0);
    expect(readlinkSync(join(rootDir, ".cursorrules"))).toBe("AGENTS.md");
    const aside = /'(\.cursorrules\.replaced-\w+)'/.exec(output)?.[1] ?? "";
    expect(readFileSync(join(rootDir, aside), "utf8")).toBe("x\n");
  });

  it("is known as it was before the commands that run, whichever of them began later", async () => {
    const rootDir = project(LINKS);
    const [one, other] = [await openFor({ rootDir }), await openFor({ rootDir })];
    const { command, begun, goOn } = waitingCommand(rootDir);
    const running = one.sandbox.execute(`${command}; ln -sfn evil .vscode; sleep 600`, { timeout: 600 });
    await begun();
    const second = other.sandbox.execute("touch also; sleep 600", { timeout: 600 });
    await until(() => existsSync(join(rootDir, "also")));
    goOn();
    expect((await running).output).toContain("put back");
    expect((await second).output).toContain("put back");
    expect(readlinkSync(join(rootDir, ".vscode"))).toBe("decoy");
  });

  it("may be changed by anybody while no command runs", async () => {
    const rootDir = project(LINKS);
    const opened = await openFor({ rootDir });
    await run(opened, "true");
    rmSync(join(rootDir, ".vscode"));
    symlinkSync("decoy/deep", join(rootDir, ".vscode"));
    renameSync(join(rootDir, ".idea"), join(rootDir, "idea"));
    expect(await run(opened, "true")).toBe("");
    expect(readlinkSync(join(rootDir, ".vscode"))).toBe("decoy/deep");
  });

  it.each([
    [".git", "decoy"],
    [".git/hooks", "../decoy"],
    [".git/config", "../AGENTS.md"],
    ["packages/inner/.git", "../../decoy"],
    [".vscode", "link/deep"],
    [".vscode", "decoy/deep/../.."],
    [".vscode", "."],
    [".vscode", ".."],
  ])("that cannot be kept leaves files as they are and runs no command: %s to %s", async (link, target) => {
    const rootDir = project({ link: "decoy", [link]: target });
    const opened = await openFor({ rootDir });
    await expect(opened.sandbox.execute("echo x > decoy/x"), link).rejects.toMatchObject({
      code: "COMMAND_FAILED",
      message: expect.stringMatching(new RegExp(`'${link}' steers other programs and is a link`)),
    });
    expect(existsSync(join(rootDir, "decoy/x"))).toBe(false);
    expect((await opened.sandbox.ls("/workspace")).error).toBeUndefined();
    expect(await opened.sandbox.read("/workspace/a.txt")).toMatchObject({ content: "text" });
    expect(await opened.sandbox.write("/workspace/b.txt", "b")).toEqual({ path: "/workspace/b.txt" });
  });

  it("is changed by no file operation, and neither is what it leads to, unless somebody agrees", async () => {
    const rootDir = project(LINKS);
    const asked: string[] = [];
    const agreeing = await openFor({ rootDir, approve: (path) => asked.push(path) > 0 });
    const opened = await openFor({ rootDir });
    for (const { sandbox, refused } of [
      { sandbox: opened.sandbox, refused: { code: "APPROVAL_REQUIRED" } },
      { sandbox: agreeing.sandbox, refused: { path: expect.any(String) } },
    ]) {
      expect(await sandbox.write("/workspace/.vscode/tasks.json", "x")).toMatchObject(refused);
      expect(await sandbox.write("/workspace/decoy/other.json", "x")).toMatchObject(refused);
      expect(await sandbox.edit("/workspace/AGENTS.md", "old", "new")).toMatchObject(refused);
    }
    expect(asked).toContain("/decoy/other.json");
    expect(asked).toContain("/AGENTS.md");
    expect(await opened.sandbox.delete?.("/workspace/decoy")).toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect(await opened.sandbox.write("/workspace/decoys.txt", "x")).toEqual({
      path: "/workspace/decoys.txt",
    });
    expect(lstatSync(join(rootDir, ".vscode")).isSymbolicLink()).toBe(true);
  });
});

it("paths that are to be read-only or hidden and are links are refused in words of their own", async () => {
  const rootDir = project({ policies: "decoy" });
  const opened = await openFor({ rootDir, readOnly: ["policies"] });
  await expect(opened.sandbox.execute("true")).rejects.toThrow(
    /'policies' is named in readOnly or hidden, but is a link\. Name its target/,
  );
});

it("a link is followed to its end on this machine, and not where a command could lead it elsewhere", () => {
  const outside = realpathSync(scratchDirectory());
  const rootDir = project({ middle: outside });
  symlinkSync(join(rootDir, "decoy"), join(outside, "back"));
  symlinkSync(join(rootDir, "middle"), join(outside, "through"));
  const table: readonly [target: string, end: ReturnType<typeof endOfLink>][] = [
    ["decoy", { inside: "decoy" }],
    ["./decoy//deep/", { inside: "decoy/deep" }],
    ["nothing/yet", { inside: "nothing/yet" }],
    [join(rootDir, "decoy"), { inside: "decoy" }],
    [`${outside}/back/settings.json`, { inside: "decoy/settings.json" }],
    [`${outside}/file`, {}],
    ["../file", {}],
    ["/", undefined],
    ["..", undefined],
    [".link", undefined],
    ["middle/file", undefined],
    [`${outside}/through/file`, undefined],
    ["decoy/../decoy", undefined],
  ];
  const root = new WorkspaceRoot(rootDir);
  onTestFinished(() => root.close());
  for (const [target, end] of table) {
    rmSync(join(rootDir, ".link"), { force: true });
    symlinkSync(target, join(rootDir, ".link"));
    expect(endOfLink(root, ".link"), target).toEqual(end);
  }
});
