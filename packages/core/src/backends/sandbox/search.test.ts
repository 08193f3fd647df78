import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LocalSandbox, openLocalSandbox as open, TESTED_TOOLS } from "./local-sandbox-for-tests.ts";

const noise = (bytes: number): string => randomBytes(bytes / 2).toString("hex");

/** So many files with the word `needle`, and others without it. */
function fill(directory: string, count: number, bytes: number): void {
  mkdirSync(directory, { recursive: true });
  for (let n = 0; n < count; n++) {
    writeFileSync(join(directory, `with ${n}.txt`), `${noise(bytes)}\nneedle ${n}\n`);
    writeFileSync(join(directory, `without ${n}.txt`), `${noise(bytes)}\n`);
  }
}

async function searched(sandbox: LocalSandbox, path: string, pattern: string): Promise<[string, string[]]> {
  sandbox.calls.length = 0;
  const result = await sandbox.grep(pattern, path);
  const lines = (result.matches ?? []).map(({ path: file, line, text }) => `${file}:${line}:${text}`);
  return [sandbox.calls.join(" "), lines];
}

describe("a search of a sandbox", () => {
  it("finds text in every encoding with one command and one download", async () => {
    const sandbox = open();
    const directory = join(sandbox.root, "some files");
    fill(directory, 20, 400);
    writeFileSync(join(directory, "latin-1.txt"), Buffer.from("caf\u00e9 needle\r\n", "latin1"));
    writeFileSync(join(directory, "utf-16.txt"), Buffer.from("\ufeffa needle\n", "utf16le"));
    writeFileSync(join(directory, "empty.txt"), "");
    writeFileSync(join(directory, "odd.txt"), "X12 /needle\n.\0needle");
    const [calls, lines] = await searched(sandbox, directory, "needle");
    expect(calls).toBe("execute download");
    expect(lines).toHaveLength(22);
    expect(lines).toContain(`${directory}/latin-1.txt:1:café needle`);
    expect(lines).toContain(`${directory}/utf-16.txt:1:a needle`);
    expect(await searched(sandbox, `${directory}/with 3.txt`, "needle")).toEqual([
      "execute download",
      [`${directory}/with 3.txt:2:needle 3`],
    ]);
    expect(sandbox.leftovers()).toEqual([]);
  });

  it("does not fetch more than it was asked for", async () => {
    const sandbox = open();
    fill(sandbox.root, 1_000, 20);
    const result = await sandbox.grep("needle", sandbox.root, null, 10);
    expect(result).toMatchObject({ truncated: true });
    expect(result.matches).toHaveLength(10);
    expect(sandbox.downloaded.at(-1)?.length).toBeLessThan(100);
  });

  it.each(TESTED_TOOLS)("finds the same with the tools of %s", async (tools) => {
    const sandbox = open({ tools });
    fill(sandbox.root, 30, 200);
    expect((await searched(sandbox, sandbox.root, "needle"))[1]).toHaveLength(30);
  });

  it("does not find what it notes itself", async () => {
    const sandbox = open();
    fill(sandbox.temporary, 3, 20);
    const [, lines] = await searched(sandbox, sandbox.temporary, "with");
    expect(lines).toEqual([]);
  });
});
