/** Content type of a file: by its bytes where they tell, else by its name. */

export const PLAIN_TEXT = "text/plain";
export const UNKNOWN_BINARY = "application/octet-stream";
/** Older office documents. */
const OLE = "application/x-ole-storage";

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
  heif: "image/heif",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  png: "image/png",
  tif: "image/tiff",
  tiff: "image/tiff",
  webp: "image/webp",
  // sound and film
  aac: "audio/aac",
  aiff: "audio/aiff",
  flac: "audio/flac",
  m4a: "audio/mp4",
  mp3: "audio/mpeg",
  ogg: "audio/ogg",
  wav: "audio/wav",
  "3gpp": "video/3gpp",
  avi: "video/x-msvideo",
  flv: "video/x-flv",
  mkv: "video/x-matroska",
  mov: "video/quicktime",
  mp4: "video/mp4",
  mpeg: "video/mpeg",
  mpg: "video/mpeg",
  webm: "video/webm",
  wmv: "video/x-ms-wmv",
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

/** Bytes that name a format: one or more marks, each an offset and the bytes there as Latin-1. */
type Signature = readonly [mimeType: string, ...marks: (readonly [offset: number, bytes: string])[]];

export const SIGNATURES: readonly Signature[] = [
  ["image/png", [0, "\x89PNG\r\n\x1a\n"]],
  ["image/jpeg", [0, "\xff\xd8\xff"]],
  ["image/gif", [0, "GIF87a"]],
  ["image/gif", [0, "GIF89a"]],
  ["image/webp", [0, "RIFF"], [8, "WEBP"]],
  ["image/bmp", [0, "BM"], [6, "\0\0\0\0"]],
  ["image/tiff", [0, "II*\0"]],
  ["image/tiff", [0, "MM\0*"]],
  ["image/x-icon", [0, "\0\0\x01\0"]],
  ["image/avif", [4, "ftypavif"]],
  ["image/heic", [4, "ftypheic"]],
  ["image/heic", [4, "ftypheix"]],
  ["image/heic", [4, "ftypmif1"]],
  ["audio/mp4", [4, "ftypM4A"]],
  ["video/quicktime", [4, "ftypqt"]],
  ["video/mp4", [4, "ftyp"]],
  ["audio/wav", [0, "RIFF"], [8, "WAVE"]],
  ["audio/mpeg", [0, "ID3"]],
  ["audio/mpeg", [0, "\xff\xfb"]],
  ["audio/mpeg", [0, "\xff\xf3"]],
  ["audio/aac", [0, "\xff\xf1"]],
  ["audio/aac", [0, "\xff\xf9"]],
  ["audio/ogg", [0, "OggS"]],
  ["audio/flac", [0, "fLaC"]],
  ["video/x-msvideo", [0, "RIFF"], [8, "AVI "]],
  ["video/webm", [0, "\x1aE\xdf\xa3"]],
  ["video/mpeg", [0, "\0\0\x01\xba"]],
  ["video/mpeg", [0, "\0\0\x01\xb3"]],
  ["application/pdf", [0, "%PDF-"]],
  ["application/gzip", [0, "\x1f\x8b"]],
  ["application/zip", [0, "PK\x03\x04"]],
  ["application/zip", [0, "PK\x05\x06"]],
  [OLE, [0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]],
  ["application/x-tar", [257, "ustar"]],
  ["application/vnd.sqlite3", [0, "SQLite format 3\0"]],
  ["application/wasm", [0, "\0asm"]],
];

/** Formats inside a common wrapping: here the name tells more than the bytes. */
const WRAPPED: Readonly<Record<string, RegExp>> = {
  "application/zip": /openxmlformats/,
  [OLE]: /msword|ms-powerpoint|ms-excel/,
  "video/mp4": /^(?:audio\/mp4|video\/quicktime|image\/(?:avif|heic))$/,
  "image/heic": /^image\/avif$/,
  "video/webm": /^video\/x-matroska$/,
};

const SIGNED = new Set(SIGNATURES.map(([mimeType]) => mimeType));

/** Undefined for a name without a known type. */
export function mimeTypeOfName(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  const extension = dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
  return Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
}

const known = new Map<string, boolean>();
/** Types come from data, so the cache must not grow with them. */
const MOST_KNOWN = 500;

/** Absent means text: older file data has no type and is always text. */
export function isTextType(mimeType: string | undefined): boolean {
  if (mimeType === undefined || mimeType === PLAIN_TEXT) return true;
  const remembered = known.get(mimeType);
  if (remembered !== undefined) return remembered;
  const isText = TEXT_TYPES.test(mimeType.split(";", 1)[0]?.trim().toLowerCase() ?? "");
  if (known.size < MOST_KNOWN) known.set(mimeType, isText);
  return isText;
}

/** The type of text written under `path`: the name cannot make text into an image. */
export function mimeTypeOfText(path: string): string {
  const named = mimeTypeOfName(path);
  return named !== undefined && isTextType(named) ? named : PLAIN_TEXT;
}

/**
 * The type of bytes stored under `path`; `text`: `decodeText` found text. The name counts only if the bytes do not
 * contradict it.
 */
export function mimeTypeOfBytes(path: string, bytes: Uint8Array, text: boolean): string {
  if (text) return mimeTypeOfText(path);
  const signature = signatureOf(bytes);
  const named = mimeTypeOfName(path);
  if (signature !== undefined)
    return named !== undefined && WRAPPED[signature]?.test(named) ? named : signature;
  const isCredible = named !== undefined && !isTextType(named) && !SIGNED.has(named) && !isWrapped(named);
  return isCredible ? named : UNKNOWN_BINARY;
}

/** The type the first bytes name; undefined when they name none. Some text begins like a format, too. */
export function signatureOf(bytes: Uint8Array): string | undefined {
  return SIGNATURES.find(([, ...marks]) =>
    marks.every(([offset, mark]) => hasMark(bytes, offset, mark)),
  )?.[0];
}

function isWrapped(mimeType: string): boolean {
  return Object.values(WRAPPED).some((types) => types.test(mimeType));
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
