import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { FilesystemBackend } from "../filesystem.ts";
import { ContainedRoot } from "./contained-root.ts";
import { ControlLinks } from "./control-links.ts";

function root(links: Readonly<Record<string, string>>): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-control-links-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  mkdirSync(join(path, "shared/editor"), { recursive: true });
  writeFileSync(join(path, "AGENTS.md"), "old");
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(path, name));
  return path;
}

const linksOf = (path: string): ControlLinks => new ControlLinks(new ContainedRoot(path));

it("what a link in the place of a control file leads to is found, through other links and where nothing is yet", () => {
  const links = linksOf(
    root({
      ".cursorrules": "AGENTS.md",
      ".vscode": "way/editor",
      way: "shared",
      ".envrc": "later/envrc",
      ".idea": "/nowhere",
    }),
  );
  for (const path of ["/AGENTS.md", "/shared/editor", "/shared/editor/tasks.json", "/later/envrc"])
    expect(links.leadTo(path), path).toBe(true);
  for (const path of ["/AGENTS.mdx", "/shared", "/shared/editors", "/later", "/nowhere", "/"])
    expect(links.leadTo(path), path).toBe(false);
});

it("a link that was made or removed since counts, in a large directory too", () => {
  for (const files of [0, 1500]) {
    const path = root({});
    for (let file = 0; file < files; file += 1)
      writeFileSync(join(path, `a-file-with-a-long-name-${file}`), "");
    const links = linksOf(path);
    expect(links.leadTo("/AGENTS.md")).toBe(false);
    symlinkSync("AGENTS.md", join(path, ".cursorrules"));
    expect(links.leadTo("/AGENTS.md")).toBe(true);
    rmSync(join(path, ".cursorrules"));
    expect(links.leadTo("/AGENTS.md")).toBe(false);
  }
});

it("a root that is not there has none", () => {
  expect(linksOf("/nowhere/at/all").leadTo("/AGENTS.md")).toBe(false);
});

it.each([true, false])(
  "a change to it has to be approved, once whatever it is called by (virtual: %s)",
  async (virtualMode) => {
    const rootDir = root({ ".cursorrules": "AGENTS.md", other: "AGENTS.md" });
    const at = (name: string): string => (virtualMode ? `/${name}` : join(rootDir, name));
    const plain = new FilesystemBackend({ rootDir, virtualMode });
    for (const name of ["AGENTS.md", ".cursorrules", "other"])
      expect(await plain.write(at(name), "new", { overwrite: true }), name).toMatchObject({
        code: "APPROVAL_REQUIRED",
      });
    for (const name of ["AGENTS.md", ".cursorrules", "other"]) {
      const asked: string[] = [];
      const approve = (path: string): boolean => asked.push(path) > 0;
      const asking = new FilesystemBackend({ rootDir, virtualMode, approve });
      expect((await asking.write(at(name), "new", { overwrite: true })).error, name).toBeUndefined();
      expect(asked, name).toEqual([name === "other" ? "/AGENTS.md" : `/${name}`]);
    }
  },
);

it("files named as control paths need approval under every name, and so does a directory with one in it", async () => {
  const rootDir = root({ other: "mcp/tools.js" });
  mkdirSync(join(rootDir, "mcp"));
  writeFileSync(join(rootDir, "mcp/tools.js"), "old");
  const controlPaths = ["mcp/tools.js", "later"];
  const plain = new FilesystemBackend({ rootDir, virtualMode: true, controlPaths });
  const refused = { code: "APPROVAL_REQUIRED" };
  for (const path of ["/mcp/tools.js", "/other", "/MCP/Tools.js", "/later/a"])
    expect(await plain.write(path, "new", { overwrite: true }), path).toMatchObject(refused);
  expect(await plain.edit("/mcp/tools.js", "old", "new")).toMatchObject(refused);
  expect(await plain.delete("/mcp")).toMatchObject(refused);
  expect((await plain.write("/mcp/tools.js.txt", "new")).error).toBeUndefined();
  const asking = new FilesystemBackend({ rootDir, virtualMode: true, controlPaths, approve: () => true });
  expect((await asking.edit("/other", "old", "new")).error).toBeUndefined();
  for (const path of ["..", "", "/", "a\0b"])
    expect(() => new FilesystemBackend({ rootDir, controlPaths: [path] }), path).toThrow("controlPaths");
});
