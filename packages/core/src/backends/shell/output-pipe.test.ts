import { closeSync, readdirSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { openOutputPipe } from "./output-pipe.ts";
import { scratchDirectory } from "./shell-for-tests.ts";

it("pipes that are opened at the same time share one directory", async () => {
  const temporary = scratchDirectory();
  const before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const pipes = await Promise.all(Array.from({ length: 5 }, () => openOutputPipe()));
  for (const pipe of pipes) {
    expect(pipe).toBeDefined();
    if (pipe !== undefined) for (const end of [pipe.readEnd, pipe.writeEnd]) closeSync(end);
  }
  expect(new Set(pipes.map((pipe) => pipe?.path)).size).toBe(5);
  expect(readdirSync(temporary)).toHaveLength(1);
});
