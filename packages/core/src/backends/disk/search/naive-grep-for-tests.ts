/** A search that reads every file by its path and looks at every character: slow, unsafe and easy to check. */
import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { compileGlob } from "../../../text/glob/glob-match.ts";
import { parseIgnoreFile } from "../../../text/ignore-rules.ts";
import type { GrepMatch, SkippedFile } from "../../backend.ts";
import { decodeBytes } from "../encoding/text-codec.ts";

export interface NaiveQuery {
  readonly pattern: string;
  readonly path: string;
  readonly glob: string | null;
  readonly maxCount: number | null;
  readonly maxFileSizeBytes: number;
  readonly respectGitignore: boolean;
}

/** Undefined where there is nothing inside of `host` to search. */
export function naiveGrep(host: string, query: NaiveQuery): object | undefined {
  const start = realInside(host, query.path);
  if (start === undefined) return undefined;
  const isFile = lstatSync(host + start).isFile();
  const filter = query.glob && compileGlob(query.glob, isFile ? dirname(query.path) : query.path);
  const most = query.maxCount ?? Number.POSITIVE_INFINITY;
  const matches: GrepMatch[] = [];
  const skipped: SkippedFile[] = [];
  for (const file of isFile ? [start] : filesIn(host, start, query.respectGitignore).sort()) {
    const path = (query.path === "/" ? "" : query.path) + file.slice(start === "/" ? 0 : start.length);
    if (filter && !filter.matches?.(path)) continue;
    const bytes = readFileSync(host + file);
    if (bytes.length > query.maxFileSizeBytes) skipped.push({ path, code: "TOO_LARGE" });
    else matches.push(...linesWith(query.pattern, bytes).map((line) => ({ path, ...line })));
    if (matches.length > most) break;
  }
  return {
    matches: matches.slice(0, most),
    ...(matches.length > most && { truncated: true }),
    ...(skipped.length > 0 && { skipped }),
  };
}

function realInside(host: string, path: string): string | undefined {
  try {
    const root = realpathSync(host);
    const real = realpathSync(host + path);
    if (real !== root && !real.startsWith(`${root}/`)) return undefined;
    return real.slice(root.length) || "/";
  } catch {
    return undefined;
  }
}

function filesIn(host: string, directory: string, respectsIgnoreFiles: boolean): string[] {
  const prefix = directory === "/" ? "/" : `${directory}/`;
  return readdirSync(host + directory, { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name;
    const isDirectory = entry.isDirectory();
    if (!isDirectory && !entry.isFile()) return [];
    if (entry.name === ".git" || (respectsIgnoreFiles && isIgnored(host, path, isDirectory))) return [];
    return isDirectory ? filesIn(host, path, respectsIgnoreFiles) : [path];
  });
}

/** By the nearest file with a line that fits. */
function isIgnored(host: string, path: string, isDirectory: boolean): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  for (let at = dirname(path); ; at = dirname(at)) {
    const rules = `${host}${at === "/" ? "" : at}/.gitignore`;
    if (lstatSync(rules, { throwIfNoEntry: false })?.isFile()) {
      const inside = path.slice(at === "/" ? 1 : at.length + 1);
      const found = parseIgnoreFile(readFileSync(rules, "utf8")).decide(inside, name, isDirectory);
      if (found !== undefined) return found;
    }
    if (at === "/") return false;
  }
}

/** Lines in which the pattern begins. */
function linesWith(pattern: string, bytes: Buffer): { line: number; text: string }[] {
  const text = decodeBytes(bytes)?.text ?? "";
  const found: { line: number; text: string }[] = [];
  let start = 0;
  for (const [line, [whole, words]] of [...text.matchAll(/([^\r\n]*)(?:\r\n|\r|\n|$)/g)].entries()) {
    const begins = Array.from(whole, (_, at) => start + at).some((at) => text.startsWith(pattern, at));
    if (begins) found.push({ line: line + 1, text: words as string });
    start += whole.length;
  }
  return found;
}
