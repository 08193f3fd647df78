/** Facts about a directory whose content is not kept. */
import { lstatSync, readdirSync } from "node:fs";
import { systemCode } from "../file-errors.ts";
import type { OpenDirectory } from "../root/open-directory.ts";

export interface IgnoredFacts {
  /** Entries that were counted. */
  entries: number;
  /** The newest times of the directories that were looked at. */
  mtimeMs: number;
  ctimeMs: number;
}

/** Enough for packages with a scope, branches of git, and `lib/python3/site-packages`. */
const DEPTH = 3;
/** Directories that are looked at. */
const MOST_DIRECTORIES = 2_000;

/**
 * Counts entries and finds the newest change of names, some levels deep. A file that is changed in place is not noticed;
 * one that is replaced, as package managers and editors do, is.
 */
export function ignoredFacts(parent: OpenDirectory, name: string): IgnoredFacts {
  const facts: IgnoredFacts = { entries: 0, mtimeMs: 0, ctimeMs: 0 };
  look(parent, name, DEPTH, { facts, left: MOST_DIRECTORIES });
  return facts;
}

function look(
  parent: OpenDirectory,
  name: string,
  depth: number,
  counted: { readonly facts: IgnoredFacts; left: number },
): void {
  counted.left -= 1;
  const { facts } = counted;
  let directory: OpenDirectory | undefined;
  try {
    directory = parent.child(name);
    const { mtimeMs, ctimeMs } = lstatSync(`${directory.at}/.`);
    facts.mtimeMs = Math.max(facts.mtimeMs, mtimeMs);
    facts.ctimeMs = Math.max(facts.ctimeMs, ctimeMs);
    const entries = readdirSync(directory.at || "/", { withFileTypes: true });
    facts.entries += entries.length;
    if (depth === 0) return;
    for (const entry of entries)
      if (entry.isDirectory() && counted.left > 0) look(directory, entry.name, depth - 1, counted);
  } catch (error) {
    // It has gone, or may not be read.
    if (systemCode(error) === undefined) throw error;
  } finally {
    directory?.close();
  }
}
