/**
 * A thread as a text file: one JSON object a line, data only.
 *
 * A header, then objects, each before what refers to it, numbered from 0 in the order they come; rows
 * after the objects they refer to; and an end that counts them, so that a file that was cut is noticed.
 */
import { isRecord } from "deepwright/check-options";
import { DeepwrightError } from "deepwright/errors";
import { KIND } from "../content/handle.ts";
import { checkedId, checkedText } from "../saver/ids.ts";
import type { WriteEntry } from "../storage/storage.ts";

export const FORMAT_NAME = "deepwright-thread";
export const FORMAT_VERSION = 1;

export interface HeaderLine {
  readonly format: typeof FORMAT_NAME;
  readonly version: number;
  readonly threadId: string;
  readonly facts: HeaderFacts;
}

export interface HeaderFacts {
  readonly title?: string | undefined;
  readonly firstPrompt?: string | undefined;
  readonly messageCount?: number | undefined;
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly updatedAt?: number | undefined;
}

export interface ObjectLine {
  readonly type: "object";
  readonly kind: number;
  /** Numbers of objects that came before. */
  readonly refs: readonly number[];
  readonly hash: string;
  readonly text?: string;
  readonly base64?: string;
}

export interface CheckpointLine {
  readonly type: "checkpoint";
  readonly namespace: string;
  readonly id: string;
  readonly parent?: string | undefined;
  readonly root?: string | undefined;
  readonly refs: readonly number[];
  readonly body: string;
}

export interface WritesLine {
  readonly type: "writes";
  readonly namespace: string;
  readonly checkpointId: string;
  readonly taskId: string;
  readonly entries: readonly WriteEntry[];
}

export interface ImageLine {
  readonly type: "image";
  readonly checkpointId: string;
  readonly place: string;
  readonly path: string;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

export interface EndLine extends LineCounts {
  readonly type: "end";
}

export interface LineCounts {
  readonly objects: number;
  readonly checkpoints: number;
  readonly writes: number;
  readonly images: number;
}

export type BodyLine = ObjectLine | CheckpointLine | WritesLine | ImageLine | EndLine;

/** Throws INVALID_INPUT that names the line. */
export class LineReader {
  number = 0;

  header(line: string): HeaderLine {
    const header = this.parsed(line);
    if (header.format !== FORMAT_NAME || !isCount(header.version))
      throw this.invalid("is not the beginning of an exported thread");
    if (header.version > FORMAT_VERSION)
      throw new DeepwrightError(
        "STORAGE_TOO_NEW",
        `The file was written by a newer version (format ${header.version}, this one reads up to ${FORMAT_VERSION}).`,
        { hint: "Update @deepwright/checkpoint." },
      );
    this.check(typeof header.threadId === "string" && header.threadId !== "", "names no thread");
    this.check(isRecord(header.facts), "has no facts");
    return header as unknown as HeaderLine;
  }

  body(line: string): BodyLine {
    const value = this.parsed(line);
    const type = String(value.type);
    const check = Object.hasOwn(CHECKS, type) ? CHECKS[type] : undefined;
    if (!check) throw this.invalid("is of a kind this version does not know");
    try {
      this.check(check(value), `is not a whole ${String(value.type)}`);
    } catch (error) {
      if (error instanceof DeepwrightError && error.code === "INVALID_ID")
        throw this.invalid(`has an unusable id: ${error.message}`);
      throw error;
    }
    return value as unknown as BodyLine;
  }

  check(holds: boolean, problem: string): void {
    if (!holds) throw this.invalid(problem);
  }

  invalid(problem: string): DeepwrightError {
    return new DeepwrightError("INVALID_INPUT", `Line ${this.number} of the thread file ${problem}.`, {
      hint: "Nothing was imported.",
    });
  }

  private parsed(line: string): Record<string, unknown> {
    this.number += 1;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw this.invalid("is not JSON");
    }
    if (!isRecord(value)) throw this.invalid("is not a JSON object");
    return value;
  }
}

const CHECKS: Readonly<Record<string, (line: Record<string, unknown>) => boolean>> = {
  object: ({ kind, refs, hash, text, base64 }) =>
    KINDS.has(kind) && isRefs(refs) && typeof hash === "string" && isBody(kind, text, base64),
  checkpoint: ({ namespace, id, parent, root, refs, body }) =>
    isName(namespace) &&
    isId(id) &&
    isOptionalId(parent) &&
    isOptionalId(root) &&
    isRefs(refs) &&
    isRow(body),
  writes: ({ namespace, checkpointId, taskId, entries }) =>
    isName(namespace) && isId(checkpointId) && isId(taskId) && isList(entries) && entries.every(isEntry),
  image: ({ checkpointId, place, path, before, after }) =>
    isId(checkpointId) && isText(place) && isText(path) && isOptionalRef(before) && isOptionalRef(after),
  end: ({ objects, checkpoints, writes, images }) => [objects, checkpoints, writes, images].every(isCount),
};

const KINDS: ReadonlySet<unknown> = new Set(Object.values(KIND));
const JSON_KINDS: ReadonlySet<unknown> = new Set([KIND.value, KIND.map]);
const BYTES_KINDS: ReadonlySet<unknown> = new Set([KIND.text16, KIND.bytes]);

function isBody(kind: unknown, text: unknown, base64: unknown): boolean {
  if (BYTES_KINDS.has(kind)) return text === undefined && typeof base64 === "string";
  if (base64 !== undefined || typeof text !== "string" || !text.isWellFormed()) return false;
  const isJson = JSON_KINDS.has(kind) || (kind === KIND.list && text !== "");
  return !isJson || parses(text);
}

function isRow(body: unknown): boolean {
  return typeof body === "string" && body.isWellFormed() && parses(body.replace(/^D/, ""));
}

function isEntry(entry: unknown): boolean {
  if (!isRecord(entry)) return false;
  const { index, channel, body, refs } = entry;
  const isPlace = Number.isSafeInteger(index) && typeof channel === "string";
  return isPlace && isRefs(refs) && typeof body === "string" && body.isWellFormed() && parses(body);
}

function parses(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

function isRefs(value: unknown): boolean {
  return isList(value) && value.every(isCount);
}

function isOptionalRef(value: unknown): boolean {
  return value === undefined || isCount(value);
}

function isId(value: unknown): boolean {
  return checkedId("id", value) !== "";
}

function isOptionalId(value: unknown): boolean {
  return value === undefined || isId(value);
}

function isName(value: unknown): boolean {
  return value === "" || isId(value);
}

function isText(value: unknown): boolean {
  return typeof checkedText("name", value) === "string";
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}
