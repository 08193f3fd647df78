/** The thread that the command line names. */
import { CommandError, usageError } from "../../command-error.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import { lastThread, threadItems } from "../commands/thread-items.ts";
import type { Place } from "./place.ts";

export interface ThreadWish {
  readonly continue?: boolean;
  readonly resume?: string | true;
}

/** Undefined: a new one. */
export async function threadFor(
  place: Place,
  raw: ThreadWish,
  directory: string,
): Promise<string | undefined> {
  if (raw.continue) {
    const last = await lastThread(place, directory);
    if (last === undefined) throw new CommandError("There is no thread of this directory to continue.");
    return last;
  }
  if (typeof raw.resume !== "string") return undefined;
  const { resume } = raw;
  const found = (await threadItems(place, directory)).filter(({ value }) => value.startsWith(resume));
  const [only] = found;
  if (!only || found.length > 1)
    throw usageError(
      `${found.length === 0 ? "No thread begins" : "Several threads begin"} with '${safeLine(resume, 60)}'.`,
      "See deepwright threads list.",
    );
  return only.value;
}
