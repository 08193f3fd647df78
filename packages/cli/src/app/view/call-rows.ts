/** Tool calls as rows: one line that says what it is about, and a short form of its result. */
import type { ShownCall } from "@deepwright/protocol";
import { callLine, resultLine } from "../../run/output/tool-lines.ts";
import { revealedLines, wrapped } from "../../terminal/revealed-text.ts";
import { safeText } from "../../terminal/safe-text.ts";
import { diffRows } from "./diff-rows.ts";
import type { Theme } from "./theme.ts";

export interface CallContext {
  readonly theme: Theme;
  /** The line of the file where a text stands, from 1; undefined: not known. */
  readonly lineOf: (path: string, text: string) => number | undefined;
  /** Names of the agents, outermost first, for a call of a subagent. */
  readonly agent?: string;
}

const MARKS: Readonly<Record<ShownCall["status"], string>> = {
  writing: "○",
  running: "○",
  waiting: "?",
  done: "●",
  error: "✘",
  stopped: "■",
};

/** Calls that show elsewhere, such as the todo list. */
export function isHiddenCall({ name, status }: ShownCall): boolean {
  return name === "write_todos" && status !== "error";
}

export function isSettled({ status }: ShownCall): boolean {
  return status === "done" || status === "error" || status === "stopped";
}

export function callRows(call: ShownCall, width: number, context: CallContext): readonly string[] {
  const { theme } = context;
  if (isHiddenCall(call)) return [];
  const args = call.args ?? parsedSoFar(call.argsText);
  const line = callLine(call.name, args, width - 4);
  const mark = markOf(call, theme);
  const title = `${mark} ${line}`;
  if (call.status === "error")
    return [title, theme.bad(`  ${resultLine(withoutPrefix(call.result ?? ""), width - 4)}`)];
  const change = call.status === "done" ? changeRows(call, width, context) : [];
  if (change.length > 0) return [title, ...change];
  if (call.result === undefined) return [title];
  return [title, theme.dim(`  ${resultLine(call.result, width - 4)}`)];
}

function markOf({ status }: ShownCall, theme: Theme): string {
  if (status === "done") return theme.good(MARKS.done);
  if (status === "error") return theme.bad(MARKS.error);
  return status === "waiting" ? theme.warning(MARKS.waiting) : theme.dim(MARKS[status]);
}

const MOST_DIFF_ROWS = 24;
const MOST_WRITTEN_ROWS = 10;

/** The change of an edit or a write, as a diff. */
export function changeRows(
  call: Pick<ShownCall, "name" | "args" | "status">,
  width: number,
  { theme, lineOf }: CallContext,
  most = MOST_DIFF_ROWS,
): readonly string[] {
  const { file_path: path, old_string: before, new_string: after, content } = asRecord(call.args);
  if (call.name === "write_file" && typeof content === "string")
    return diffRows("", content, 1, { width, theme, most: Math.min(most, MOST_WRITTEN_ROWS) });
  if (call.name !== "edit_file" || typeof before !== "string" || typeof after !== "string") return [];
  const start = lineOf(String(path), call.status === "done" ? after : before);
  return diffRows(before, after, start, { width, theme, most });
}

/** Arguments and result of a call in full, for reading. */
export function callDetailRows(call: ShownCall, width: number, theme: Theme): readonly string[] {
  const block = (text: string): string[] =>
    revealedLines(text).flatMap((line) =>
      wrapped(line, width - 4).map((row) => `  ${theme.dim("│")} ${row}`),
    );
  const args = asRecord(call.args ?? parsedSoFar(call.argsText));
  return [
    `${markOf(call, theme)} ${theme.bold(callLine(call.name, {}, width - 4))}`,
    ...Object.entries(args).flatMap(([name, value]) => [
      theme.accent(`  ${callLine(name, {}, width - 4)}:`),
      ...block(typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "")),
    ]),
    theme.accent("  result:"),
    ...(call.result === undefined ? [theme.dim("  │ (none yet)")] : block(safeText(call.result))),
  ];
}

function withoutPrefix(text: string): string {
  return text.replace(/^Error: /, "");
}

/** The texts in arguments that the model has not finished writing. */
function parsedSoFar(text: string): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  for (const [, name = "", value = ""] of text.matchAll(/"(\w+)"\s*:\s*"((?:\\.|[^"\\]){0,200})/g))
    args[name] = value;
  return args;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
