import { z } from "zod";
import type { GrepMatch, GrepResult } from "../backends/backend.ts";
import { once } from "../once.ts";
import { showPath } from "../paths.ts";
import { boundedList } from "../text/bounded-list.ts";
import { GUTTER } from "../text/number-lines.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import {
  type FileAnswer,
  type FileCall,
  type FileToolOptions,
  fileTool,
  skippedRemark,
} from "./file-tool.ts";
import { lenientObject } from "./lenient-object.ts";

export const DEFAULT_GREP_MAX_COUNT = 1000;
/** Characters of a matching line shown, around the match. */
const MAX_MATCH_CHARACTERS = 500;
const BEFORE_MATCH = 100;

const schema = once(() =>
  lenientObject(
    {
      pattern: z.string().describe("Literal text"),
      path: z.string().optional().describe("File or directory; default: the one you work in"),
      glob: z.string().optional().describe("Only files that match, like *.py"),
      max_count: z.number().optional().describe("Most matches to return"),
      output_mode: z
        .enum(["content", "files_with_matches", "count"])
        .optional()
        .describe("content (default): the lines; files_with_matches: paths; count: matches per file"),
    },
    { aliases: { file_path: "path" }, numbers: ["max_count"] },
  ),
);

export const GREP_DESCRIPTION = "Search files for literal text, not a regular expression.";

type Args = z.output<ReturnType<typeof schema>>;
type Found = Extract<GrepResult, { error?: undefined }>;

export function createGrepTool(options: FileToolOptions): BuiltInTool {
  const cap = options.grepMaxCount === undefined ? DEFAULT_GREP_MAX_COUNT : options.grepMaxCount;
  return fileTool({
    name: "grep",
    description: GREP_DESCRIPTION,
    schema: schema(),
    options,
    run: (args, call) => search(args, call, cap),
  });
}

async function search(args: Args, call: FileCall, cap: number | null): Promise<FileAnswer> {
  const place = call.locate(args.path);
  if (place.error !== undefined) return place;
  const wanted = args.max_count !== undefined && args.max_count >= 1 ? Math.floor(args.max_count) : cap;
  const { backend, signal } = call;
  const result = await backend.grep(args.pattern, place.path, args.glob ?? null, wanted, { signal });
  if (result.error !== undefined) return result;
  const remark = moreRemark(result) + skippedRemark(result.skipped);
  if (result.matches.length === 0)
    return `No matches found for pattern '${args.pattern}'${regexHint(args.pattern)}${remark}`;
  const { text, left } = boundedList(rows(result.matches, args));
  if (left > 0) return `${text}\n[${left} more lines of results: narrow the search]${remark}`;
  return text + remark;
}

function moreRemark({ matches, truncated, timedOut }: Found): string {
  if (timedOut) return "\n[The time was up before all was searched: name a smaller path, or a glob]";
  if (!truncated) return "";
  const found = matches.length === 1 ? "1 match" : `${matches.length} matches`;
  return `\n[Stopped after ${found}: narrow the search or raise max_count]`;
}

function rows(matches: readonly GrepMatch[], { output_mode, pattern }: Args): string[] {
  const byFile = new Map<string, GrepMatch[]>();
  for (const match of matches) {
    const known = byFile.get(match.path);
    if (known === undefined) byFile.set(match.path, [match]);
    else known.push(match);
  }
  const files = [...byFile];
  if (output_mode === "files_with_matches") return files.map(([path]) => showPath(path));
  if (output_mode === "count") return files.map(([path, found]) => `${showPath(path)}: ${found.length}`);
  return files.flatMap(([path, found]) => [
    `${showPath(path)}:`,
    ...found.map((match) => row(match, pattern)),
  ]);
}

function row({ line, text }: GrepMatch, pattern: string): string {
  return `${String(line).padStart(6)}${GUTTER}${excerpt(text, pattern)}`;
}

function excerpt(text: string, pattern: string): string {
  if (text.length <= MAX_MATCH_CHARACTERS) return text;
  const start = Math.max(0, text.indexOf(pattern) - BEFORE_MATCH);
  const end = start + MAX_MATCH_CHARACTERS;
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}

const LOOKS_LIKE_REGEX = /\.[*+?]|\\[a-zA-Z.*+?()[\]{}|^$]|^\^|\$$|\||\[[^\]]+\]/;

function regexHint(pattern: string): string {
  return LOOKS_LIKE_REGEX.test(pattern)
    ? ". It was searched as literal text, not as a regular expression."
    : "";
}
