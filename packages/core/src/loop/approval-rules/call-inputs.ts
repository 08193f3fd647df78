/**
 * The files that a call reads. If a person approves the call, the approval covers these files with the content they had
 * when the question was made.
 */

import type { BackendRuntime } from "../../backends/backend.ts";
import { WORKSPACE_USE } from "../../internal-symbols.ts";
import { showPath } from "../../paths.ts";
import { lineDifference } from "../../text/line-difference.ts";

/** A file with a hash of its content. Data: it waits in a checkpoint with the question. */
export interface InputFile {
  readonly path: string;
  readonly hash: string;
}

export interface CallInputs {
  /** Sorted by path. */
  readonly files: readonly (InputFile & {
    /** Absent: it is long, or no text. */
    readonly text?: string;
  })[];
  /** The call may read other files, too. */
  readonly isOpen: boolean;
}

/** How a tool uses the files of the thread; the tools that change files or run commands say so. */
export interface WorkspaceUse {
  /** The files that a call with these arguments reads. Approvals of such a tool cover their content. */
  inputs?(args: unknown, runtime: BackendRuntime, signal?: AbortSignal): Promise<CallInputs>;
}

/** The same tool with a declaration of how it uses files. */
export function withWorkspaceUse<Tool extends object>(tool: Tool, use: WorkspaceUse): Tool {
  return Object.defineProperty(tool, WORKSPACE_USE, { value: use, enumerable: true });
}

export function workspaceUse(tool: unknown): WorkspaceUse | undefined {
  return (tool as { [WORKSPACE_USE]?: WorkspaceUse } | undefined)?.[WORKSPACE_USE];
}

/** The files without their texts, as they are stored with a question. */
export function boundFiles({ files }: CallInputs): readonly InputFile[] {
  return files.map(({ path, hash }) => ({ path, hash }));
}

/** The files that are not as they were, that are gone and that are new. */
export function changedInputs(shown: readonly InputFile[], now: readonly InputFile[]): readonly string[] {
  const before = new Map(shown.map(({ path, hash }) => [path, hash]));
  const after = new Map(now.map(({ path, hash }) => [path, hash]));
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
}

const MOST_KEPT = 100;
const MOST_NAMED = 5;
const MOST_LINES = 60;

/** By their hashes: texts of files that questions were about. Which of them a thread was shown is in its state. */
const texts = new Map<string, string>();

function keepTexts(files: CallInputs["files"]): void {
  for (const { hash, text } of files) {
    if (text === undefined) continue;
    texts.delete(hash);
    texts.set(hash, text);
    if (texts.size > MOST_KEPT) texts.delete(texts.keys().next().value as string);
  }
}

/** Words for the question; `before` are the files as the thread was last asked about this call. */
export function inputWords({ files, isOpen }: CallInputs, before: readonly InputFile[] | undefined): string {
  keepTexts(files);
  const [names, are] = [named(files), files.length > 1 ? "they are" : "it is"];
  const holds = files.length > 0 ? `The approval holds for ${names} as ${are} now.` : "";
  const open =
    files.length > 0
      ? "It may read other files, which are not known and not checked."
      : "Which files it reads is not known. The approval holds even if they change.";
  const changes = before ? changedInputs(before, files).map((path) => changeWords(path, before, files)) : [];
  return [holds, isOpen ? open : "", ...changes].filter(Boolean).join("\n");
}

function named(files: readonly InputFile[]): string {
  const names = files.slice(0, MOST_NAMED).map(({ path }) => showPath(path));
  const more = files.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function changeWords(path: string, before: readonly InputFile[], now: readonly InputFile[]): string {
  const [old, fresh] = [before, now].map((files) => files.find((file) => file.path === path));
  const shown = showPath(path);
  if (fresh === undefined) return `${shown} is gone since you were last asked.`;
  if (old === undefined) return `${shown} is new since you were last asked.`;
  const [was, is] = [texts.get(old.hash), texts.get(fresh.hash)];
  if (was === undefined || is === undefined) return `${shown} changed since you were last asked.`;
  const lines = lineDifference(was, is).split("\n");
  const cut = lines.length > MOST_LINES ? [`… ${lines.length - MOST_LINES} lines more`] : [];
  // A mark before each line: content of a file cannot pass for words of ours.
  const rows = [...lines.slice(0, MOST_LINES), ...cut].map((line) => `  | ${line}`);
  return [`${shown} changed since you were last asked:`, ...rows].join("\n");
}
