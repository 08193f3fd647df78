/** Text for the model when a call fails: the reason, without stacks or paths of the host. */
import { ToolInputParsingException } from "@langchain/core/tools";
import { withoutSecrets } from "../../secrets.ts";
import { argumentWords } from "./argument-words.ts";
import { shorten } from "./shorten.ts";

const NO_REASON = "The tool failed without giving a reason.";

export function failureWords(
  error: unknown,
  tool: { name: string; schema?: unknown },
  args: unknown,
): string {
  if (error instanceof ToolInputParsingException) return argumentWords(error, tool, args);
  return `Error: ${shorten(hideHost(hideOwnPaths(withoutSecrets(reason(error)), error)))}`;
}

/** Any value can be thrown: also one without a text, and one that throws when it is read. */
function reason(error: unknown): string {
  try {
    return said(error) || NO_REASON;
  } catch {
    return NO_REASON;
  }
}

function said(error: unknown): string | undefined {
  if (error === undefined || error === null || typeof error === "function") return undefined;
  if (typeof error !== "object") return String(error);
  const { message, name } = error as { message?: unknown; name?: unknown };
  if (typeof message === "string" && message !== "") return message;
  if (error instanceof Error) return message ? JSON.stringify(message) : String(name);
  return JSON.stringify(error);
}

/** The path in an error of the operating system is a path of the host, wherever it lies. */
function hideOwnPaths(text: string, error: unknown): string {
  const { syscall, path, dest } = (error ?? {}) as { syscall?: unknown; path?: unknown; dest?: unknown };
  if (typeof syscall !== "string") return text;
  return [path, dest].reduce<string>(
    (hidden, own) =>
      typeof own === "string" && own.length > 1 ? hidden.replaceAll(own, lastName(own)) : hidden,
    text,
  );
}

const STACK_LINE = /\n\s+at [^\n]+/g;
const FILE_URL = /file:\/\/\/?[^\s'"`)\]]+/g;
const WINDOWS_PATH = /\b[A-Za-z]:\\[^\s'"`)\]]+/g;
const HOST_ROOTS = [
  "home",
  "Users",
  "root",
  "tmp",
  "var",
  "usr",
  "opt",
  "etc",
  "private",
  "proc",
  "srv",
  "mnt",
];

/** Directories of the host become `…/`; the name of the file stays, since it tells the model something. */
export function hideHost(text: string): string {
  return text
    .replace(STACK_LINE, "")
    .replace(FILE_URL, (url) => lastName(url))
    .replace(WINDOWS_PATH, (path) => lastName(path.replaceAll("\\", "/")))
    .replace(hostPath(), (path) => lastName(path));
}

function hostPath(): RegExp {
  const cwd = globalThis.process?.cwd?.();
  const roots = HOST_ROOTS.map((root) => `/${root}`);
  if (cwd && cwd !== "/") roots.push(cwd.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`(?<![\\w.~/-])(?:${roots.join("|")})/[^\\s'"\`)\\]:,]*`, "g");
}

function lastName(path: string): string {
  return `…/${path.replace(/\/+$/, "").split("/").at(-1) ?? ""}`;
}
