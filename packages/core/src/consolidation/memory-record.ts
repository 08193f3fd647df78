/**
 * Records of consolidation beside the memory files: how far it has looked, the files as they were while it works, and
 * a diff of every run that changed them.
 */
import { errorCode } from "../backends/adapt/adapt-errors.ts";
import { readRawFile } from "../backends/adapt/raw-file.ts";
import type { BackendProtocol, OperationOptions } from "../backends/backend.ts";
import { isText, mimeTypeOf, storedContent } from "../backends/file-map/file-map.ts";
import { DeepwrightError } from "../errors.ts";
import type { ConversationFacts } from "./conversations.ts";
import type { MemoryFileChange, MemoryTexts } from "./memory-changes.ts";

export interface MemoryRecord {
  /** Threads that did not go on after this moment have been reviewed. */
  readonly until?: string;
  /** Threads that continued shortly before it: when, by id. */
  readonly reviewed?: Readonly<Record<string, string>>;
  /** A run that has begun and not ended: it works, or it was killed. */
  readonly pending?: {
    readonly startedAt: string;
    /** null: there was no such file. */
    readonly files: Readonly<Record<string, string | null>>;
  };
}

/** A thread may be stored a moment after the time it is stored with: so far back is looked again. */
export const OVERLAP_MS = 60_000;

/** Where, and with what. */
export interface RecordLocation {
  readonly backend: BackendProtocol;
  readonly directory: string;
}

export async function readRecord(location: RecordLocation, options: OperationOptions): Promise<MemoryRecord> {
  const path = recordPath(location);
  const { data, error, code } = await readText(location.backend, path, options);
  if (code === "FILE_NOT_FOUND") return {};
  if (error !== undefined) throw unusable(path, error);
  try {
    const record: unknown = JSON.parse(data);
    if (typeof record === "object" && record !== null && !Array.isArray(record)) return record;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  throw unusable(path, "it is not the JSON that was written there");
}

export async function writeRecord(
  location: RecordLocation,
  record: MemoryRecord,
  options: OperationOptions = {},
): Promise<void> {
  const path = recordPath(location);
  const text = `${JSON.stringify(record, undefined, 2)}\n`;
  const { error } = await location.backend.write(path, text, { ...options, overwrite: true });
  if (error !== undefined) throw unusable(path, error);
}

/** The record after the conversations in `reviewed`. The last of them is the newest. */
export function advanced(record: MemoryRecord, reviewed: readonly ConversationFacts[]): MemoryRecord {
  const times = new Map(Object.entries(record.reviewed ?? {}));
  for (const { threadId, updatedAt } of reviewed) times.set(threadId, updatedAt);
  const until = [...times.values(), record.until ?? ""].sort().at(-1);
  if (!until) return {};
  const recently = new Date(Date.parse(until) - OVERLAP_MS).toISOString();
  return { until, reviewed: Object.fromEntries([...times].filter(([, time]) => time >= recently)) };
}

/** Returns the path of the new file. */
export async function writeDiff(
  location: RecordLocation,
  header: readonly string[],
  changes: readonly MemoryFileChange[],
  at: Date,
): Promise<string> {
  const notes = changes.flatMap(({ path, refused, putBack }) =>
    refused === undefined
      ? []
      : [`${path}: ${refused}; ${putBack ? "it was put back" : "it was NOT put back"}`],
  );
  const head = [...header, ...notes].map((line) => `# ${line.replaceAll(/\s+/g, " ")}\n`).join("");
  const text = head + changes.map(({ patch }) => patch).join("");
  const name = `${location.directory}/${at.toISOString().replaceAll(/[:.]/g, "-")}`;
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? `${name}.diff` : `${name}-${number}.diff`;
    const result = await location.backend.write(path, text);
    if (result.error === undefined) return path;
    if (result.code !== "FILE_EXISTS" || number >= MOST_NAMES) throw unusable(path, result.error);
  }
}

const MOST_NAMES = 100;

/** Throws for a file that is there and cannot be read as text. */
export async function readMemory(
  backend: BackendProtocol,
  paths: readonly string[],
  options: OperationOptions = {},
): Promise<MemoryTexts> {
  const texts = new Map<string, string | undefined>();
  for (const path of paths) {
    const { data, error, code } = await readText(backend, path, options);
    if (error !== undefined && code !== "FILE_NOT_FOUND")
      throw new DeepwrightError("INVALID_INPUT", `The memory file '${path}' cannot be read: ${error}.`);
    texts.set(path, data);
  }
  return texts;
}

export type TextResult =
  | { readonly data: string; readonly error?: undefined; readonly code?: undefined }
  | { readonly data?: undefined; readonly error: string; readonly code: string };

export async function readText(
  backend: BackendProtocol,
  path: string,
  options: OperationOptions,
): Promise<TextResult> {
  const result = await readRawFile(backend, path, options);
  if (result.error !== undefined) return { error: result.error, code: errorCode(result) };
  if (!isText(result.data)) return { error: `it is ${mimeTypeOf(result.data)}, not text`, code: "NOT_TEXT" };
  return { data: storedContent(result.data) };
}

export function recordPath({ directory }: Pick<RecordLocation, "directory">): string {
  return `${directory}/state.json`;
}

function unusable(path: string, reason: string): DeepwrightError {
  return new DeepwrightError("STORAGE_UNAVAILABLE", `'${path}' cannot be used: ${reason}.`, {
    hint: "Memory files are changed only with a record of the change.",
  });
}
