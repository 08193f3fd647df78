import { chmodSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { describe, expect, it } from "vitest";
import { askRipgrep, type RipgrepRequest, ripgrepLiteral, ripgrepPath } from "./ripgrep.ts";
import { found, makeTree } from "./tree-for-tests.ts";

describe("ripgrepLiteral", () => {
  it.each([
    ["needle", "needle"],
    ["a", "a"],
    ["-e", "-e"],
    ["héllo wörld", "llo w"],
    ["é", undefined],
    ["日本語 ok", " ok"],
    ["a\nbc", undefined],
    ["one\r\nthree", "three"],
    ["\n", undefined],
    ["x".repeat(5000), "x".repeat(1000)],
  ])("of %.20j is %.20j", (pattern, literal) => expect(ripgrepLiteral(pattern)).toBe(literal));
});

describe("askRipgrep", async () => {
  const program = await ripgrepPath();
  const ask = (directory: string, change: Partial<RipgrepRequest> = {}) =>
    askRipgrep({
      program: program ?? "",
      directory,
      start: "./",
      literal: "hit",
      readIgnoreFiles: true,
      ignoreFileAbove: false,
      maxFileSize: 1000,
      signal: new AbortController().signal,
      ...change,
    });

  it("is the program of the installed package", () => {
    expect(program).toSatisfy((path: string) => isAbsolute(path) && path.includes("node_modules"));
  });

  it("names the files and counts what it read", async () => {
    const root = makeTree({
      "a.txt": "hit",
      "b.txt": "no",
      "c\nd": "hit",
      "e.log": "hit",
      ".gitignore": "*.log\n",
    });
    const answer = await ask(root.hostPath);
    expect(answer?.searched).toBe(4);
    expect([...(answer?.files ?? [])].sort()).toEqual(["./a.txt", "./c\nd"]);
    expect(await ask(root.hostPath, { literal: "nowhere" })).toEqual({ files: [], searched: 4 });
  });

  it("takes a pattern that looks like an option for a pattern", async () => {
    const root = makeTree({ a: "--files", b: "x" });
    expect((await ask(root.hostPath, { literal: "--files" }))?.files).toEqual(["./a"]);
  });

  it("says nothing when it cannot run or is told to stop", async () => {
    const root = makeTree({ a: "hit" });
    expect(await ask(root.hostPath, { program: join(root.hostPath, "none") })).toBeUndefined();
    expect(await ask(join(root.hostPath, "none"))).toBeUndefined();
    expect(await ask(root.hostPath, { signal: AbortSignal.abort() })).toBeUndefined();
  });

  it("never runs a program that lies where it searches", async () => {
    const root = makeTree({ a: "hit", "d/b": "hit", "e/c": "hit" });
    for (const name of ["rg", "rg.exe"]) {
      writeFileSync(join(root.hostPath, name), `#!/bin/sh\ntouch ${root.hostPath}/pwned\n`);
      chmodSync(join(root.hostPath, name), 0o755);
    }
    expect(await found(root, "hit")).toHaveLength(3);
    expect(await found(root, "pwned", { glob: "pwned" })).toEqual([]);
  });
});
