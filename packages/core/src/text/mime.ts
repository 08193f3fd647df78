/** What kind of content a file holds: by its bytes where they tell, else by its name. */

export const PLAIN_TEXT = "text/plain";
export const UNKNOWN_BINARY = "application/octet-stream";

const BY_EXTENSION: Readonly<Record<string, string>> = {
  // text
  css: "text/css",
  csv: "text/csv",
  html: "text/html",
  htm: "text/html",
  ics: "text/calendar",
  js: "text/javascript",
  mjs: "text/javascript",
  cjs: "text/javascript",
  json: "application/json",
  jsonl: "application/x-ndjson",
  md: "text/markdown",
  markdown: "text/markdown",
  svg: "image/svg+xml",
  toml: "application/toml",
  ts: "text/typescript",
  tsx: "text/typescript",
  tsv: "text/tab-separated-values",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  // images
  avif: "image/avif",
  bmp: "image/bmp",
  gif: "image/gif",
  heic: "image/heic",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  png: "image/png",
  tif: "image/tiff",
  tiff: "image/tiff",
  webp: "image/webp",
  // sound and film
  aac: "audio/aac",
  flac: "audio/flac",
  m4a: "audio/mp4",
  mp3: "audio/mpeg",
  ogg: "audio/ogg",
  wav: "audio/wav",
  avi: "video/x-msvideo",
  mkv: "video/x-matroska",
  mov: "video/quicktime",
  mp4: "video/mp4",
  mpeg: "video/mpeg",
  webm: "video/webm",
  // documents and archives
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  gz: "application/gzip",
  pdf: "application/pdf",
  ppt: "application/vnd.ms-powerpoint",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  sqlite: "application/vnd.sqlite3",
  tar: "application/x-tar",
  wasm: "application/wasm",
  xls: "application/vnd.ms-excel",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  zip: "application/zip",
};

const TEXT_TYPES =
  /^(?:text\/|application\/(?:json|xml|yaml|toml|javascript|x-ndjson|x-sh|sql)$|.*\+(?:json|xml|yaml)$)/;

/** First bytes that name a format: offset, then the bytes as Latin-1. */
const SIGNATURES: readonly (readonly [offset: number, bytes: string, mimeType: string])[] = [
  [0, "\x89PNG\r\n\x1a\n", "image/png"],
  [0, "\xff\xd8\xff", "image/jpeg"],
  [0, "GIF8", "image/gif"],
  [8, "WEBP", "image/webp"],
  [8, "WAVE", "audio/wav"],
  [0, "%PDF-", "application/pdf"],
  [0, "\x1f\x8b", "application/gzip"],
  [4, "ftyp", "video/mp4"],
  [0, "ID3", "audio/mpeg"],
  [0, "OggS", "audio/ogg"],
  [0, "fLaC", "audio/flac"],
  [0, "SQLite format 3\0", "application/vnd.sqlite3"],
  [0, "\0asm", "application/wasm"],
];

/** Undefined for a name that says nothing. */
export function mimeTypeOfName(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  const extension = dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
}

/** Absent means text: older file data has no type and is always text. */
export function isTextType(mimeType: string | undefined): boolean {
  return mimeType === undefined || TEXT_TYPES.test(mimeType.split(";", 1)[0]?.trim().toLowerCase() ?? "");
}

/** The type of text written under `path`: what it is called cannot make text into an image. */
export function mimeTypeOfText(path: string): string {
  const named = mimeTypeOfName(path);
  return named !== undefined && isTextType(named) ? named : PLAIN_TEXT;
}

/** The type of bytes stored under `path`; `text` says what `decodeText` found. */
export function mimeTypeOfBytes(path: string, bytes: Uint8Array, text: boolean): string {
  if (text) return mimeTypeOfText(path);
  const signature = SIGNATURES.find(([offset, mark]) => hasMark(bytes, offset, mark));
  const named = mimeTypeOfName(path);
  if (named !== undefined && !isTextType(named)) return named;
  return signature?.[2] ?? UNKNOWN_BINARY;
}

/** The text these bytes are in UTF-8, a byte order mark kept; undefined when they are not text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * Whether the head of a file looks like text. A character cut in two by the end of `head` does not
 * make it binary.
 */
export function looksLikeText(head: Uint8Array): boolean {
  if (head.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** `image`, `audio`, `video`, `PDF` or `binary`: a word for people and models. */
export function kindOfType(mimeType: string): string {
  const family = mimeType.slice(0, mimeType.indexOf("/"));
  if (family === "image" || family === "audio" || family === "video") return family;
  if (mimeType === "application/pdf") return "PDF";
  return isTextType(mimeType) ? "text" : "binary";
}

function hasMark(bytes: Uint8Array, offset: number, mark: string): boolean {
  for (let index = 0; index < mark.length; index++)
    if (bytes[offset + index] !== mark.charCodeAt(index)) return false;
  return true;
}
