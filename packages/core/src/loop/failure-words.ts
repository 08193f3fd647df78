/** What the model is told when a call fails: the reason, without stacks or paths of the host. */
import { ToolInputParsingException } from "@langchain/core/tools";
import { Validator } from "@langchain/core/utils/json_schema";
import { isInteropZodSchema } from "@langchain/core/utils/types";

const MAX_LENGTH = 4_000;

export function failureWords(
  error: unknown,
  tool: { name: string; schema?: unknown },
  args: unknown,
): string {
  if (error instanceof ToolInputParsingException) return argumentWords(error, tool, args);
  return `Error: ${shorten(hideHost(reason(error)))}`;
}

function reason(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  if (typeof error === "string" && error !== "") return error;
  if (error === undefined || error === null || error === "")
    return "The tool failed without giving a reason.";
  try {
    return JSON.stringify(error) ?? String(error);
  } catch {
    return String(error);
  }
}

function argumentWords(error: Error, tool: { name: string; schema?: unknown }, args: unknown): string {
  const detail = isInteropZodSchema(tool.schema)
    ? zodDetail(error.message)
    : jsonSchemaDetail(tool.schema, args);
  return `Error: The arguments for tool '${tool.name}' are not valid:\n${shorten(detail)}\nCorrect them and call it again.`;
}

/** LangChain appends the field-level report after a heading of its own. */
function zodDetail(message: string): string {
  const [, ...rest] = message.split("\n\n");
  return (rest.join("\n\n") || message).trim();
}

export function jsonSchemaDetail(schema: unknown, args: unknown): string {
  const result = new Validator(schema as never).validate(args);
  const leaves = result.errors.filter((e) => !/does not match schema\.?$/.test(e.error));
  const problems = leaves.length > 0 ? leaves : result.errors;
  return problems
    .map((e) => `- ${e.instanceLocation.replace(/^#\/?/, "") || "arguments"}: ${e.error}`)
    .join("\n");
}

function shorten(text: string): string {
  return text.length <= MAX_LENGTH
    ? text
    : `${text.slice(0, MAX_LENGTH)}… (${text.length - MAX_LENGTH} characters more)`;
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
