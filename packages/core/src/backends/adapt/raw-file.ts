/** `readRaw` of any backend: without the method, the file is downloaded or read page by page. */
import { decodeText, mimeTypeOfBytes, mimeTypeOfText } from "../../text/mime.ts";
import type { BackendProtocol, FileData, MaybePromise, OperationOptions, ReadRawResult } from "../backend.ts";
import { olderError } from "./adapt-errors.ts";

export function readRawFile(
  backend: BackendProtocol,
  path: string,
  options?: OperationOptions,
): MaybePromise<ReadRawResult> {
  if (backend.readRaw) return backend.readRaw(path, options);
  return backend.downloadFiles ? downloaded(backend, path, options) : allPages(backend, path, options);
}

async function downloaded(
  backend: BackendProtocol,
  path: string,
  options?: OperationOptions,
): Promise<ReadRawResult> {
  const [file] = (await backend.downloadFiles?.([path], options)) ?? [];
  if (file?.content) return { data: fileOf(path, file.content) };
  const reason = file?.error ?? "file_not_found";
  return olderError(reason === "file_not_found" ? `File '${path}' not found` : `'${path}': ${reason}`);
}

/** A backend that tells of no next page gave the whole file. */
async function allPages(
  backend: BackendProtocol,
  path: string,
  options?: OperationOptions,
): Promise<ReadRawResult> {
  let text = "";
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const page = await backend.read(path, offset, Number.MAX_SAFE_INTEGER, options);
    if (page.error !== undefined) return page;
    if (typeof page.content !== "string") return { data: fileOf(path, page.content) };
    text += text === "" || text.endsWith("\n") ? page.content : `\n${page.content}`;
    offset = page.nextOffset !== undefined && page.nextOffset > offset ? page.nextOffset : undefined;
  }
  return { data: fileOf(path, text) };
}

function fileOf(path: string, content: string | Uint8Array): FileData {
  const now = new Date().toISOString();
  const times = { created_at: now, modified_at: now };
  if (typeof content === "string") return { content, mimeType: mimeTypeOfText(path), ...times };
  const text = decodeText(content);
  return {
    content: text ?? content,
    mimeType: mimeTypeOfBytes(path, content, text !== undefined),
    ...times,
  };
}
