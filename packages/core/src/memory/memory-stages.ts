/**
 * Memory inside the loop.
 *
 * Files that were loaded first stand in the system prompt until the thread is compacted. Later changes are added behind
 * the message after which they were noticed. So every part of a request is sent again unchanged, also by another
 * process. Files are checked when a run begins and after calls that may have changed one: all calls but those known to
 * read only. The check happens in the task that asks the model, before the request: the calls of a turn run in
 * parallel, but this task is the only writer and needs one round trip.
 */

import type { BaseMessage, ToolCall, ToolMessage } from "@langchain/core/messages";
import { asHarness } from "../backends/harness-call.ts";
import { type BackendSource, resolveBackend } from "../backends/resolve.ts";
import { compactionIn } from "../context/compaction/compaction-state.ts";
import { copyMessage } from "../context/message-copy.ts";
import { windowOf } from "../context/tokens/token-meter.ts";
import type { Stages, StageTask } from "../loop/contract/stages.ts";
import type { Messages } from "../loop/messages/messages.ts";
import type { ChatModel } from "../loop/providers/model-source.ts";
import { parentPath } from "../paths.ts";
import { textHash } from "../text/text-hash.ts";
import { hasStandIn } from "./comments.ts";
import type { MemoryFile } from "./memory-file.ts";
import { directoriesOf, type LastTurn, lastTurnOf, pathOfCall, RULE_FILES } from "./nested.ts";
import { dataSection, memorySection, type SectionOptions } from "./section.ts";
import {
  type AnnouncedMemory,
  type Announcement,
  announcedFiles,
  announcementWords,
  changedFiles,
  type IsUntrusted,
  type LoadedMemory,
  loadSources,
  newRules,
  refreshed,
  type Visit,
} from "./visit.ts";

/** Private keys of the state: the loaded files, and the changes announced since. */
export interface MemoryKeys {
  readonly loaded: string;
  readonly announced: string;
}

export interface MemoryStagesOptions {
  readonly keys: MemoryKeys;
  readonly sources: readonly string[];
  /** Files that the model must not change. */
  readonly readOnly: readonly string[];
  readonly backend: BackendSource | undefined;
  /** Whether rules of the directories the agent works in are looked for. */
  readonly nested: boolean;
  readonly isUntrusted: IsUntrusted;
  /** For a model with so many tokens of window; undefined: not known. */
  readonly sectionFor: (window: number | undefined) => SectionOptions;
}

/** The options for one window, and the prompt made with them. */
interface Sized extends MemoryStagesOptions {
  readonly section: SectionOptions;
  readonly sayings: WeakMap<LoadedMemory, WeakMap<ReadonlySet<string>, string>>;
}

export function createMemoryStages(options: MemoryStagesOptions): Stages {
  const sizes = new Map<number | undefined, Sized>();
  const looked: LookedAt = new WeakMap();
  return {
    result: (message, call) => withHint(message, call),
    section: async (visible, task) => {
      const sized = sizedFor(options, sizes, await task.model());
      const loaded = await currentMemory(sized, looked, visible, task);
      const known = sized.sayings.get(loaded) ?? new WeakMap<ReadonlySet<string>, string>();
      sized.sayings.set(loaded, known);
      const words = known.get(visible) ?? memorySection(loaded.files, visible, sized.section);
      known.set(visible, words);
      return words;
    },
  };
}

function sizedFor(
  options: MemoryStagesOptions,
  sizes: Map<number | undefined, Sized>,
  model: ChatModel | undefined,
): Sized {
  const window = model && windowOf(model);
  const known = sizes.get(window) ?? {
    ...options,
    section: options.sectionFor(window),
    sayings: new WeakMap(),
  };
  sizes.set(window, known);
  return known;
}

/** By the first message of a thread: directories in which there was nothing to tell. */
type LookedAt = WeakMap<BaseMessage, Set<string>>;

async function currentMemory(
  options: Sized,
  looked: LookedAt,
  visible: ReadonlySet<string>,
  task: StageTask,
): Promise<LoadedMemory> {
  const thread = (task.read("messages") as Messages | undefined) ?? [];
  const turn = lastTurnOf(thread);
  const { keys } = options;
  const loaded = task.read(keys.loaded) as LoadedMemory | undefined;
  const isFirst =
    loaded === undefined ||
    !sameSources(loaded.sources, options.sources) ||
    (turn.isStart && hasLostTrust(loaded, options));
  const isCompacted = !isFirst && loaded.compactions !== compactionsOf(task);
  const wrote = turn.calls.some(mayWrite);
  const isLookedAt = isFirst || isCompacted || turn.isStart || wrote;
  const works = options.nested && turn.done.some((call) => pathOfCall(call, "/") !== undefined);
  if (!isLookedAt && !works) return loaded;
  const { runtime, signal } = task;
  const backend = await resolveBackend(options.backend, runtime);
  const operation = signal === undefined ? {} : { signal };
  const sourceOperation = asHarness(operation);
  const { section, isUntrusted } = options;
  const visit: Visit = { task, backend, visible, section, operation, sourceOperation, isUntrusted };
  const memory = isFirst ? await firstMemory(visit, thread, options) : loaded;
  const announced = isFirst ? {} : announcedIn(task, keys);
  const known = knownFiles(memory, announced);
  const changed =
    isLookedAt && !isFirst ? await changedFiles(visit, known, wrote) : { now: known, announcements: [] };
  const base = backend.workingDirectory ?? "/";
  const directories = options.nested ? newDirectories(looked, thread, turn, known, base) : [];
  const rules = directories.length === 0 ? [] : await newRules(visit, directories, changed.now);
  noteEmpty(looked, thread, directories, rules);
  const announcements = [...changed.announcements, ...rules];
  if (announcements.length > 0) announce(visit, keys, thread, announcements);
  if (!isCompacted) return memory;
  return refresh(visit, keys, looked, thread, memory, [...changed.now, ...rules.map(({ file }) => file)]);
}

function sameSources(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((source, i) => source === other[i]);
}

/** Whether the caller no longer trusts a file that the prompt contains. */
function hasLostTrust({ files }: LoadedMemory, { isUntrusted }: MemoryStagesOptions): boolean {
  return files.some(
    (file) => file.text !== undefined && !file.untrusted && !file.goesOn && isUntrusted(file, file.text),
  );
}

function compactionsOf(task: StageTask): number {
  return compactionIn(task).count;
}

async function firstMemory(
  visit: Visit,
  thread: Messages,
  { sources, readOnly, keys }: MemoryStagesOptions,
): Promise<LoadedMemory> {
  const { task } = visit;
  const files = await loadSources(visit, sources, readOnly);
  const memory: LoadedMemory = { sources, files, compactions: compactionsOf(task) };
  load(task, keys, memory);
  tellData(visit, thread, dataSection(files, visit.visible, visit.section));
  return memory;
}

/** From now on the prompt has all announced changes. */
function load(task: StageTask, keys: MemoryKeys, memory: LoadedMemory): void {
  task.write(keys.loaded, memory);
  if (Object.keys(announcedIn(task, keys)).length > 0) task.write(keys.announced, {});
}

function announcedIn(task: StageTask, keys: MemoryKeys): AnnouncedMemory {
  return (task.read(keys.announced) as AnnouncedMemory | undefined) ?? {};
}

/** Files as the model last read them: the sources first, then others in the order of their announcement. */
function knownFiles(memory: LoadedMemory, announced: AnnouncedMemory): readonly MemoryFile[] {
  const loaded = new Set(memory.files.map(({ path }) => path));
  return [
    ...memory.files.map((file) => announced[file.path] ?? file),
    ...Object.values(announced).filter(({ path }) => !loaded.has(path)),
  ];
}

function announce(
  visit: Visit,
  keys: MemoryKeys,
  thread: Messages,
  announcements: readonly Announcement[],
): void {
  const after = thread.at(-1)?.id;
  if (after === undefined) return;
  const { task, section } = visit;
  const text = announcementWords(
    announcements.filter(({ file }) => !file.untrusted),
    section,
  );
  if (text !== "") task.remind({ id: `memory-${textHash(`${after}\n${text}`)}`, after, text });
  tellData(
    visit,
    thread,
    announcementWords(
      announcements.filter(({ file }) => file.untrusted),
      section,
    ),
  );
  task.write(keys.announced, { ...announcedIn(task, keys), ...announcedFiles(announcements) });
}

/** Untrusted content stands behind the last message, and nowhere else. */
function tellData({ task }: Visit, thread: Messages, text: string): void {
  const after = thread.at(-1)?.id;
  if (text === "" || after === undefined) return;
  task.remind({ id: `memory-${textHash(`${after}\n${text}`)}`, after, text, isData: true });
}

/** A compaction changes the prompt anyway, so it gets the present content. */
function refresh(
  visit: Visit,
  keys: MemoryKeys,
  looked: LookedAt,
  thread: Messages,
  memory: LoadedMemory,
  now: readonly MemoryFile[],
): LoadedMemory {
  const { task, section } = visit;
  const fresh: LoadedMemory = {
    sources: memory.sources,
    files: refreshed(now, section),
    compactions: compactionsOf(task),
  };
  load(task, keys, fresh);
  tellData(visit, thread, dataSection(fresh.files, visit.visible, section));
  if (thread[0] !== undefined) looked.delete(thread[0]);
  return fresh;
}

/** Tools that are known to change no file. */
const READING_TOOLS = new Set(["ls", "read_file", "glob", "grep", "write_todos"]);
const CHANGING_TOOLS = new Set(["write_file", "edit_file", "delete"]);

function mayWrite({ name }: ToolCall): boolean {
  return !READING_TOOLS.has(name);
}

/** Directories of this turn that nothing is known about. */
function newDirectories(
  looked: LookedAt,
  thread: Messages,
  turn: LastTurn,
  known: readonly MemoryFile[],
  base: string,
): readonly string[] {
  const first = thread[0];
  if (first === undefined) return [];
  const empty = emptyDirectories(looked.get(first) ?? new Set(), turn, base);
  looked.set(first, empty);
  const announced = new Set(known.flatMap(({ nested, path }) => (nested ? [parentPath(path)] : [])));
  return directoriesOf(turn.done, base).filter((one) => !empty.has(one) && !announced.has(one));
}

/** Stored announcements are in the state; only the others are remembered here. */
function noteEmpty(
  looked: LookedAt,
  thread: Messages,
  directories: readonly string[],
  rules: readonly Announcement[],
): void {
  const announced = new Set(rules.map(({ file }) => parentPath(file.path)));
  const empty = thread[0] && looked.get(thread[0]);
  for (const directory of directories) if (!announced.has(directory)) empty?.add(directory);
}

/** A call may have put rules where there were none. */
function emptyDirectories(empty: Set<string>, turn: LastTurn, base: string): Set<string> {
  if (turn.isStart || turn.calls.some((call) => mayWrite(call) && !CHANGING_TOOLS.has(call.name)))
    return new Set();
  for (const call of turn.calls) {
    const path = CHANGING_TOOLS.has(call.name) ? pathOfCall(call, base) : undefined;
    if (path !== undefined && RULE_FILES.some((name) => path.endsWith(`/${name}`)))
      empty.delete(parentPath(path));
  }
  return empty;
}

const HINT =
  "\n`<!-- kept … -->` only stands for a comment in what you were shown. Read the file, then use its exact text.";

/** An edit made from the shown text does not match at a comment. The hint tells the model why. */
function withHint(message: ToolMessage, call: ToolCall): ToolMessage {
  const { old_string } = (call.args ?? {}) as { old_string?: unknown };
  if (call.name !== "edit_file" || message.status !== "error" || typeof message.content !== "string")
    return message;
  if (typeof old_string !== "string" || !hasStandIn(old_string)) return message;
  return copyMessage(message, { content: message.content + HINT });
}
