import { z } from "zod";
import type { ReadResult } from "../backends/backend.ts";
import { once } from "../once.ts";
import { blockOfBytes, type MediaKind, mediaOf } from "../text/media.ts";
import { isTextType, kindOfType, mimeTypeOfBytes, mimeTypeOfName, mimeTypeOfText } from "../text/mime.ts";
import { type NumberedLines, type NumberLinesOptions, numberLines } from "../text/number-lines.ts";
import { DEFAULT_PAGE_LINES, normalizeReadPagination } from "../text/page.ts";
import { estimateTokens } from "../tokens.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { type FileAnswer, type FileCall, type FileToolOptions, fileTool } from "./file-tool.ts";
import { lenientObject } from "./lenient-object.ts";
import { withSimilarPath } from "./similar-path.ts";

/** Characters of one page. */
const MAX_PAGE_CHARACTERS = 80_000;
/** Default tokens of one page. */
const DEFAULT_PAGE_TOKENS = 20_000;
/** However little room there is, a page gets on by something like this many characters. */
const LEAST_PAGE_CHARACTERS = 400;
const CHARACTERS_PER_TOKEN = 4;
/** Bytes of a picture, sound, film or PDF that is handed to the model. */
const MAX_MEDIA_BYTES = 10 * 1024 * 1024;

const schema = once(() =>
  lenientObject(
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
  ),
);

export const READ_FILE_DESCRIPTION =
  "Read a file. Lines are shown as `12│text`: the number and the bar are not in the file. " +
  "Long files come in pages; the end of a page says how to go on.";

export interface ReadFileToolOptions extends FileToolOptions {
  /** Tokens of a page at this moment. A page must never be so large that its result is moved to a file again. */
  readonly pageTokens?: () => number | undefined;
}

export function createReadFileTool(options: ReadFileToolOptions): BuiltInTool {
  return fileTool({
    name: "read_file",
    description: READ_FILE_DESCRIPTION,
    schema: schema(),
    options,
    run: (args, call) => read(args, call, options.pageTokens?.() ?? DEFAULT_PAGE_TOKENS),
  });
}

/** Some PDFs hold nothing but ASCII, and backends take them for text. */
const PDF = "application/pdf";

type Page = Extract<ReadResult, { error?: undefined }>;

async function read(
  args: z.output<ReturnType<typeof schema>>,
  call: FileCall,
  pageTokens: number,
): Promise<FileAnswer> {
  const file = call.locate(args.file_path);
  if (file.error !== undefined) return file;
  const { offset, limit } = normalizeReadPagination(args.offset, args.limit);
  const lines = Math.min(limit, DEFAULT_PAGE_LINES);
  const page = await call.backend.read(file.path, offset, lines, { signal: call.signal });
  if (page.error !== undefined) return withSimilarPath(page, file.path, call);
  const { content } = page;
  const mimeType = page.mimeType ?? typeOf(file.path, content);
  if (typeof content !== "string") return showMedia(file.path, content, mimeType);
  if (!isTextType(mimeType)) return notShown(file.path, mimeType, "Its content cannot be shown here");
  if (content.startsWith("%PDF-") && mimeTypeOfName(file.path) === PDF) {
    const [whole] = (await call.backend.downloadFiles?.([file.path], { signal: call.signal })) ?? [];
    if (whole?.content) return showMedia(file.path, whole.content, PDF);
  }
  const isEmpty = content === "" && (page.startLine === undefined || page.totalLines === 0);
  return isEmpty
    ? "System reminder: File exists but has empty contents"
    : showPage(page, content, { offset, column: args.column, tokens: pageTokens });
}

/** Backends written for other harnesses need not say it. */
function typeOf(path: string, content: string | Uint8Array): string {
  return typeof content === "string" ? mimeTypeOfText(path) : mimeTypeOfBytes(path, content, false);
}

interface PageWindow {
  readonly offset: number;
  readonly column: number | undefined;
  readonly tokens: number;
}

function showPage(page: Page, content: string, { offset, column, tokens }: PageWindow): FileAnswer {
  const startLine = page.startLine ?? offset + 1;
  const shown = numberedPage(content, tokens, {
    startLine,
    lines: page.endLine === undefined ? undefined : page.endLine - startLine + 1,
    column: Math.max(0, Math.floor(column ?? 0)),
  });
  if (shown.error !== undefined) return shown;
  const isCut = page.endLine !== undefined && shown.endLine < page.endLine;
  const next = isCut ? shown.endLine : page.nextOffset;
  if (next === undefined && startLine === 1 && !page.truncated) return shown.text;
  const range = `Lines ${startLine}-${shown.endLine} of ${lengthOf(page)}${next === undefined ? ": the end" : ""}`;
  const cut = page.truncated ? `. Line ${startLine} is too long: only its beginning can be read` : "";
  const onward = next === undefined ? "" : `. Go on with offset=${next}`;
  return `${shown.text}\n[${range}${cut}${onward}]`;
}

/** Gives a shorter page of a text with more than a quarter of a token per character. */
function numberedPage(content: string, tokens: number, options: NumberLinesOptions): NumberedLines {
  let room = Math.max(LEAST_PAGE_CHARACTERS, Math.min(MAX_PAGE_CHARACTERS, tokens * CHARACTERS_PER_TOKEN));
  for (;;) {
    const shown = numberLines(content, { ...options, maxCharacters: room });
    if (shown.error !== undefined || shown.text.length <= tokens || room === LEAST_PAGE_CHARACTERS)
      return shown;
    const used = estimateTokens(shown.text);
    if (used <= tokens) return shown;
    const share = Math.min(0.9, (0.95 * tokens) / used);
    room = Math.max(LEAST_PAGE_CHARACTERS, Math.floor(Math.min(room, shown.text.length) * share));
  }
}

function lengthOf(page: Page): string {
  if (page.totalLines !== undefined) return String(page.totalLines);
  return page.size === undefined ? "more" : `a file of ${page.size} bytes`;
}

const BLOCK_TYPES = { image: "image", audio: "audio", video: "video", PDF: "file" } as const;

/**
 * The bytes as a content block behind words about them. The thread keeps a reference in place of the block, and a
 * model that cannot take it is given words when it is asked.
 */
function showMedia(path: string, bytes: Uint8Array, mimeType: string): FileAnswer {
  const media = mediaOf(path, bytes);
  const type = `${media?.mimeType ?? mimeType}, ${bytes.length} bytes`;
  if (bytes.length === 0) return notShown(path, type, "It is empty");
  if (media === undefined) return notShown(path, type, whyNoMedia(path, mimeType));
  if (!media.isWhole) return notShown(path, type, "It is damaged: part of it is missing or broken");
  if (bytes.length > MAX_MEDIA_BYTES)
    return notShown(path, type, `It is larger than the ${MAX_MEDIA_BYTES} bytes that can be shown`);
  const fields = {
    type: BLOCK_TYPES[media.kind satisfies MediaKind],
    mimeType: media.mimeType,
    metadata: { filename: path.slice(path.lastIndexOf("/") + 1) },
  };
  const block = blockOfBytes(fields, bytes);
  return { blocks: [{ type: "text", text: `'${path}': ${media.kind}, ${type}` }, block] };
}

function whyNoMedia(path: string, mimeType: string): string {
  const named = mimeTypeOfName(path);
  const isMisnamed = named !== undefined && named !== mimeType && !isTextType(named);
  return isMisnamed ? `Its content is not what its name says (${named})` : "Its content cannot be shown here";
}

function notShown(path: string, type: string, why: string): string {
  return `'${path}' is not text: ${kindOfType(type.split(",", 1)[0] as string)}, ${type}. ${why}.`;
}
