/**
 * Reports of the programs that set up the sandbox of a command. They write into a file that the command cannot see, because
 * words in its output could come from the command itself.
 *
 * The file begins with room for the report, so that a full disk loses nothing. It has no name any more once the command
 * runs.
 */
import { close, fchownSync, openSync, readSync, writeSync } from "node:fs";
import type { Owner } from "./lease/lease-directory.ts";

/** The descriptor on which `bwrap` reports that the next program has started, and how it ended. */
export const REPORT = 4;
/** The same file, for the shell that sets limits in the sandbox. */
export const LIMITS_REPORT = 5;
/** The first descriptor that is mounted: the workspace. */
export const FIRST_PLACE = 6;
/** Written by that shell when it cannot set the limits. */
export const NOT_LIMITED_WORD = "not limited";

const ROOM = 1024;
const FILLING = "#";

export class SetUpReport {
  readonly descriptor: number;

  /** A file that is made there, with words for a shell after the room. */
  constructor(path: string, words: string, owner: Owner | undefined) {
    this.descriptor = openSync(path, "wx+", 0o600);
    // Written by position, so that reports through this descriptor start at the beginning.
    writeSync(this.descriptor, `${FILLING.repeat(ROOM)}\n${words}`, 0);
    if (owner !== undefined) fchownSync(this.descriptor, owner.uid, owner.gid);
  }

  /** Whether the command itself has run; it has ended. */
  wasRun(): boolean {
    const bytes = Buffer.alloc(ROOM);
    const length = readSync(this.descriptor, bytes, 0, ROOM, 0);
    const [said = ""] = bytes.toString("latin1", 0, length).split(FILLING);
    return said.includes('"exit-code"') && !said.includes(NOT_LIMITED_WORD);
  }

  /** Call it once. It does not wait for the disk, which frees the file with the close. */
  close(): void {
    close(this.descriptor, () => {});
  }
}
