/** Changes of entries of a directory, for people. */
import { sameEntry } from "deepwright/internal";
import { changeBetween } from "../file-changes.ts";
import type { FileChange } from "../threads.ts";
import type { Entry } from "./timeline.ts";

interface EntryChange {
  readonly place: string;
  readonly path: string;
  readonly before: Entry;
  readonly after: Entry;
}

/** A change for people: contents where there are some, else what the entry is. */
export async function entryChange(
  { place, path, before, after }: EntryChange,
  searchUntil: number,
): Promise<FileChange | undefined> {
  if (sameEntry(before, after)) return undefined;
  const change = await changeBetween(path, contentOf(before), contentOf(after), place, searchUntil);
  const isFile = (entry: Entry): boolean => entry === undefined || entry.type === "file";
  if (isFile(before) && isFile(after) && change) return change;
  const kind = before === undefined ? "created" : after === undefined ? "deleted" : "changed";
  const detail =
    before === undefined || after === undefined
      ? wordsOf(before ?? after)
      : `${wordsOf(before)} → ${wordsOf(after)}`;
  return {
    place,
    path,
    kind,
    before: contentOf(before),
    after: contentOf(after),
    patch: change?.patch,
    detail,
  };
}

function contentOf(entry: Entry): string | Uint8Array | undefined {
  return entry?.type === "file" ? entry.content : undefined;
}

const OCTAL = 8;

function wordsOf(entry: Entry): string {
  if (entry === undefined) return "nothing";
  switch (entry.type) {
    case "symlink":
      return `link to ${entry.target}`;
    case "not-kept":
      return "something that is not kept";
    default:
      return `${entry.type}${entry.mode === undefined ? "" : ` ${entry.mode.toString(OCTAL)}`}`;
  }
}
