/** The records that the listing scripts write, as entries with canonical paths. */
import { isUtf8 } from "node:buffer";
import { canonicalPath, showPath } from "../../paths.ts";
import type { FileErrorCode, FileInfo, LsResult, SkippedFile } from "../backend.ts";
import { noAnswer, type Reply } from "./script-runner.ts";
import type { Ask } from "./transfers.ts";

export interface Entry {
  readonly path: string;
  readonly type: "file" | "directory" | "link" | "special";
  readonly size: number;
  /** ISO 8601. */
  readonly modified: string;
}

/** Entries found by a walk. */
export interface Tree {
  readonly files: Entry[];
  /** Whether `files` are only the files that contain the text. */
  readonly searched: boolean;
  /** Whether the path that was to be walked is a file: the only one. */
  readonly isAlone: boolean;
  /** The text of each ignore file by the directory it lies in. */
  readonly ignoreFiles: ReadonlyMap<string, string>;
  readonly skipped: SkippedFile[];
}

/** By the highest four bits of the mode. */
const TYPES: Readonly<Record<number, Entry["type"]>> = { 8: "file", 4: "directory", 10: "link" };

/** Parts that end with NUL, one after the other. */
function* recordsOf({ bytes }: Reply): Generator<Buffer, undefined> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    if (end === -1) throw noAnswer("a record of its answer has no end");
    yield bytes.subarray(at, end);
    at = end + 1;
  }
}

function following(records: Iterator<Buffer, undefined>): Buffer {
  const { value } = records.next();
  if (value === undefined) throw noAnswer("a record of its answer is missing");
  return value;
}

class Collector {
  readonly entries = new Map<string, Entry>();
  readonly skipped: SkippedFile[] = [];

  skip(path: Buffer, code: FileErrorCode): void {
    this.skipped.push({ path: showPath(textOf(path)), code });
  }

  /** Undefined, and noted, for a name that no path can spell: a control character, bytes that are no text. */
  spell(path: Buffer): string | undefined {
    const spelled = textOf(path);
    if (isUtf8(path) && canonicalPath(spelled).path === spelled) return spelled;
    this.skip(path, "INVALID_PATH");
    return undefined;
  }

  /** One group: paths, or names in `directory`, and facts about each. */
  group(records: Iterator<Buffer, undefined>, count: number, directory = Buffer.alloc(0)): void {
    const names = Array.from({ length: count }, () => following(records));
    const facts = following(records).toString("latin1").split("\n");
    if (facts.length !== count) throw noAnswer("names and facts in its answer do not agree");
    for (const [index, name] of names.entries()) this.add(join(directory, name), facts[index] as string);
  }

  add(path: Buffer, facts: string): void {
    const known = factsOf(facts);
    if (known === undefined || isUnfinished(path)) return;
    const spelled = this.spell(path);
    if (spelled !== undefined) this.entries.set(spelled, { path: spelled, ...known });
  }
}

/** Directories have a trailing slash; a link is listed like its target. */
export function listingOf(reply: Reply, ask: Ask): LsResult {
  const records = recordsOf(reply);
  const collector = new Collector();
  const directory = Buffer.from(ask.path);
  for (const record of records) {
    const kind = record[0];
    if (kind === B) collector.group(records, Number(record.toString("latin1", 1)), directory);
    else throw noAnswer("its answer has an unknown record");
  }
  const files = [...collector.entries.values()].map((entry) => infoOf(entry, ask)).sort(byPath);
  return withSkipped({ files }, collector.skipped, ask);
}

/** `files` are sorted by path; links and special files are left out. */
export function treeOf(reply: Reply): Tree {
  const records = recordsOf(reply);
  const collector = new Collector();
  const ignoreFiles = new Map<string, string>();
  let searched = false;
  let isAlone = false;
  for (const record of records) {
    const rest = record.subarray(1);
    const kind = record[0];
    if (kind === Q) searched = true;
    else if (kind === A) isAlone = true;
    else if (kind === B) collector.group(records, Number(rest.toString("latin1")));
    else if (kind === T) collector.skip(rest, "TOO_LARGE");
    else if (kind === S) collector.skip(rest, "PERMISSION_DENIED");
    else if (kind === I) ignoreFiles.set(textOf(rest) || "/", following(records).toString("utf8"));
    else throw noAnswer("its answer has an unknown record");
  }
  for (const { path } of collector.skipped) collector.entries.delete(path);
  const files = [...collector.entries.values()].filter(({ type }) => type === "file").sort(byPath);
  return { files, searched, isAlone, ignoreFiles, skipped: collector.skipped };
}

const [A, B, I, Q, S, T, DOT, SLASH] = Buffer.from("ABIQST./");

/** The path as the caller spelled its directory: absolute or relative. */
export function spelledAs({ path, name }: Ask, found: string): string {
  return path === name ? found : found.slice(1);
}

export function withSkipped<Result extends object>(
  result: Result,
  skipped: readonly SkippedFile[],
  ask: Ask,
): Result {
  if (skipped.length === 0) return result;
  return { ...result, skipped: skipped.map(({ path, code }) => ({ path: spelledAs(ask, path), code })) };
}

export function infoOf({ path: found, type, size, modified }: Entry, ask: Ask): FileInfo {
  const path = spelledAs(ask, found);
  if (type === "directory") return { path: `${path}/`, is_dir: true };
  if (type !== "file") return { path, is_dir: false };
  return { path, is_dir: false, size, modified_at: modified };
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

/** `mode size seconds`, the mode in hexadecimal; undefined for a path that is gone. */
function factsOf(facts: string): Omit<Entry, "path"> | undefined {
  if (facts === "-") return undefined;
  const [mode, size, seconds] = facts.split(" ");
  const type = TYPES[Number.parseInt(mode as string, 16) >> 12] ?? "special";
  return { type, size: Number(size), modified: isoOf(Number(seconds)) };
}

/** An upload that is not in its place yet, or an answer of ours. */
function isUnfinished(path: Buffer): boolean {
  return /\/\.deepwright-[0-9a-f]{32}(?:\.part$|\/)/.test(path.toString("latin1"));
}

/** Relative paths begin with `.`, which stands for the directory that commands start in. */
function textOf(path: Buffer): string {
  return path.toString("utf8", path[0] === DOT ? 1 : 0);
}

function isoOf(seconds: number): string {
  const date = new Date(Math.floor(seconds * 1000));
  if (Number.isNaN(date.getTime())) throw noAnswer("its answer has an unknown time");
  return date.toISOString();
}

/** `name` is a path, or `./name` in the directory. */
function join(directory: Buffer, name: Buffer): Buffer {
  if (name[0] === SLASH) return name;
  return Buffer.concat([directory.length === 1 ? Buffer.alloc(0) : directory, name.subarray(1)]);
}
