/** Notes of an agent, in a file on disk. */
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FilesystemBackend } from "deepwright";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryTool } from "./memory-tool.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "notes-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const notes = () =>
  memoryTool(new FilesystemBackend({ rootDir: directory, virtualMode: true }), "/AGENTS.md");
const text = () => readFile(join(directory, "AGENTS.md"), "utf8");

test("notes are lines of the file, each once, in the order they came; what else stands there stays", async () => {
  const memory = notes();
  expect(await memory.invoke({ action: "add", note: "Roses come first." })).toBe("Noted.");
  expect(await text()).toBe("- Roses come first.\n");
  await writeFile(join(directory, "AGENTS.md"), "# Garden\n\nBy hand.\n\n- Roses come first.");
  await Promise.all(["a", "b", "c", "a"].map((note) => memory.invoke({ action: "add", note })));
  expect(await text()).toBe("# Garden\n\nBy hand.\n\n- Roses come first.\n- a\n- b\n- c\n");
  expect(await memory.invoke({ action: "forget", note: "b" })).toBe("Forgotten.");
  expect(await text()).toBe("# Garden\n\nBy hand.\n\n- Roses come first.\n- a\n- c\n");
});

test("a note that is not there cannot be forgotten, and one that is no line is refused", async () => {
  const memory = notes();
  await expect(memory.invoke({ action: "forget", note: "x" })).rejects.toThrow("There is no note 'x'");
  for (const note of ["", "a\n# b", "x".repeat(1_001)])
    await expect(memory.invoke({ action: "add", note })).rejects.toThrow();
});

test("a file that leads out of the workspace is neither read nor changed", async () => {
  const outside = await mkdtemp(join(tmpdir(), "outside-"));
  try {
    await writeFile(join(outside, "secret.md"), "- secret\n");
    await symlink(join(outside, "secret.md"), join(directory, "AGENTS.md"));
    await expect(notes().invoke({ action: "add", note: "x" })).rejects.toThrow();
    expect(await readFile(join(outside, "secret.md"), "utf8")).toBe("- secret\n");
  } finally {
    await rm(outside, { recursive: true, force: true });
  }
});
