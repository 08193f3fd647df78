import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ProjectFiles } from "./project-files.ts";

async function projectWith(files: Record<string, string>): Promise<ProjectFiles> {
  const rootDir = await mkdtemp(join(tmpdir(), "deepwright-project-"));
  onTestFinished(() => rm(rootDir, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(rootDir, name), text);
  return new ProjectFiles({ rootDir, virtualMode: true });
}

it("a search tells nothing of secrets, not even by saying that there is more", async () => {
  const project = await projectWith({
    ".env": "KEY=abc\nKEY=abcd\n",
    ".env.mine": "KEY=ab\n",
    "a.txt": "none\n",
  });
  for (const guess of ["KEY=abc", "KEY=zzz"])
    expect(await project.grep(guess, "/", ".env*", 1)).toEqual({ matches: [] });
});

it("secrets take no place among the matches that were asked for", async () => {
  const lines = "KEY\n".repeat(5);
  const project = await projectWith({ ".env": "KEY\n".repeat(50), "a.txt": lines, "b.txt": lines });
  const found = async (most: number | null): Promise<unknown> => {
    const result = await project.grep("KEY", "/", null, most);
    return result.error ?? [result.matches.length, result.truncated ?? false];
  };
  expect(await found(3)).toEqual([3, true]);
  expect(await found(10)).toEqual([10, false]);
  expect(await found(null)).toEqual([10, false]);
});
