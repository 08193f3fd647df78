/** Tool calls and their results as one line each. */
import { count } from "../../terminal/amounts.ts";
import { safeLine } from "../../terminal/safe-text.ts";

/** The most telling argument of a call, by tool; other tools show their first short one. */
const TELLING: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    ls: ["path"],
    glob: ["pattern", "path"],
    grep: ["pattern", "path", "glob"],
    task: ["subagent_type", "description"],
    execute: ["command"],
  }),
);
const PATHS = ["file_path", "path"];

/** `read_file /src/x.ts`. */
export function callLine(name: string, args: unknown, width: number): string {
  const words = argumentWords(name, typeof args === "object" && args !== null ? { ...args } : {});
  return safeLine(`${name || "(no name)"} ${words}`, width);
}

function argumentWords(name: string, args: Record<string, unknown>): string {
  if (name === "write_todos" && Array.isArray(args.todos)) return count(args.todos.length, "todo");
  const telling = TELLING.get(name) ?? PATHS.filter((key) => key in args);
  const values = telling.map((key) => args[key]).filter((value) => value !== undefined && value !== "");
  if (values.length > 0) return values.map(shown).join(" ");
  const [first] = Object.values(args);
  return first === undefined ? "" : shown(first);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}

/** The first line of a result, and how many there are; of a command without output, how it ended. */
export function resultLine(text: string, width: number): string {
  const trimmed = text.replace(/\s+$/, "").replace(/^\(no output\)\n\[(.*)\]$/, "$1");
  if (trimmed === "") return "(nothing)";
  const lines = trimmed.split("\n").length;
  const size = lines > 1 ? ` (${count(lines, "line")})` : "";
  const first = safeLine(trimmed.trimStart().split("\n", 1)[0] ?? "", width - size.length);
  return `${first}${size}`;
}

const MARKS: ReadonlyMap<unknown, string> = new Map([
  ["pending", "☐"],
  ["in_progress", "◐"],
  ["completed", "☑"],
]);

/** The todo list, one line each; no lines for a value that is not a list of todos. */
export function todoLines(todos: unknown, width: number): readonly string[] {
  if (!Array.isArray(todos)) return [];
  return todos.map((todo: { content?: unknown; status?: unknown } | null) => {
    const mark = MARKS.get(todo?.status) ?? "☐";
    return safeLine(`${mark} ${String(todo?.content ?? "")}`, width);
  });
}
