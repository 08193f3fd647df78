/** The directories for content that the harness moved out of conversations, and the check for a thread's own part. */
import { isWithin } from "../paths.ts";
import type { BackendProtocol, BackendRuntime } from "./backend.ts";

export type Area = "large_tool_results" | "conversation_history";

const AREAS: readonly Area[] = ["large_tool_results", "conversation_history"];
/** The directory of the areas where files have real paths; elsewhere they lie in `/`. */
const OWN_DIRECTORY = ".deepwright";

/** Key of a message's `additional_kwargs` under which stages keep their marks. */
export const MARKS = "deepwright";
/** The private key of the state with the facts about compactions. */
export const COMPACTION = "_compaction";

/** Set by a backend whose files all belong to one thread. */
export interface OfThread {
  readonly isOfThread?: boolean;
}

export function areasDirectory({
  workingDirectory = "/",
}: Pick<BackendProtocol, "workingDirectory">): string {
  return workingDirectory === "/" ? "" : `${workingDirectory}/${OWN_DIRECTORY}`;
}

/** The area a canonical path lies in or is, or the directory of the areas if it is that. */
export function areaOf(backend: Pick<BackendProtocol, "workingDirectory">, path: string): string | undefined {
  const directory = areasDirectory(backend);
  if (directory !== "" && path === directory) return directory;
  return AREAS.map((area) => `${directory}/${area}`).find((area) => isWithin(path, area));
}

/** Whether a message of the thread has a mark of the harness for this file. */
export function isPutAside({ state }: Pick<BackendRuntime, "state">, path: string): boolean {
  const messages = (state as { messages?: unknown } | undefined)?.messages;
  return Array.isArray(messages) && messages.some((message) => marksName(message, path));
}

/** Whether the path is the thread's record of removed messages. */
export function isOwnRecord({ state }: Pick<BackendRuntime, "state">, path: string): boolean {
  const compaction = (state as Record<string, { historyPath?: unknown } | undefined> | undefined)?.[
    COMPACTION
  ];
  return isRecordPath(compaction?.historyPath, path);
}

/** Numbered parts are recorded as `name.part-*.md`. */
function isRecordPath(recorded: unknown, path: string): boolean {
  if (typeof recorded !== "string") return false;
  if (!recorded.endsWith("*.md")) return recorded === path;
  const start = recorded.slice(0, -"*.md".length);
  return path.startsWith(start) && /^\d+\.md$/.test(path.slice(start.length));
}

interface Marked {
  readonly additional_kwargs?: Readonly<Record<string, unknown>>;
}

interface Marks {
  readonly offloaded?: { readonly path?: unknown };
  readonly arguments?: readonly { readonly path?: unknown }[];
}

function marksName(message: unknown, path: string): boolean {
  const marks = (message as Marked | undefined)?.additional_kwargs?.[MARKS] as Marks | undefined;
  if (typeof marks !== "object" || marks === null) return false;
  if (marks.offloaded?.path === path) return true;
  return Array.isArray(marks.arguments) && marks.arguments.some((one) => one?.path === path);
}
