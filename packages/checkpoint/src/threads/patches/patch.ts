/** A unified diff of two texts. The search may take as long as it is given, so only short texts are compared in the main thread. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";

export interface PatchRequest {
  readonly path: string;
  /** `undefined`: there was no file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** How long to look for what the texts have in common. Beyond it, all lines go out and all come in. */
  readonly searchMs: number;
}

export function patchBetween({ path, before, after, searchMs }: PatchRequest): string {
  const [from, to] = [headerOf("a", path, before), headerOf("b", path, after)];
  const search = { timeout: searchMs, headerOptions: FILE_HEADERS_ONLY } as const;
  const found =
    searchMs > 0
      ? createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, search)
      : undefined;
  return found ?? replacement(from, to, before ?? "", after ?? "");
}

/** As git writes it. */
function headerOf(side: string, path: string, text: string | undefined): string {
  if (text === undefined) return "/dev/null";
  const name = `${side}${path.startsWith("/") ? "" : "/"}${path}`;
  return /[\p{Cc}"\\]/u.test(name) ? JSON.stringify(name) : name;
}

function replacement(from: string, to: string, before: string, after: string): string {
  const range = (text: string) => `${text === "" ? 0 : 1},${lineCount(text)}`;
  const head = `--- ${from}\n+++ ${to}\n@@ -${range(before)} +${range(after)} @@\n`;
  return head + marked("-", before) + marked("+", after);
}

function lineCount(text: string): number {
  let count = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function marked(sign: string, text: string): string {
  if (text === "") return "";
  const isWhole = text.endsWith("\n");
  const lines = sign + (isWhole ? text.slice(0, -1) : text).replaceAll("\n", `\n${sign}`);
  return isWhole ? `${lines}\n` : `${lines}\n\\ No newline at end of file\n`;
}
