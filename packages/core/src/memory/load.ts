/** Reads memory files from a backend. A missing file is no problem; a file that cannot be read is one. */
import { errorCode } from "../backends/adapt/adapt-errors.ts";
import type {
  BackendProtocol,
  FileDownloadResponse,
  FileErrorCode,
  OperationOptions,
} from "../backends/backend.ts";
import { DEFAULT_PAGE_LINES } from "../text/page.ts";
import type { ReadFile } from "./memory-file.ts";

/** All of each file, in one round trip where the backend has one. */
export async function downloadTexts(
  backend: BackendProtocol,
  paths: readonly string[],
  options: OperationOptions,
): Promise<readonly ReadFile[]> {
  if (paths.length === 0) return [];
  if (backend.downloadFiles === undefined) return readPages(backend, paths, options);
  const responses = await backend.downloadFiles(paths, options);
  return Promise.all(paths.map((path, i) => textOf(backend, path, responses[i], options)));
}

/** The first page of each file, so that a large file costs no more. */
export function readPages(
  backend: BackendProtocol,
  paths: readonly string[],
  options: OperationOptions,
): Promise<readonly ReadFile[]> {
  return Promise.all(paths.map((path) => readPage(backend, path, options)));
}

/** A transfer reports few reasons and no encodings: content that is not UTF-8 is read as a file instead. */
function textOf(
  backend: BackendProtocol,
  path: string,
  response: FileDownloadResponse | undefined,
  options: OperationOptions,
): ReadFile | Promise<ReadFile> {
  if (response?.error === "file_not_found" || response?.error === "parent_not_found") return { path };
  const text = response?.content ? decoded(response.content) : undefined;
  return text === undefined ? readPage(backend, path, options) : { path, text };
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    // Some other encoding, or no text.
    return undefined;
  }
}

const ABSENT: ReadonlySet<FileErrorCode> = new Set(["FILE_NOT_FOUND", "NOT_A_DIRECTORY"]);

async function readPage(
  backend: BackendProtocol,
  path: string,
  options: OperationOptions,
): Promise<ReadFile> {
  const page = await backend.read(path, 0, DEFAULT_PAGE_LINES, options);
  if (page.error !== undefined) return ABSENT.has(errorCode(page)) ? { path } : { path, problem: page.error };
  if (typeof page.content !== "string") return { path, problem: `It is not text (${page.mimeType})` };
  const goesOn = page.nextOffset !== undefined || page.truncated === true;
  return { path, text: page.content, ...(goesOn && { goesOn }) };
}
