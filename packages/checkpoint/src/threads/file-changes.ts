/** Changes of files as people read them: contents and a unified diff. */
import { fileContent, sameContent } from "./file-content.ts";
import type { StoredChange } from "./stored-files.ts";
import type { StateReader, StoredValue } from "./stored-state.ts";
import type { FileChange } from "./threads.ts";

type Content = string | Uint8Array | undefined;

/** `undefined` where only the form of the file differs. The contents must be loaded. */
export async function fileChange(reader: StateReader, change: StoredChange): Promise<FileChange | undefined> {
  const { path } = change;
  const content = (file: StoredValue | undefined): Content => file && fileContent(reader.build(file));
  return changeBetween(path, content(change.before), content(change.after));
}

/** `undefined` where there is none. */
export async function changeBetween(
  path: string,
  before: Content,
  after: Content,
  place?: string,
): Promise<FileChange | undefined> {
  if (sameContent(before, after)) return undefined;
  const kind = before === undefined ? "created" : after === undefined ? "deleted" : "changed";
  const where = place === undefined ? { path } : { path, place };
  return { ...where, kind, before, after, patch: await patchOf(path, before, after) };
}

/** Two texts that have little in common are not worth a longer search for what they share. */
const SEARCH_MS = 1_000;

async function patchOf(path: string, before: Content, after: Content): Promise<string | undefined> {
  if (before instanceof Uint8Array || after instanceof Uint8Array) return undefined;
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const patch = createTwoFilesPatch(
    before === undefined ? "/dev/null" : headerName("a", path),
    after === undefined ? "/dev/null" : headerName("b", path),
    before ?? "",
    after ?? "",
    undefined,
    undefined,
    { timeout: SEARCH_MS, headerOptions: FILE_HEADERS_ONLY },
  );
  return patch ?? replacement(path, before ?? "", after ?? "");
}

/** As git writes it. */
function headerName(side: string, path: string): string {
  const name = `${side}${path.startsWith("/") ? "" : "/"}${path}`;
  return /[\p{Cc}"\\]/u.test(name) ? JSON.stringify(name) : name;
}

/** All lines out, all lines in. */
function replacement(path: string, before: string, after: string): string {
  const out = linesOf(before);
  const into = linesOf(after);
  const head = `--- ${headerName("a", path)}\n+++ ${headerName("b", path)}\n`;
  const hunk = `@@ -${out.length > 0 ? 1 : 0},${out.length} +${into.length > 0 ? 1 : 0},${into.length} @@\n`;
  return head + hunk + marked("-", out) + marked("+", into);
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function marked(sign: string, lines: readonly string[]): string {
  return lines
    .map((line) => (line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`))
    .join("");
}
