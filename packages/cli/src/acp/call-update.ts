/** A tool call as an editor shows it: kind, title, places, changes of files and output. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type {
  ToolCallContent,
  ToolCallLocation,
  ToolCallStatus,
  ToolCallUpdate,
  ToolKind,
} from "@agentclientprotocol/sdk";
import type { ShownAgent, ShownCall } from "@deepwright/protocol";
import { lineOfText } from "../app/input/text-line.ts";
import { callLine } from "../run/output/tool-lines.ts";
import { safeText } from "../terminal/safe-text.ts";
import { fenced } from "./prompt-content.ts";

const KINDS: Readonly<Record<string, ToolKind>> = {
  ...{ ls: "read", read_file: "read", glob: "search", grep: "search" },
  ...{ write_file: "edit", edit_file: "edit", delete: "delete", execute: "execute" },
  ...{ fetch_url: "fetch", web_search: "fetch", task: "think" },
};

const STATUS: Readonly<Record<ShownCall["status"], ToolCallStatus>> = {
  writing: "pending",
  waiting: "pending",
  running: "in_progress",
  done: "completed",
  error: "failed",
  stopped: "failed",
};

const TITLE_WIDTH = 120;
const MOST_LETTERS = 10_000;
const MOST_INPUT = 100_000;
const MOST_BYTES = 2_000_000;

export interface CallView {
  readonly id: string;
  /** A real path. */
  readonly directory: string;
  /** The text of the file before a call that writes it; undefined: not known, null: there was none. */
  readonly before?: string | null | undefined;
  /** The terminal of the editor that its command runs in. */
  readonly terminalId?: string | undefined;
  /** The agent that works on the call, and those below it. */
  readonly agents?: readonly ShownAgent[];
}

export function callUpdate(call: ShownCall, view: CallView): ToolCallUpdate & { title: string } {
  const args = argsOf(call);
  const locations = locationsOf(call, args, view.directory);
  const content = contentOf(call, args, view);
  const [agent] = view.agents ?? [];
  return {
    toolCallId: view.id,
    name: call.name,
    title: callLine(call.name, args, TITLE_WIDTH),
    kind: KINDS[call.name] ?? "other",
    status: STATUS[call.status],
    ...(call.args !== undefined && isSmall(call.args) && { rawInput: call.args }),
    ...(locations.length > 0 && { locations }),
    ...(content.length > 0 && { content }),
    ...(agent && { _meta: { deepwright: { subagent: agent.name ?? "subagent", status: agent.status } } }),
  };
}

function argsOf({ args }: ShownCall): Record<string, unknown> {
  return typeof args === "object" && args !== null ? (args as Record<string, unknown>) : {};
}

function isSmall(args: unknown): boolean {
  return (JSON.stringify(args) ?? "").length <= MOST_INPUT;
}

function pathIn(args: Record<string, unknown>): string | undefined {
  const path = args.file_path ?? args.path;
  return typeof path === "string" && path !== "" ? path : undefined;
}

/** Editors name files by absolute paths; the agent's root is the directory. */
function locationsOf(call: ShownCall, args: Record<string, unknown>, directory: string): ToolCallLocation[] {
  const path = pathIn(args);
  if (path === undefined) return [];
  const line =
    typeof args.old_string === "string" && call.status !== "done"
      ? lineOfText(directory, path, args.old_string)
      : typeof args.offset === "number"
        ? args.offset + 1
        : undefined;
  return [{ path: join(directory, path), ...(line !== undefined && { line }) }];
}

function contentOf(call: ShownCall, args: Record<string, unknown>, view: CallView): ToolCallContent[] {
  if (view.terminalId !== undefined) return [{ type: "terminal", terminalId: view.terminalId }];
  if (call.status === "error" && call.result !== undefined) return [words(bounded(call.result))];
  const diff = diffOf(call, args, view);
  if (diff) return [diff];
  if (view.agents?.length) return [words(agentWords(call, view.agents))];
  const output = call.result ?? progressWords(call.progress);
  return output === undefined || output === "" ? [] : [words(fenced("", bounded(output)))];
}

function diffOf(
  { name }: ShownCall,
  args: Record<string, unknown>,
  { directory, before }: CallView,
): ToolCallContent | undefined {
  const path = pathIn(args);
  if (path === undefined) return undefined;
  const file = join(directory, path);
  const { old_string: oldText, new_string: newText, content } = args;
  if (name === "edit_file" && typeof oldText === "string" && typeof newText === "string")
    return { type: "diff", path: file, oldText, newText };
  if (name !== "write_file" || typeof content !== "string" || before === undefined) return undefined;
  return { type: "diff", path: file, oldText: before, newText: content };
}

/** The text of a file now; null: there is none, undefined: it is large or cannot be shown as text. */
export function textNow(call: ShownCall, directory: string): string | null | undefined {
  const path = call.name === "write_file" ? pathIn(argsOf(call)) : undefined;
  if (path === undefined) return undefined;
  const file = join(directory, path);
  if (!file.startsWith(`${directory}/`)) return undefined;
  try {
    const found = statSync(file);
    return found.isFile() && found.size <= MOST_BYTES ? readFileSync(file, "utf8") : undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : undefined;
  }
}

function progressWords(progress: unknown): string | undefined {
  if (typeof progress === "string") return progress;
  const { output, message } = (progress ?? {}) as { output?: unknown; message?: unknown };
  if (typeof output === "string") return output;
  return typeof message === "string" ? message : undefined;
}

const MARKS: Readonly<Record<ShownCall["status"], string>> = {
  writing: "○",
  running: "○",
  waiting: "?",
  done: "●",
  error: "✘",
  stopped: "■",
};
const MOST_LINES = 30;

/** The work of a subagent: its calls, then its last words or its result. */
function agentWords(call: ShownCall, agents: readonly ShownAgent[]): string {
  const lines = agents.flatMap(({ messages, name = "subagent" }, i) =>
    messages.flatMap(({ calls }) =>
      calls.map((one) => {
        const by = i === 0 ? "" : `${name} › `;
        return `${MARKS[one.status]} ${by}${callLine(one.name, one.args, TITLE_WIDTH)}`;
      }),
    ),
  );
  const hidden = lines.length - MOST_LINES;
  const last = agents[0]?.messages.findLast(({ role, text }) => role === "assistant" && text !== "")?.text;
  const shown = hidden > 0 ? [`… ${hidden} earlier calls`, ...lines.slice(-MOST_LINES)] : lines;
  return bounded(
    [...(shown.length > 0 ? [fenced("", shown.join("\n"))] : []), call.result ?? last ?? ""].join("\n"),
  );
}

/** The beginning and the end of a long text. */
function bounded(text: string): string {
  const safe = safeText(text);
  if (safe.length <= MOST_LETTERS) return safe;
  const half = MOST_LETTERS / 2;
  return `${safe.slice(0, half)}\n… ${safe.length - MOST_LETTERS} characters …\n${safe.slice(-half)}`;
}

function words(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}
