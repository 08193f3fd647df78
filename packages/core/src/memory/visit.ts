/**
 * One look at the memory files before the model is asked: the text about new or changed files, and the state to store.
 */

import type { BackendProtocol, OperationOptions } from "../backends/backend.ts";
import { writeFilesUpdate } from "../context/write-files-update.ts";
import type { StageTask } from "../loop/contract/stages.ts";
import { canonicalPath, parentPath } from "../paths.ts";
import { changeWords, lossWords } from "./changes.ts";
import { restoreComments } from "./comment-guard.ts";
import { lostComments } from "./comments.ts";
import { named } from "./delimit.ts";
import { downloadTexts, readPages } from "./load.ts";
import {
  isMissing,
  isSame,
  knownComments,
  type MemoryFile,
  memoryFile,
  type ReadFile,
  shownText,
  withoutText,
} from "./memory-file.ts";
import { findRules } from "./nested.ts";
import { fileBlock, problemWords, reminderLimit, reminderTokens, type SectionOptions } from "./section.ts";

/** The stored memory part of the system prompt. Stored once, and again at each compaction. */
export interface LoadedMemory {
  /** As they were given. */
  readonly sources: readonly string[];
  readonly files: readonly MemoryFile[];
  /** How often the thread had been compacted. */
  readonly compactions: number;
}

/** In the state: files announced to the model since then, by path, as they were. */
export type AnnouncedMemory = Readonly<Record<string, MemoryFile>>;

/** Announcement about one file. */
export interface Announcement {
  readonly file: MemoryFile;
  readonly words: string;
}

/** Whether a file with this text is untrusted. */
export type IsUntrusted = (file: Pick<MemoryFile, "path" | "nested">, text: string) => boolean;

export interface Visit {
  readonly task: StageTask;
  readonly isUntrusted: IsUntrusted;
  readonly backend: BackendProtocol;
  readonly visible: ReadonlySet<string>;
  readonly section: SectionOptions;
  readonly operation: OperationOptions;
  /** For the sources: they are read even where the agent itself may not read. */
  readonly sourceOperation: OperationOptions;
}

export async function loadSources(
  visit: Visit,
  sources: readonly string[],
  readOnly: readonly string[],
): Promise<readonly MemoryFile[]> {
  const locked = pathsOf(visit, readOnly);
  const read = await downloadTexts(visit.backend, [...pathsOf(visit, sources)], visit.sourceOperation);
  return read.map((file) => {
    const loaded = judged(visit, memoryFile(file, visit.section.fileLimit), file);
    return locked.has(file.path) ? { ...loaded, readOnly: true } : loaded;
  });
}

function judged({ isUntrusted }: Visit, file: MemoryFile, { text }: ReadFile): MemoryFile {
  return text !== undefined && isUntrusted(file, text) ? { ...file, untrusted: true } : file;
}

/** Where relative paths lie is known in a run only. */
function pathsOf({ backend }: Visit, sources: readonly string[]): ReadonlySet<string> {
  const base = backend.workingDirectory ?? "/";
  return new Set(sources.flatMap((source) => canonicalPath(source, { base }).path ?? []));
}

/** `byAgent`: calls of the agent may have made the changes. They must not remove comments. */
export async function changedFiles(
  visit: Visit,
  known: readonly MemoryFile[],
  byAgent: boolean,
): Promise<{ readonly now: readonly MemoryFile[]; readonly announcements: readonly Announcement[] }> {
  const { backend, operation, sourceOperation } = visit;
  const sources = known.filter(({ nested }) => !nested);
  const found = known.filter(({ nested }) => nested);
  const [all, pages] = await Promise.all([
    downloadTexts(backend, sources.map(pathOf), sourceOperation),
    readPages(backend, found.map(pathOf), operation),
  ]);
  const now: MemoryFile[] = [];
  const announcements: Announcement[] = [];
  for (const [i, before] of [...sources, ...found].entries()) {
    const read = [...all, ...pages][i] as ReadFile;
    const { file, words } = await compared(visit, before, read, byAgent);
    now.push(file);
    if (words !== undefined) announcements.push({ file, words });
  }
  return { now, announcements };
}

async function compared(
  visit: Visit,
  before: MemoryFile,
  read: ReadFile,
  byAgent: boolean,
): Promise<{ readonly file: MemoryFile; readonly words?: string }> {
  // The common case costs no hash.
  if (read.text !== undefined && read.text === before.text && !before.goesOn) return { file: before };
  const first = remembered(visit, before, read);
  if (isSame(before, first)) return { file: first };
  const comments = byAgent && !before.readOnly ? knownComments(before) : [];
  const whole = await guarded(visit, read, comments);
  const file = whole === read ? first : remembered(visit, before, whole);
  const words = changeWords(before, file, visit.visible, reminderLimit(visit.section));
  const lost = whole.text === undefined ? [] : lostComments(whole.text, comments);
  if (lost.length === 0) return words === undefined ? { file } : { file, words };
  return { file, words: [words, lossWords(file.path, lost, visit.visible)].filter(Boolean).join("\n") };
}

function remembered(visit: Visit, { nested, readOnly }: MemoryFile, read: ReadFile): MemoryFile {
  const file = memoryFile(read, nested ? reminderLimit(visit.section) : visit.section.fileLimit);
  return judged(visit, { ...file, ...(nested && { nested }), ...(readOnly && { readOnly }) }, read);
}

async function guarded(visit: Visit, read: ReadFile, comments: readonly string[]): Promise<ReadFile> {
  const { file, filesUpdate } = await restoreComments(visit.backend, read, comments, visit.operation);
  writeFilesUpdate(visit.task, filesUpdate);
  return file;
}

/** Rules of directories that the agent enters for the first time. A copy of known content is not announced. */
export async function newRules(
  visit: Visit,
  directories: readonly string[],
  known: readonly MemoryFile[],
): Promise<readonly Announcement[]> {
  const paths = new Set(known.map(pathOf));
  const marks = new Set(known.map(({ mark }) => mark));
  const announcements: Announcement[] = [];
  for (const read of await findRules(visit.backend, directories, visit.operation)) {
    const file = judged(visit, { ...memoryFile(read, reminderLimit(visit.section)), nested: true }, read);
    if (paths.has(file.path) || isMissing(file) || (file.mark !== undefined && marks.has(file.mark)))
      continue;
    marks.add(file.mark);
    announcements.push({ file, words: ruleWords(visit, file) });
  }
  return announcements;
}

function ruleWords({ visible, section }: Visit, file: MemoryFile): string {
  if (file.problem !== undefined) return problemWords(file);
  const block = fileBlock(file, shownText(file, reminderLimit(section), reminderTokens(section)), visible);
  return file.untrusted ? block : `Rules for work in ${named(parentPath(file.path))}:\n${block}`;
}

/** One reminder for all announcements; files that do not fit are named. */
export function announcementWords(announcements: readonly Announcement[], section: SectionOptions): string {
  let left = 2 * reminderLimit(section);
  const parts = announcements.map(({ file, words }) => {
    if (words.length > left)
      return `${named(file.path)} is new or changed, and too much to show here: read it.`;
    left -= words.length;
    return words;
  });
  return parts.join("\n\n");
}

/**
 * A new prompt: the sources, and the newest of the rules whose messages are gone. The other rules are announced again
 * when the agent returns to their directories.
 */
export function refreshed(now: readonly MemoryFile[], { totalLimit }: SectionOptions): readonly MemoryFile[] {
  let left = Math.min(8_000, totalLimit / 4);
  const kept = now
    .filter((file) => file.nested && file.text !== undefined)
    .toReversed()
    .filter(({ text = "" }) => {
      left -= text.length;
      return left >= 0;
    });
  return [...now.filter(({ nested }) => !nested), ...kept.toReversed()];
}

/** Text of nested files is not kept: there may be many, and they rarely change. */
export function announcedFiles(announcements: readonly Announcement[]): AnnouncedMemory {
  return Object.fromEntries(
    announcements.map(({ file }) => [file.path, file.nested ? withoutText(file) : file] as const),
  );
}

function pathOf({ path }: MemoryFile): string {
  return path;
}
