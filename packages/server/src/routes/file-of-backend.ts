/** One file of a backend, read and saved for a caller. */
import { createHash } from "node:crypto";
import type { BackendProtocol, FileErrorCode } from "deepwright";
import type { HeldAnswer } from "../http/held-answer.ts";
import { invalid, notFound, Problem } from "../http/problems.ts";
import type { Call } from "./call.ts";
import { fileAnswer } from "./file-answer.ts";

type FileCall = Pick<Call, "request" | "services">;

interface NewContent {
  readonly path: string;
  readonly content: string;
}

export async function readFileOf(
  call: FileCall & Pick<Call, "held">,
  backend: BackendProtocol,
  path: string,
): Promise<Response | HeldAnswer> {
  const bytes = await bytesOf(call, backend, path);
  call.held.add(bytes.byteLength);
  return fileAnswer(path, textOf(bytes) ?? bytes, { etag: etagOf(bytes) });
}

/** The headers of the request say what must be there before. */
export async function saveFileOf(
  call: FileCall,
  backend: BackendProtocol,
  { path, content }: NewContent,
): Promise<{ readonly path: string; readonly etag: string }> {
  const { headers, signal } = call.request;
  const [match, noneMatch] = [headers.get("if-match"), headers.get("if-none-match")];
  if (noneMatch === "*" && match === null) {
    const written = await backend.write(path, content, { signal });
    if (written.error !== undefined) throw problemFor(written.code, written.error);
  } else if (match !== null && noneMatch === null) {
    await replaced(call, backend, { path, content, match });
  } else throw invalid("The request needs If-Match with the ETag of the file, or If-None-Match: *.");
  const now = await bytesOf(call, backend, path);
  // A file that somebody has changed since keeps the ETag of what was saved: the next save finds the change.
  return { path, etag: etagOf(isOf(content, now) ? now : Buffer.from(content)) };
}

/** A backend may keep the line ends of a file. */
function isOf(content: string, bytes: Uint8Array): boolean {
  const plain = (text: string | undefined) => text?.replaceAll("\r\n", "\n");
  return plain(textOf(bytes)) === plain(content);
}

/** The edit itself compares the text: a change between the look and the edit is not overwritten. */
async function replaced(
  call: FileCall,
  backend: BackendProtocol,
  { path, content, match }: NewContent & { readonly match: string },
): Promise<void> {
  const { signal } = call.request;
  const before = await bytesOf(call, backend, path);
  if (etagOf(before) !== match) throw changed();
  const text = textOf(before);
  if (text === undefined) throw invalid("The file is not text.");
  if (text === content) return;
  // Only a file that is still empty takes an edit of the empty text.
  const result = await backend.edit(path, text, content, false, { signal });
  if (result.error === undefined) return;
  const isOther =
    result.code === "STRING_NOT_FOUND" ||
    result.code === "STRING_NOT_UNIQUE" ||
    (text === "" && result.code === "INVALID_ARGUMENT");
  throw isOther ? changed() : problemFor(result.code, result.error);
}

async function bytesOf(call: FileCall, backend: BackendProtocol, path: string): Promise<Uint8Array> {
  const { signal } = call.request;
  const parent = path.slice(0, path.lastIndexOf("/")) || "/";
  const listed = await backend.ls(parent, { signal });
  if (listed.error !== undefined) throw problemFor(listed.code, listed.error);
  const entry = listed.files.find((each) => each.path.replace(/\/$/, "") === path);
  if (entry === undefined || entry.is_dir) throw notFound("file");
  if ((entry.size ?? 0) > call.services.limits.answerBytes)
    throw new Problem("TOO_LARGE", "The file is larger than an answer may be.");
  const [file] = (await backend.downloadFiles?.([path], { signal })) ?? [];
  if (file?.content) return file.content;
  throw file?.error === "permission_denied" ? problemFor("PERMISSION_DENIED", "") : notFound("file");
}

function etagOf(bytes: Uint8Array): string {
  return `"${createHash("sha256").update(bytes).digest("base64url")}"`;
}

/** Undefined: it is no text. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

const changed = () => new Problem("CHANGED", "The file was changed, removed or created meanwhile.");

const FORBIDDEN: ReadonlySet<string> = new Set(["PERMISSION_DENIED", "APPROVAL_REQUIRED", "OUTSIDE_ROOT"]);

/** Words of a backend may name places of the machine: they are not repeated. */
export function problemFor(code: FileErrorCode | undefined, error: string): Problem {
  if (code === "FILE_NOT_FOUND") return notFound("file");
  if (code === "FILE_EXISTS" || code === "CONFLICT") return changed();
  if (code !== undefined && FORBIDDEN.has(code))
    return new Problem("FORBIDDEN", "The permissions of this server do not allow this.");
  if (code === "RATE_LIMITED" || code === "UNAVAILABLE" || code === "STORAGE_FULL")
    return new Problem("UNAVAILABLE", "The workspace cannot be used now.");
  if (code === undefined) throw new Error(error);
  return invalid(`The workspace refused: ${code}.`);
}
