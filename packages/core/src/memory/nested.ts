/** Rules that lie in the directories an agent works in, found when it comes there. */
import { AIMessage, type BaseMessage, type ToolCall, ToolMessage } from "@langchain/core/messages";
import type { BackendProtocol, OperationOptions } from "../backends/backend.ts";
import type { Messages } from "../loop/messages/messages.ts";
import { canonicalPath, isWithin, parentPath } from "../paths.ts";
import { readPages } from "./load.ts";
import type { ReadFile } from "./memory-file.ts";

/** The first existing file of a directory counts. */
export const RULE_FILES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"] as const;

/** Tools whose argument is a file in the directory, and tools whose argument is the directory. */
const FILE_TOOLS = new Set(["read_file", "write_file", "edit_file", "delete"]);
const DIRECTORY_TOOLS = new Set(["ls", "glob", "grep"]);
/** Directories with other people's code: their files are not rules here. */
const FOREIGN = new Set(["node_modules", "site-packages", ".git", ".deepwright"]);
/** Directories of the harness: results of tools, not rules. */
const ASIDE = ["/large_tool_results", "/conversation_history"];

/** Events since the model's last reply. */
export interface LastTurn {
  /** True at the start of a run: the last message is not the model's, or there is none. */
  readonly isStart: boolean;
  /** Calls that were answered without an error. */
  readonly done: readonly ToolCall[];
  /** All calls that were answered. */
  readonly calls: readonly ToolCall[];
}

/** Looks only at the end of the thread. */
export function lastTurnOf(thread: Messages): LastTurn {
  const results = new Map<string, ToolMessage>();
  let isStart = thread.length === 0;
  for (let i = thread.length - 1; i >= 0; i -= 1) {
    const message = thread[i] as BaseMessage;
    if (AIMessage.isInstance(message)) {
      const calls = (message.tool_calls ?? []).filter(({ id }) => id !== undefined && results.has(id));
      const done = calls.filter(({ id }) => results.get(id as string)?.status !== "error");
      return { isStart, calls, done };
    }
    if (ToolMessage.isInstance(message)) results.set(message.tool_call_id, message);
    else isStart = true;
  }
  return { isStart: true, calls: [], done: [] };
}

/** The canonical path a file tool was called with; undefined for other tools and unusable paths. */
export function pathOfCall({ name, args }: ToolCall, base: string): string | undefined {
  if (!FILE_TOOLS.has(name) && !DIRECTORY_TOOLS.has(name)) return undefined;
  const { file_path, path = file_path } = (args ?? {}) as { file_path?: unknown; path?: unknown };
  const given = FILE_TOOLS.has(name) ? (file_path ?? path) : (path ?? base);
  if (typeof given !== "string" || given === "") return undefined;
  return canonicalPath(given, { base }).path;
}

/** The directories the calls worked in and those above, up to the working directory, outermost first. */
export function directoriesOf(calls: readonly ToolCall[], base: string): readonly string[] {
  const found = new Set<string>();
  for (const call of calls) {
    const path = pathOfCall(call, base);
    if (path === undefined) continue;
    const directory = FILE_TOOLS.has(call.name) ? parentPath(path) : path;
    if (isOfWorkspace(directory, base)) for (const one of upwards(directory, base)) found.add(one);
  }
  return [...found].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

function isOfWorkspace(directory: string, base: string): boolean {
  if (!isWithin(directory, base) || ASIDE.some((area) => isWithin(directory, area))) return false;
  return !directory
    .slice(base.length)
    .split("/")
    .some((segment) => FOREIGN.has(segment));
}

function upwards(directory: string, base: string): string[] {
  const list = [directory];
  for (let at = directory; at !== base && at !== "/"; ) {
    at = parentPath(at);
    list.push(at);
  }
  return list;
}

/** The rule file of each directory that has one, read as far as one page goes. */
export async function findRules(
  backend: BackendProtocol,
  directories: readonly string[],
  options: OperationOptions,
): Promise<readonly ReadFile[]> {
  const found = await Promise.all(
    directories.map(async (directory) => {
      const listing = await backend.ls(directory, options);
      if (listing.error !== undefined) return [];
      const names = new Set(listing.files.filter(({ is_dir }) => !is_dir).map(({ path }) => nameOf(path)));
      const name = RULE_FILES.find((candidate) => names.has(candidate));
      return name === undefined ? [] : [`${directory === "/" ? "" : directory}/${name}`];
    }),
  );
  return readPages(backend, found.flat(), options);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
