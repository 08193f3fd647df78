import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";

function textOf(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), "utf8");
}

describe("the README, which is all that npm shows", () => {
  it("links to nothing that the package does not hold", async () => {
    expect(await textOf("../README.md")).not.toContain("](..");
  });

  it("names every option of run", async () => {
    const source = await textOf("./command-line.ts");
    const options = [...source.matchAll(/\.option\(\s*"(?:-\w, )?(--[a-z-]+)/g)].map(([, name]) => name);
    expect(options.length).toBeGreaterThan(5);
    const readme = await textOf("../README.md");
    expect(options.filter((name) => !readme.includes(name as string))).toEqual([]);
  });
});
