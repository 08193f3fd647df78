/**
 * Errors on their way to clients: a name and a sentence, without a stack, without places on this machine, without secrets.
 *
 * Every text of an error that leaves the server passes `errorText`. The log has the whole error (`logError`).
 */
import { homedir, tmpdir } from "node:os";
import { errorOnConsole } from "deepwright/console-line";
import { withoutSecrets } from "deepwright/secrets";
import type { RunRecord } from "../../records/records.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Most characters of a message for a client. */
const LONGEST = 2_000;
/** Most characters that are looked at: a stack may follow. */
const LONGEST_READ = 16_000;

export function errorText(text: string, environment: Environment = process.env): string {
  const words = withoutStack(text.slice(0, LONGEST_READ));
  return withoutPaths(withoutSecrets(words, environment)).slice(0, LONGEST);
}

/** An error in the form it has: a text, or an object with a name and a message. */
export function errorValue(error: unknown): unknown {
  if (typeof error === "string") return errorText(error);
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown };
  if (typeof message !== "string") return error == null ? error : errorText(String(error));
  return { ...(typeof name === "string" && { name }), message: errorText(message) };
}

export type ErrorWords = (error: unknown) => NonNullable<RunRecord["error"]>;

/** Why a run failed. */
export function createErrorWords(environment: Environment): ErrorWords {
  return (error) => {
    const { name, code, message } = (error ?? {}) as { name?: unknown; code?: unknown; message?: unknown };
    const kind = typeof code === "string" && /^[A-Z_]{3,}$/.test(code) ? code : name;
    return {
      error: typeof kind === "string" ? kind : "Error",
      message: errorText(typeof message === "string" ? message : String(error), environment),
    };
  };
}

const DEEPEST = 8;

/** With its stack and its causes; without secrets. */
export function logError(error: unknown): void {
  const texts: string[] = [];
  for (let cause = error; cause != null && texts.length < DEEPEST; cause = (cause as Error).cause)
    texts.push(String((cause as Error).stack || ((cause as Error).message ?? cause)));
  errorOnConsole(`deepwright: ${withoutSecrets(texts.join("\ncaused by "))}`);
}

const FRAME = /\n[ \t]+at [^\n]*(?:\)|:\d+:\d+|<anonymous>)[ \t]*(?=\n|$)/;

/** Most characters before a message at the top of its stack. */
const LONGEST_NAME = 100;

/** LangChain's tracers write the message, an empty line and the stack, which begins with the message again. */
function withoutStack(text: string): string {
  const frame = text.search(FRAME);
  if (frame < 0) return text;
  const words = text.slice(0, frame);
  for (let end = words.indexOf("\n\n"); end >= 0; end = words.indexOf("\n\n", end + 1)) {
    const message = words.slice(0, end);
    const name = words.length - 2 * end - 2;
    if (name >= 0 && name <= LONGEST_NAME && words.endsWith(message)) return message;
  }
  return words;
}

/** Directories that stand at the root of machines. */
const SYSTEM =
  "Applications Library System Users Volumes bin boot dev etc home lib lib32 lib64 media mnt nix opt private proc root run sbin snap srv sys tmp usr var";

/** Paths are shown relative to the workspace, the directory of the server; paths outside of it are hidden. */
function withoutPaths(text: string): string {
  return text
    .replaceAll(/(?:file:\/\/)?\/[^\s'"`()]+/g, (path) => (path.includes("/node_modules/") ? "…" : path))
    .replaceAll(workspace, "…")
    .replaceAll(quotedPath, "$1…$1")
    .replaceAll(place, "…")
    .replaceAll(/\b[A-Za-z]:\\[^\s'"`<>|]+/g, "…");
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

const NOTHING = /(?!)/g;
const workspace =
  process.cwd().length > 1 ? new RegExp(`(?:file://)?${escaped(process.cwd())}(?![\\w.-])`, "g") : NOTHING;

const roots = [process.cwd(), homedir(), tmpdir(), process.execPath, import.meta.filename]
  .flatMap((path) => /^\/([^/]+)\//.exec(path)?.[1] ?? [])
  .map(escaped);
const begun = `(?:file://)?/(?:${[...new Set([...SYSTEM.split(" "), ...roots])].join("|")})/`;
const quotedPath = new RegExp(`(['"\`])${begun}[^'"\`\\n]*\\1`, "g");
/** Does not match the path of an address such as `https://host/home/x`. */
const place = new RegExp(`(?<![\\w.~…:/-])${begun}[^\\s'"\`<>|:,;()]*`, "g");
