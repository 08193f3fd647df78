/** The records that the listing scripts write, as entries with canonical paths. */
import { isUtf8 } from "node:buffer";
import { canonicalPath, showPath } from "../../paths.ts";
import type { FileErrorCode, FileInfo, LsResult, SkippedFile } from "../backend.ts";
import { noAnswer, type Reply } from "./script-runner.ts";
import type { Ask } from "./transfers.ts";

export interface Entry {
  readonly path: string;
  readonly type: "file" | "directory" | "link" | "special";
  /** Unknown where a search named the file. */
  readonly size?: number;
  /** ISO 8601. */
  readonly modified?: string;
}

/** What a walk found. */
export interface Tree {
  readonly files: Entry[];
  /** Whether `files` are only those that hold the text looked for. */
  readonly searched: boolean;
  /** Whether the path that was to be walked is a file: the only one. */
  readonly isAlone: boolean;
  /** The text of each ignore file by the directory it lies in. */
  readonly ignoreFiles: ReadonlyMap<string, string>;
  readonly skipped: SkippedFile[];
}

/** By the highest four bits of the mode. */
const TYPES: Readonly<Record<number, Entry["type"]>> = { 8: "file", 4: "directory", 10: "link" };

/** Reads records that end with NUL, one after the other. */
class Records {
  #at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Undefined after the last. */
  next(): Buffer | undefined {
    if (this.#at >= this.#bytes.length) return undefined;
    const end = this.#bytes.indexOf(0, this.#at);
    if (end === -1) throw noAnswer("a record of its answer has no end");
    const record = this.#bytes.subarray(this.#at, end);
    this.#at = end + 1;
    return record;
  }

  demand(): Buffer {
    const record = this.next();
    if (record === undefined) throw noAnswer("a record of its answer is missing");
    return record;
  }
}

class Collector {
  readonly entries = new Map<string, Entry>();
  readonly skipped: SkippedFile[] = [];

  skip(path: Buffer, code: FileErrorCode): void {
    this.skipped.push({ path: showPath(path.toString("utf8", path[0] === DOT ? 1 : 0)), code });
  }

  /** Undefined, and noted, for a name that no path can spell: a control character, bytes that are no text. */
  spell(path: Buffer): string | undefined {
    const spelled = path.toString("utf8", path[0] === DOT ? 1 : 0);
    if (isUtf8(path) && canonicalPath(spelled).path === spelled) return spelled;
    this.skip(path, "INVALID_PATH");
    return undefined;
  }

  /** One group: names in `directory` and what is known about each. */
  group(records: Records, count: number, directory: Buffer): void {
    const names = Array.from({ length: count }, () => records.demand());
    const facts = records.demand().toString("latin1").split("\n");
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

/** Directories have a trailing slash; a link is shown as what it leads to. */
export function listingOf(reply: Reply, ask: Ask): LsResult {
  const records = new Records(reply.bytes);
  const collector = new Collector();
  const directory = Buffer.from(ask.path);
  for (let record = records.next(); record !== undefined; record = records.next()) {
    const kind = record[0];
    if (kind === B) collector.group(records, Number(record.toString("latin1", 1)), directory);
    else if (kind === K) replaceLink(collector, join(directory, record.subarray(1)), records.demand());
    else throw noAnswer("its answer has an unknown record");
  }
  const files = [...collector.entries.values()].map((entry) => infoOf(entry, ask)).sort(byPath);
  return withSkipped({ files }, collector.skipped, ask);
}

/** `files` are sorted by path; links and special files are left out. */
export function treeOf(reply: Reply): Tree {
  const records = new Records(reply.bytes);
  const collector = new Collector();
  const ignoreFiles = new Map<string, string>();
  const found = new Set<string>();
  let searched = false;
  let isAlone = false;
  let directory: Buffer = Buffer.from("/");
  for (let record = records.next(); record !== undefined; record = records.next()) {
    const rest = record.subarray(1);
    const kind = record[0];
    if (kind === Q) searched = true;
    else if (kind === A) isAlone = true;
    else if (kind === C) directory = rest;
    else if (kind === B) collector.group(records, Number(rest.toString("latin1")), directory);
    else if (kind === F) addFile(collector, found, rest);
    else if (kind === T) collector.skip(rest, "TOO_LARGE");
    else if (kind === S) collector.skip(rest, "PERMISSION_DENIED");
    else if (kind === I) ignoreFiles.set(directoryOf(rest), records.demand().toString("utf8"));
    else if (kind === SLASH || kind === DOT) addNamed(collector, found, record);
    else throw noAnswer("its answer has an unknown record");
  }
  for (const { path } of collector.skipped) collector.entries.delete(path);
  const files = [...collector.entries.values()].filter(
    ({ path, type }) => type === "file" && (!searched || found.has(path)),
  );
  return { files: files.sort(byPath), searched, isAlone, ignoreFiles, skipped: collector.skipped };
}

const [A, B, C, F, I, K, Q, S, T, SLASH, DOT] = Buffer.from("ABCFIKQST/.");

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
  if (type !== "file" || size === undefined || modified === undefined) return { path, is_dir: false };
  return { path, is_dir: false, size, modified_at: modified };
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

/** A link that leads nowhere stays one. */
function replaceLink(collector: Collector, path: Buffer, facts: Buffer): void {
  const spelled = path.toString("utf8");
  const known = factsOf(facts.toString("latin1"));
  if (known !== undefined && collector.entries.has(spelled))
    collector.entries.set(spelled, { path: spelled, ...known });
}

/** `size seconds path`, the seconds with a fraction. */
function addFile(collector: Collector, found: Set<string>, record: Buffer): void {
  const first = record.indexOf(32);
  const second = record.indexOf(32, first + 1);
  const size = Number(record.toString("latin1", 0, first));
  const modified = isoOf(Number(record.toString("latin1", first + 1, second)));
  const path = collector.spell(record.subarray(second + 1));
  if (path === undefined || isUnfinished(record)) return;
  found.add(path);
  collector.entries.set(path, { path, type: "file", size, modified });
}

function addNamed(collector: Collector, found: Set<string>, record: Buffer): void {
  const path = collector.spell(record);
  if (path === undefined || isUnfinished(record)) return;
  found.add(path);
  if (!collector.entries.has(path)) collector.entries.set(path, { path, type: "file" });
}

/** `mode size seconds`, the mode in hexadecimal; undefined for what is gone. */
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

function directoryOf(path: Buffer): string {
  return path.toString("utf8", path[0] === DOT ? 1 : 0) || "/";
}

function isoOf(seconds: number): string {
  const date = new Date(Math.floor(seconds * 1000));
  if (Number.isNaN(date.getTime())) throw noAnswer("its answer has an unknown time");
  return date.toISOString();
}

/** The scripts name what lies in the current directory `./name`. */
function join(directory: Buffer, name: Buffer): Buffer {
  const base = directory.length === 1 ? Buffer.alloc(0) : directory;
  return Buffer.concat([base, SEPARATOR, name.subarray(name[0] === 0x2e && name[1] === 0x2f ? 2 : 0)]);
}

const SEPARATOR = Buffer.from("/");
