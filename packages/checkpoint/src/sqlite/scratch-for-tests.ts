import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const directories: string[] = [];

afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A directory that is gone when the tests of this file are over. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "deepwright-sqlite-"));
  directories.push(directory);
  return directory;
}

/** The name of a database that is not there yet. */
export function scratchFile(): string {
  return join(scratchDirectory(), "state.db");
}
