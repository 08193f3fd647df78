/** Todos and files of one agent, from what was written to its state. */
import { list, string } from "./read-message.ts";
import type { ShownAgent, ShownFile, ShownTodo } from "./screen.ts";
import { isRecord, own, share, withField } from "./share.ts";

type Files = ShownAgent["files"];

export function readTodos(before: readonly ShownTodo[], value: unknown): readonly ShownTodo[] {
  if (!Array.isArray(value)) return before;
  const todos = list(value).flatMap((todo) =>
    isRecord(todo) ? [{ content: string(todo.content) ?? "", status: string(todo.status) ?? "pending" }] : [],
  );
  return share(before, todos);
}

/** Text of a file of the state; lists of lines are an older form. */
function contentOf(file: unknown): string | undefined {
  if (typeof file === "string") return file;
  if (!isRecord(file)) return undefined;
  const { content } = file;
  return Array.isArray(content) ? content.join("\n") : string(content);
}

function written(path: string, content: string | undefined): ShownFile {
  return content === undefined ? { path, change: "written" } : { path, change: "written", content };
}

/** Files as a node wrote them: null deletes. */
export function writeFiles(files: Files, update: unknown): Files {
  if (!isRecord(update)) return files;
  let next = files;
  for (const [path, file] of Object.entries(update)) {
    const shown: ShownFile = file === null ? { path, change: "deleted" } : written(path, contentOf(file));
    next = withField(next, path, share(own(next, path), shown));
  }
  return next;
}

/** The files of a state for a later comparison: path → content. */
export function contentsOf(state: unknown): Readonly<Record<string, string>> {
  const entries = isRecord(state) ? Object.entries(state) : [];
  return Object.fromEntries(entries.map(([path, file]) => [path, contentOf(file) ?? ""]));
}

/** Differences between the state and the files known before the fold began, or shown since. */
export function compareFiles(files: Files, before: Readonly<Record<string, string>>, state: unknown): Files {
  if (!isRecord(state)) return files;
  let next = files;
  for (const [path, file] of Object.entries(state)) {
    const content = contentOf(file);
    const known = own(next, path);
    const old = known ? known.content : own(before, path);
    if (known?.change !== "deleted" && old === content) continue;
    next = withField(next, path, written(path, content));
  }
  for (const path of new Set([...Object.keys(before), ...Object.keys(next)])) {
    const inState = Object.hasOwn(before, path) || own(next, path)?.content !== undefined;
    if (inState && !Object.hasOwn(state, path))
      next = withField(next, path, share(own(next, path), { path, change: "deleted" }));
  }
  return next;
}

const WRITING_TOOLS: Readonly<Record<string, ShownFile["change"]>> = {
  write_file: "written",
  edit_file: "written",
  delete: "deleted",
};

/** The change of a finished tool to a file, in any backend. The state overrides it. */
export function fileOfCall(files: Files, name: string, args: unknown): Files {
  const change = own(WRITING_TOOLS, name);
  const path = isRecord(args) ? string(args.file_path) : undefined;
  if (!change || !path) return files;
  const known = own(files, path);
  if (known?.change === change) return files;
  const content =
    change === "written" && name === "write_file"
      ? string((args as Record<string, unknown>).content)
      : undefined;
  return withField(files, path, content === undefined ? { path, change } : { path, change, content });
}
