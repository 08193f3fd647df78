import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisFile } from "../../../../scripts/test-cleanups.mjs";

/** A directory that is gone when the tests of this file are over. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "deepwright-sqlite-"));
  afterThisFile(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The name of a database that is not there yet. */
export function scratchFile(): string {
  return join(scratchDirectory(), "state.db");
}
