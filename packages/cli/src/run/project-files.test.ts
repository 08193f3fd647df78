import { renameSync, symlinkSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
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

it("a search that starts at a link tells nothing of secrets by their place", async () => {
  const rootDir = await mkdtemp(join(tmpdir(), "deepwright-project-"));
  onTestFinished(() => rm(rootDir, { recursive: true, force: true }));
  await mkdir(join(rootDir, ".aws"));
  await writeFile(join(rootDir, ".aws/credentials"), "KEY=abc\n");
  symlinkSync(".aws", join(rootDir, "link"));
  const project = new ProjectFiles({ rootDir, virtualMode: true });
  for (const path of ["/link", "/.aws", "/"])
    expect(await project.grep("KEY", path)).toMatchObject({ matches: [] });
});

/** Another program turns the link right after the backend has looked where it leads. */
class TurnedMeanwhile extends ProjectFiles {
  override async realPath(...given: Parameters<ProjectFiles["realPath"]>) {
    this.#turn("a.txt");
    const real = await super.realPath(...given);
    this.#turn(".env");
    return real;
  }

  #turn(target: string): void {
    symlinkSync(target, join(this.cwd, "next"));
    renameSync(join(this.cwd, "next"), join(this.cwd, "link"));
  }
}

it("a link that is turned to a secret before it is opened shows and changes nothing of it", async () => {
  const rootDir = await mkdtemp(join(tmpdir(), "deepwright-project-"));
  onTestFinished(() => rm(rootDir, { recursive: true, force: true }));
  await writeFile(join(rootDir, ".env"), "KEY=abc\n");
  await writeFile(join(rootDir, "a.txt"), "none\n");
  const project = new TurnedMeanwhile({ rootDir, virtualMode: true });
  const [download] = await project.downloadFiles(["/link"]);
  expect(download).toMatchObject({ content: null, error: "permission_denied" });
  for (const result of [
    await project.read("/link"),
    await project.readRaw("/link"),
    await project.grep("KEY", "/link"),
    await project.edit("/link", "abc", "xyz"),
  ])
    expect(result).toMatchObject({ code: "PERMISSION_DENIED" });
});
