import { z } from "zod";
import type { ReadResult } from "../backends/backend.ts";
import { encodeBase64 } from "../text/base64.ts";
import { type MediaKind, mediaOf } from "../text/media.ts";
import { isTextType, kindOfType, mimeTypeOfBytes, mimeTypeOfName, mimeTypeOfText } from "../text/mime.ts";
import { numberLines } from "../text/number-lines.ts";
import { DEFAULT_PAGE_LINES, normalizeReadPagination } from "../text/page.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { type FileAnswer, type FileCall, type FileToolOptions, fileTool } from "./file-tool.ts";
import { lenientObject } from "./lenient-object.ts";

/** Characters of one page: what is read must never be so large that it has to be moved to a file again. */
const MAX_PAGE_CHARACTERS = 80_000;
/** Bytes of a picture, sound, film or PDF that is handed to the model. */
const MAX_MEDIA_BYTES = 10 * 1024 * 1024;

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
  const { content } = page;
  const mimeType = page.mimeType ?? typeOf(file.path, content);
  if (typeof content !== "string") return showMedia(file.path, content, mimeType);
  if (!isTextType(mimeType)) return notShown(file.path, mimeType, "Its content cannot be shown here");
  const isEmpty = content === "" && (page.startLine === undefined || page.totalLines === 0);
  return isEmpty
    ? "System reminder: File exists but has empty contents"
    : showPage(page, content, offset, args.column);
}

/** Backends written for other harnesses need not say it. */
function typeOf(path: string, content: string | Uint8Array): string {
  return typeof content === "string" ? mimeTypeOfText(path) : mimeTypeOfBytes(path, content, false);
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
  if (next === undefined && startLine === 1 && !page.truncated) return shown.text;
  const range = `Lines ${startLine}-${shown.endLine} of ${lengthOf(page)}${next === undefined ? ": the end" : ""}`;
  const cut = page.truncated ? `. Line ${startLine} is too long: only its beginning can be read` : "";
  const onward = next === undefined ? "" : `. Go on with offset=${next}`;
  return `${shown.text}\n[${range}${cut}${onward}]`;
}

function lengthOf(page: Page): string {
  if (page.totalLines !== undefined) return String(page.totalLines);
  return page.size === undefined ? "more" : `a file of ${page.size} bytes`;
}

const BLOCK_TYPES = { image: "image", audio: "audio", video: "video", PDF: "file" } as const;

/**
 * The bytes as a content block behind words about them. A model that cannot take the block is given words in its
 * place when it is asked; the thread keeps the block.
 */
function showMedia(path: string, bytes: Uint8Array, mimeType: string): FileAnswer {
  const media = mediaOf(path, bytes);
  const type = `${media?.mimeType ?? mimeType}, ${bytes.length} bytes`;
  if (bytes.length === 0) return notShown(path, type, "It is empty");
  if (media === undefined) return notShown(path, type, whyNoMedia(path, mimeType));
  if (!media.isWhole) return notShown(path, type, "It is damaged: its end is missing");
  if (bytes.length > MAX_MEDIA_BYTES)
    return notShown(path, type, `It is larger than the ${MAX_MEDIA_BYTES} bytes that can be shown`);
  const block = {
    type: BLOCK_TYPES[media.kind satisfies MediaKind],
    mimeType: media.mimeType,
    data: encodeBase64(bytes),
    metadata: { filename: path.slice(path.lastIndexOf("/") + 1) },
  };
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
