import { z } from "zod";
import type { ReadResult } from "../backends/backend.ts";
import { isTextType, kindOfType } from "../text/mime.ts";
import { numberLines } from "../text/number-lines.ts";
import { DEFAULT_PAGE_LINES, normalizeReadPagination } from "../text/page.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { type FileAnswer, type FileCall, type FileToolOptions, fileTool } from "./file-tool.ts";
import { lenientObject } from "./lenient-object.ts";

/** Characters of one page: what is read must never be so large that it has to be moved to a file again. */
const MAX_PAGE_CHARACTERS = 80_000;

const schema = lenientObject(
  {
    file_path: z.string().describe("Absolute path"),
    offset: z.number().optional().describe("Lines to skip; default 0"),
    limit: z.number().optional().describe("Lines to read; default and most 2000"),
    column: z
      .number()
      .optional()
      .describe("Characters to skip in the first line, to go on in a very long one"),
  },
  { aliases: { path: "file_path" }, numbers: ["offset", "limit", "column"] },
);

export const READ_FILE_DESCRIPTION =
  "Read a file. Lines are shown as `12│text`: the number and the bar are not in the file. " +
  "Long files come in pages; the end of a page says how to go on.";

export function createReadFileTool(options: FileToolOptions): BuiltInTool {
  return fileTool({ name: "read_file", description: READ_FILE_DESCRIPTION, schema, options, run: read });
}

type Page = Extract<ReadResult, { error?: undefined }>;

async function read(args: z.output<typeof schema>, call: FileCall): Promise<FileAnswer> {
  const file = call.locate(args.file_path);
  if (file.error !== undefined) return file;
  const { offset, limit } = normalizeReadPagination(args.offset, args.limit);
  const lines = Math.min(limit, DEFAULT_PAGE_LINES);
  const page = await call.backend.read(file.path, offset, lines, { signal: call.signal });
  if (page.error !== undefined) return page;
  const { content, mimeType } = page;
  if (typeof content !== "string" || !isTextType(mimeType))
    return describeBinary(file.path, content, mimeType);
  const isEmpty = content === "" && (page.startLine === undefined || page.totalLines === 0);
  return isEmpty
    ? "System reminder: File exists but has empty contents"
    : showPage(page, content, offset, args.column);
}

function showPage(page: Page, content: string, offset: number, column: number | undefined): FileAnswer {
  const startLine = page.startLine ?? offset + 1;
  const shown = numberLines(content, {
    startLine,
    lines: page.endLine === undefined ? undefined : page.endLine - startLine + 1,
    column: Math.max(0, Math.floor(column ?? 0)),
    maxCharacters: MAX_PAGE_CHARACTERS,
  });
  if (shown.error !== undefined) return shown;
  const isCut = page.endLine !== undefined && shown.endLine < page.endLine;
  const next = isCut ? shown.endLine : page.nextOffset;
  if (next === undefined && startLine === 1) return shown.text;
  const range = `Lines ${startLine}-${shown.endLine} of ${lengthOf(page)}`;
  return `${shown.text}\n[${range}${next === undefined ? ": the end" : `. Go on with offset=${next}`}]`;
}

function lengthOf(page: Page): string {
  if (page.totalLines !== undefined) return String(page.totalLines);
  return page.size === undefined ? "more" : `a file of ${page.size} bytes`;
}

function describeBinary(path: string, content: string | Uint8Array, mimeType: string): string {
  const size = typeof content === "string" ? "" : `, ${content.length} bytes`;
  return `'${path}' is not text: ${kindOfType(mimeType)}, ${mimeType}${size}. Its content cannot be shown here.`;
}
