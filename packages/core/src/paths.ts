/**
 * Canonical virtual paths: the only file that knows `..`, `~`, drive letters and the spellings of one path.
 *
 * Permission checks, routes, approvals, I/O and stored keys all use the value made here, so that two
 * spellings of one file always get one decision.
 */

export interface PathError {
  readonly error: string;
  readonly code: "INVALID_PATH";
  readonly path?: undefined;
}

export type CanonicalPath = { readonly path: string; readonly error?: undefined } | PathError;

export interface CanonicalPathOptions {
  /** The canonical directory relative paths lie in; default `/`. */
  readonly base?: string;
  /** Directories the path must lie in, compared by whole segments. Absent: anywhere. */
  readonly allowedPrefixes?: readonly string[] | null;
}

/** UTF-16 code units. */
export const MAX_PATH_LENGTH = 4096;

const PLAIN = /^(?:\/[\w-]+(?:\.[\w-]+)*)+$/;
const CONTROL = /\p{Cc}/u;
const LONE_SURROGATE = /\p{Surrogate}/u;
const WINDOWS = /^(?:[\\/]?[A-Za-z]:(?:[\\/]|$)|\\[\\/])/;
const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/**
 * Turns what a model or a program wrote into the one spelling of that path: absolute, `/`-separated,
 * NFC, without empty or `.` segments and without a trailing slash. Canonical input comes back unchanged.
 */
export function canonicalPath(path: string, options: CanonicalPathOptions = {}): CanonicalPath {
  const canonical = PLAIN.test(path) && path.length <= MAX_PATH_LENGTH ? path : spellOut(path, options.base);
  if (typeof canonical !== "string") return canonical;
  const prefixes = options.allowedPrefixes;
  if (prefixes && !prefixes.some((prefix) => liesUnder(canonical, prefix)))
    return invalid(`Path must start with one of ${JSON.stringify(prefixes)}: ${quoted(path)}`);
  return { path: canonical };
}

/** Whether canonical `path` is `directory` or lies in it, by whole segments. */
export function isWithin(path: string, directory: string): boolean {
  return directory === "/" || path === directory || path.startsWith(`${directory}/`);
}

/** The directory of a canonical path; that of `/` is `/`. */
export function parentPath(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0)) || "/";
}

/** `path` with line breaks, control and direction characters escaped, so that a name cannot forge output. */
export function showPath(path: string): string {
  return path.replace(UNSHOWN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function spellOut(path: string, base = "/"): string | PathError {
  if (typeof path !== "string")
    return invalid(`Path must be text, got ${path === null ? "null" : typeof path}`);
  if (path === "") return invalid("Path is empty");
  if (path.length > MAX_PATH_LENGTH) return invalid(`Path is longer than ${MAX_PATH_LENGTH} characters`);
  if (CONTROL.test(path)) return invalid(`Path contains a control character: ${quoted(path)}`);
  if (LONE_SURROGATE.test(path)) return invalid(`Path is not valid Unicode: ${quoted(path)}`);
  if (WINDOWS.test(path)) return invalid(`Windows absolute paths are not supported: ${quoted(path)}`);
  const segments = path.normalize("NFC").replaceAll("\\", "/").split("/").filter(isNamed);
  if (path.startsWith("~") || segments.includes(".."))
    return invalid(`Path traversal not allowed: ${quoted(path)}`);
  const ambiguous = segments.find(endsAmbiguously);
  if (ambiguous !== undefined)
    return invalid(`Path segment must not end with a dot or a space: '${quoted(ambiguous)}'`);
  const start = base === "/" || /^[\\/]/.test(path) ? "" : base;
  return `${start}/${segments.join("/")}`.replace(/(?<=.)\/$/, "");
}

function isNamed(segment: string): boolean {
  return segment !== "" && segment !== ".";
}

/** Some systems drop trailing dots and spaces, giving one file two names; `...` alone is a real name. */
function endsAmbiguously(segment: string): boolean {
  return segment.endsWith(" ") || (segment.endsWith(".") && !/^\.{3,}$/.test(segment));
}

function liesUnder(path: string, prefix: string): boolean {
  const directory = spellOut(prefix);
  return typeof directory === "string" && isWithin(path, directory);
}

function quoted(path: string): string {
  const shown = showPath(path);
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}

function invalid(error: string): PathError {
  return { error, code: "INVALID_PATH" };
}
