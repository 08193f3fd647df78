/** One run of consolidation, from what is new to a diff of what it changed. */
import type { DeepAgent } from "../agent.ts";
import type { BackendProtocol, BackendRuntime } from "../backends/backend.ts";
import { type BackendSource, resolveBackend } from "../backends/resolve.ts";
import { DeepwrightError } from "../errors.ts";
import type { Outcome } from "../loop/messages/outcome.ts";
import { withoutSecrets } from "../secrets.ts";
import type { StreamPart } from "../stream-types.ts";
import {
  type ConversationClaim,
  type ConversationFacts,
  type ConversationSource,
  OWN_THREADS,
} from "./conversations.ts";
import { checkRecordLasts, checkStorage, type WrittenPaths } from "./lasting-storage.ts";
import { type MemoryFileChange, type MemoryTexts, memoryChanges } from "./memory-changes.ts";
import {
  advanced,
  type MemoryRecord,
  type RecordLocation,
  readMemory,
  readRecord,
  writeDiff,
  writeRecord,
} from "./memory-record.ts";
import { momentOf } from "./moment.ts";
import { newConversations } from "./new-conversations.ts";
import { taskOf } from "./words.ts";

export interface ConsolidateOptions {
  /** Threads that did not go on since then are left out: a date, an age in seconds, or `"6h"`. */
  readonly since?: Date | number | string;
  readonly signal?: AbortSignal;
  /** Handed to the run, and to backends whose place depends on it. */
  readonly context?: Record<string, unknown>;
  readonly configurable?: Record<string, unknown>;
  /** Sees every part of the run's stream as it comes. */
  readonly onPart?: (part: StreamPart) => void;
}

export interface ConsolidationReport {
  /**
   * `nothing-new`: no model was asked. `done`: what was reviewed will not be looked at again. `incomplete`
   * (the run ended early, or a change was refused) and `failed`: the next run looks at it again.
   */
  readonly status: "nothing-new" | "done" | "incomplete" | "failed";
  /** The threads that were reviewed, oldest first. */
  readonly conversations: readonly ConversationFacts[];
  /** New ones that are left for the next run. */
  readonly remaining: number;
  /** The memory files that changed, or would have. */
  readonly files: readonly MemoryFileChange[];
  /** All lines that are gone from memory now. */
  readonly removed: readonly { readonly path: string; readonly line: string }[];
  /** Where the diff is kept; absent when nothing changed. */
  readonly diffPath: string | undefined;
  /** The diff of what an earlier run changed before it was killed. */
  readonly recoveredPath: string | undefined;
  /** The last words of the agent. */
  readonly answer: string;
  /** How the run ended by itself. */
  readonly outcome: Outcome | undefined;
  /** The error that ended it. */
  readonly error: unknown;
}

/** Settings that stay the same between runs. Paths are canonical. */
export interface Consolidation {
  readonly agent: Pick<DeepAgent, "stream">;
  /** Paths that the agent changed, as its backend reports. */
  readonly written: WrittenPaths;
  readonly conversations: ConversationSource;
  readonly memory: readonly string[];
  readonly backend: BackendSource;
  readonly store: BackendRuntime["store"];
  readonly historyDirectory: string;
  readonly maxRemoved: number;
  readonly maxConversations: number;
}

/**
 * Throws THREAD_BUSY while another process consolidates the same files, INVALID_OPTION before anything is done
 * where memory or its history lies in the state of a thread, and the reason of an abort.
 */
export async function consolidate(
  settings: Consolidation,
  options: ConsolidateOptions,
): Promise<ConsolidationReport> {
  options.signal?.throwIfAborted();
  const since = options.since === undefined ? undefined : momentOf(options.since, Date.now());
  if (since === null)
    throw new DeepwrightError(
      "INVALID_INPUT",
      "'since' must be a date, an age in seconds or a text like '6h'.",
    );
  const { conversations, memory } = settings;
  const claim = await conversations.claim?.(`consolidation ${memory.join(" ")}`);
  if (conversations.claim && !claim) throw busy();
  try {
    return await withClaim(settings, options, since, claim);
  } finally {
    await claim?.release();
  }
}

export function busy(): DeepwrightError {
  return new DeepwrightError("THREAD_BUSY", "These memory files are being consolidated already.", {
    hint: "Wait for that run to end.",
  });
}

/** Values that one run works with. */
interface Run extends Consolidation {
  readonly options: ConsolidateOptions;
  readonly signal: AbortSignal | undefined;
  readonly files: BackendProtocol;
  readonly location: RecordLocation;
  readonly startedAt: Date;
}

async function withClaim(
  settings: Consolidation,
  options: ConsolidateOptions,
  since: string | undefined,
  claim: ConversationClaim | undefined,
): Promise<ConsolidationReport> {
  const signals = [options.signal, claim?.signal].filter((signal) => signal !== undefined);
  const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
  const open = (state: Record<string, unknown>) =>
    resolveBackend(settings.backend, {
      state,
      ...(settings.store ? { store: settings.store } : {}),
      ...(options.context ? { context: options.context } : {}),
      config: { configurable: options.configurable ?? {} },
    });
  const files = await open({});
  const location = { backend: files, directory: settings.historyDirectory };
  await checkStorage(settings, open, signal);
  const run: Run = { ...settings, options, signal, files, location, startedAt: new Date() };
  const record = await readRecord(location, signal ? { signal } : {});
  const recoveredPath = await recover(run, record);
  const { conversations, remaining } = await newConversations(run, record, since);
  const base = { conversations, remaining, recoveredPath };
  if (conversations.length === 0) return { ...base, status: "nothing-new", ...NOTHING };
  const before = await readMemory(files, settings.memory, signal ? { signal } : {});
  await writeRecord(location, { ...record, pending: pendingOf(run, before) }, signal ? { signal } : {});
  await checkRecordLasts(location, await open({}), signal);
  run.written.clear();
  const asked = await ask(run, taskOf(conversations, before));
  claim?.signal.throwIfAborted();
  const after = await readMemory(files, settings.memory);
  const ended = { ...asked, error: asked.error ?? run.written.loss(before, after) };
  const kept = await keep(run, before, after, ended);
  const isDone = ended.error === undefined && ended.outcome?.kind === "done" && !kept.files.some(isRefused);
  await writeRecord(location, isDone ? advanced(record, conversations) : withoutPending(record));
  options.signal?.throwIfAborted();
  const status = isDone ? "done" : ended.error === undefined ? "incomplete" : "failed";
  return { ...base, status, ...kept, ...ended };
}

const NOTHING = {
  files: [],
  removed: [],
  diffPath: undefined,
  answer: "",
  outcome: undefined,
  error: undefined,
} as const;

function isRefused({ refused }: MemoryFileChange): boolean {
  return refused !== undefined;
}

function pendingOf({ startedAt }: Run, before: MemoryTexts): MemoryRecord["pending"] {
  const files = Object.fromEntries([...before].map(([path, text]) => [path, text ?? null]));
  return { startedAt: startedAt.toISOString(), files };
}

function withoutPending({ pending: _, ...record }: MemoryRecord): MemoryRecord {
  return record;
}

/** A run that was killed left no diff: the files it began with tell. */
async function recover(run: Run, { pending }: MemoryRecord): Promise<string | undefined> {
  if (!pending?.files) return undefined;
  const before = new Map(Object.entries(pending.files).map(([path, text]) => [path, text ?? undefined]));
  const after = await readMemory(run.files, [...before.keys()]);
  const changes = memoryChanges(before, after, 1);
  if (changes.length === 0) return undefined;
  const header = [`What changed since a consolidation that began at ${pending.startedAt} and did not end.`];
  return writeDiff(run.location, header, changes, run.startedAt);
}

interface Ended {
  readonly answer: string;
  readonly outcome: Outcome | undefined;
  readonly error: unknown;
}

/** However it ends: what it wrote until then is to be looked at. */
async function ask(run: Run, task: string): Promise<Ended> {
  const { agent, options, signal } = run;
  const { context, configurable, onPart } = options;
  let state: { messages?: readonly { readonly text?: string }[]; outcome?: Outcome } = {};
  try {
    const stream = await agent.stream(
      { messages: [{ role: "user", content: task }] } as never,
      {
        version: "v2",
        streamMode: onPart ? ["updates", "messages", "custom", "values"] : ["values"],
        ...(signal ? { signal } : {}),
        ...(context ? { context } : {}),
        configurable: { thread_id: `${OWN_THREADS}${crypto.randomUUID()}`, ...configurable },
      } as never,
    );
    for await (const part of stream as AsyncIterable<StreamPart>) {
      if (part.type === "values" && part.ns.length === 0) state = part.data as typeof state;
      onPart?.(part);
    }
  } catch (error) {
    return { answer: "", outcome: state.outcome, error };
  }
  return { answer: state.messages?.at(-1)?.text ?? "", outcome: state.outcome, error: undefined };
}

type Kept = Pick<ConsolidationReport, "files" | "removed" | "diffPath">;

/** Puts back what lost too much and keeps the diff; without a diff no change stands. */
async function keep(
  run: Run,
  before: MemoryTexts,
  after: MemoryTexts,
  { error, outcome }: Ended,
): Promise<Kept> {
  const files: MemoryFileChange[] = [];
  for (const change of memoryChanges(before, after, run.maxRemoved)) {
    const putBack =
      change.refused === undefined ? {} : { putBack: await restore(run, before, after, change.path) };
    files.push({ ...change, ...putBack });
  }
  if (files.length === 0) return NOTHING;
  const end = error === undefined ? (outcome?.kind ?? "unknown") : `failed: ${wordsOf(error)}`;
  const header = [`Consolidation of ${run.startedAt.toISOString()}; it ended: ${end}`];
  try {
    const diffPath = await writeDiff(run.location, header, files, run.startedAt);
    return { files, removed: removedLines(files), diffPath };
  } catch (cause) {
    for (const { path, putBack } of files) if (!putBack) await restore(run, before, after, path);
    throw cause;
  }
}

function removedLines(files: readonly MemoryFileChange[]): ConsolidationReport["removed"] {
  return files
    .filter(({ putBack }) => !putBack)
    .flatMap(({ path, removed }) => removed.map((line) => ({ path, line })));
}

/** Whole text for whole text: it fails where somebody wrote to the file meanwhile, and leaves that alone. */
async function restore(
  { files }: Run,
  before: MemoryTexts,
  after: MemoryTexts,
  path: string,
): Promise<boolean> {
  const [old, now] = [before.get(path), after.get(path)];
  if (old === undefined) {
    if (!files.delete) return false;
    return (await files.delete(path)).error === undefined;
  }
  const result = now === undefined ? await files.write(path, old) : await files.edit(path, now, old);
  return result.error === undefined;
}

function wordsOf(error: unknown): string {
  return withoutSecrets(error instanceof Error ? error.message : String(error));
}
