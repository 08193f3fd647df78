import { mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BackendProtocol } from "../backends/backend.ts";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { canonicalPath } from "../paths.ts";
import { PolicyBackend } from "../permissions/policy/policy.ts";
import { areaPath, asHarness, prepareAreas, safeName } from "./areas.ts";

const at = (workingDirectory?: string) => ({ workingDirectory }) as BackendProtocol;

describe("areaPath", () => {
  it("is the root where paths are not those of a disk", () => {
    expect(areaPath(at(), "large_tool_results", "a")).toBe("/large_tool_results/a");
    expect(areaPath(at("/"), "conversation_history", "a.md")).toBe("/conversation_history/a.md");
  });

  it("lies in the directory of the harness where a shell has the same paths", () => {
    expect(areaPath(at("/home/me"), "large_tool_results", "a")).toBe(
      "/home/me/.deepwright/large_tool_results/a",
    );
  });
});

describe("safeName", () => {
  it("leaves an id alone that is a name", () => {
    expect(safeName("call_AbC-12")).toBe("call_AbC-12");
  });

  it.each([
    "",
    "..",
    "../../etc/passwd",
    "a/b",
    "a\\b",
    "a\0b",
    "nul",
    "COM1",
    "a ",
    "a.",
    "x".repeat(2000),
    "日本語",
    "\ud800",
    "$&",
    "~root",
    "C:\\x",
  ])("makes a short, canonical name of %j", (id) => {
    const name = safeName(id);
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,80}$/);
    expect(canonicalPath(`/large_tool_results/${name}`)).toEqual({ path: `/large_tool_results/${name}` });
  });

  it("keeps ids apart that differ only in what a name cannot hold", () => {
    const ids = ["a/b", "a\\b", "a b", "a_b", `${"x".repeat(100)}1`, `${"x".repeat(100)}2`, "日", "本"];
    expect(new Set(ids.map(safeName)).size).toBe(ids.length);
  });
});

describe("the directory of the harness on a disk", () => {
  const disk = () => new FilesystemBackend({ rootDir: mkdtempSync(join(tmpdir(), "areas-")) });

  it("takes files of the harness in its areas, and files of nobody else", async () => {
    const backend = disk();
    const path = areaPath(backend, "large_tool_results", "a");
    expect(await backend.write(path, "text")).toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect(await backend.write(path, "text", asHarness())).toEqual({ path });
    expect(await backend.read(path)).toMatchObject({ content: "text" });
    expect(await backend.edit(path, "text", "other")).toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect(await backend.append(path, "more")).toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect(await backend.delete(path)).toMatchObject({ code: "APPROVAL_REQUIRED" });
    const directory = join(backend.workingDirectory, ".deepwright");
    expect(await backend.delete(directory)).toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect(await backend.append(path, " and more", asHarness())).toEqual({ path });
  });

  it("takes nothing of the harness elsewhere", async () => {
    const backend = disk();
    const path = join(backend.workingDirectory, ".deepwright/config.yaml");
    expect(await backend.write(path, "", asHarness())).toMatchObject({ code: "APPROVAL_REQUIRED" });
    const hook = join(backend.workingDirectory, ".git/hooks/pre-commit");
    expect(await backend.write(hook, "", asHarness())).toMatchObject({ code: "APPROVAL_REQUIRED" });
  });

  it("lets what a policy around it allows through", async () => {
    const inner = disk();
    const path = areaPath(inner, "large_tool_results", "a");
    expect(await new PolicyBackend(inner).write(path, "text", asHarness())).toEqual({ path });
    const readOnly = new PolicyBackend(inner, { readOnly: true });
    expect(await readOnly.write(`${path}2`, "text", asHarness())).toMatchObject({
      code: "PERMISSION_DENIED",
    });
  });

  it("is never reached by a link, for reading neither", async () => {
    const rootDir = mkdtempSync(join(tmpdir(), "areas-"));
    const backend = new FilesystemBackend({ rootDir });
    await backend.write(join(rootDir, "other/conversation_history/a.md"), "a person's\n");
    symlinkSync("other", join(rootDir, ".deepwright"));
    const path = areaPath(backend, "conversation_history", "a.md");
    const results = [
      await backend.append(path, "more\n", asHarness()),
      await backend.write(path, "more\n", { overwrite: true, ...asHarness() }),
      await backend.readRaw(path, asHarness()),
      await backend.grep("person", path, null, null, asHarness()),
      await backend.ls(path, asHarness()),
    ];
    for (const result of results) expect(result).toMatchObject({ code: "PERMISSION_DENIED" });
    expect((await backend.uploadFiles([[path, Buffer.from("x")]], asHarness()))[0]?.error).toBe(
      "permission_denied",
    );
    expect(readFileSync(join(rootDir, "other/conversation_history/a.md"), "utf8")).toBe("a person's\n");
  });

  it("is left out of searches, unless they start there", async () => {
    const rootDir = mkdtempSync(join(tmpdir(), "areas-"));
    const backend = new FilesystemBackend({ rootDir });
    await prepareAreas(backend, {});
    const path = areaPath(backend, "large_tool_results", "a");
    await backend.write(path, "needle\n", asHarness());
    await backend.write(join(rootDir, "own.txt"), "needle\n");
    const found = (result: { matches?: { path: string }[]; files?: { path: string }[] }) =>
      (result.matches ?? result.files ?? []).map((file) => file.path);
    expect(found(await backend.grep("needle"))).toEqual([join(rootDir, "own.txt")]);
    expect(found(await backend.glob("**"))).toEqual([join(rootDir, "own.txt")]);
    const area = join(rootDir, ".deepwright/large_tool_results");
    expect(found(await backend.grep("needle", area))).toEqual([path]);
    expect(found(await backend.glob("*", area))).toEqual([path]);
    expect(found(await backend.ls(area))).toEqual([path]);
  });

  it("is prepared once, and what a person put there stays", async () => {
    const rootDir = mkdtempSync(join(tmpdir(), "areas-"));
    const backend = new FilesystemBackend({ rootDir, approve: () => true });
    const path = join(rootDir, ".deepwright/.gitignore");
    await backend.write(path, "mine");
    const owner = {};
    await prepareAreas(backend, owner);
    await prepareAreas(backend, owner);
    expect(readFileSync(path, "utf8")).toBe("mine");
  });

  it("is not made where files have no real paths", async () => {
    const rootDir = mkdtempSync(join(tmpdir(), "areas-"));
    const backend = new FilesystemBackend({ rootDir, virtualMode: true });
    await prepareAreas(backend, {});
    expect(await backend.glob("**")).toMatchObject({ files: [] });
  });
});
