/** Warnings about a call that a person is asked to approve: for terminals, pages and webhooks alike. */
import { isControlPath } from "../backends/disk/root/control-files.ts";
import { escaped, HIDDEN } from "./hidden-text.ts";
import { suspicions } from "./suspicions.ts";

export interface WarnedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface CallWarningOptions {
  /** Files that steer other programs, besides those that are known by their names; relative to the directory. */
  readonly controlPaths?: readonly string[];
}

/** Warnings, each a line of safe text; none for a plain call. */
export function callWarnings(
  { name, args }: WarnedCall,
  { controlPaths = [] }: CallWarningOptions = {},
): readonly string[] {
  const texts = [...textsIn("", args), ["the tool's name", name] as const];
  const odd = texts.flatMap(([where, text]) => suspicions(text).map((warning) => `${where}: ${warning}`));
  const { file_path: path } = args;
  const steers =
    typeof path === "string" &&
    name !== "read_file" &&
    (isControlPath(path) || controlPaths.includes(path.replace(/^\/+/, "")));
  return [...odd, ...(steers ? ["file_path: this file controls other programs"] : [])];
}

const MOST_NAME = 60;

/** Every text in the arguments with the way to it; names of arguments are texts, too. */
function textsIn(way: string, value: unknown): readonly (readonly [string, string])[] {
  if (typeof value === "string") return [[way, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const shown = shownName(key).slice(0, MOST_NAME);
    const inside = way === "" ? shown : `${way}.${shown}`;
    const odd = suspicions(key).length > 0 ? [[`the name '${shown}'`, key] as const] : [];
    return [...odd, ...textsIn(inside, inner)];
  });
}

function shownName(key: string): string {
  return key.replaceAll("\n", "\\n").replaceAll("\t", "\\t").replace(HIDDEN, escaped);
}
