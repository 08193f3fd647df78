/**
 * Ripgrep as a helper that says which files may hold a text.
 *
 * Nothing it says reaches a result: every file it names is opened and searched again by us. It is the
 * binary of the installed package, never one from the `PATH` or the directory that is searched, and it gets
 * no environment and no configuration.
 */

import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";

export interface RipgrepRequest {
  /** The program; see `ripgrepPath`. */
  readonly program: string;
  /** Where it runs: an address of the operating system. */
  readonly directory: string;
  /** What is searched, relative to `directory`, beginning with `./`. */
  readonly start: string;
  /** See `ripgrepLiteral`. */
  readonly literal: string;
  /** Wildcards of file names to search; undefined: all. */
  readonly names?: readonly string[] | undefined;
  readonly readIgnoreFiles: boolean;
  /** Whether the ignore file of `directory` holds too: `start` lies further down. */
  readonly ignoreFileAbove: boolean;
  readonly maxFileSize: number;
  readonly signal: AbortSignal;
}

export interface RipgrepAnswer {
  /** Relative to where it ran, beginning with `./`. */
  readonly files: readonly string[];
  /** How many files it read. */
  readonly searched: number;
}

let located: Promise<string | undefined> | undefined;

/** Undefined where the package has no program for this platform. */
export function ripgrepPath(): Promise<string | undefined> {
  located ??= import("@vscode/ripgrep").then(
    ({ rgPath }) => rgPath,
    () => undefined,
  );
  return located;
}

const LONGEST_LITERAL = 1000;
const SHORTEST_LITERAL = 3;

/**
 * A piece of `pattern` that every file with a match holds, whatever its encoding: the longest one in
 * ASCII. Undefined when there is none worth looking for.
 */
export function ripgrepLiteral(pattern: string): string | undefined {
  const literal = longest(pattern.split(/[^\x20-\x7e]+/)).slice(0, LONGEST_LITERAL);
  const isEnough = literal === pattern || literal.length >= SHORTEST_LITERAL;
  return isEnough ? literal : undefined;
}

function longest(parts: readonly string[]): string {
  return parts.reduce((best, part) => (part.length > best.length ? part : best), "");
}

/** Undefined when it could not do all of its work, or was told to stop; never rejected. */
export async function askRipgrep(request: RipgrepRequest): Promise<RipgrepAnswer | undefined> {
  try {
    const { spawn } = await import("node:child_process");
    if (request.signal.aborted) return undefined;
    const child = spawn(request.program, argumentsOf(request), {
      cwd: request.directory,
      env: process.platform === "win32" ? { SystemRoot: process.env.SystemRoot } : {},
      stdio: ["ignore", "pipe", "ignore"],
      windowsHide: true,
    });
    return await answerOf(child, child.stdout, request.signal);
  } catch {
    return undefined;
  }
}

function answerOf(
  child: ChildProcess,
  output: Readable,
  signal: AbortSignal,
): Promise<RipgrepAnswer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const abort = (): void => {
      child.kill("SIGKILL");
      resolve(undefined);
    };
    signal.addEventListener("abort", abort, { once: true });
    output.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", () => resolve(undefined));
    child.on("close", (code) => {
      signal.removeEventListener("abort", abort);
      resolve(code === 0 || code === 1 ? parseAnswer(Buffer.concat(chunks).toString()) : undefined);
    });
  });
}

function argumentsOf(request: RipgrepRequest): string[] {
  const { literal, names, readIgnoreFiles, ignoreFileAbove, maxFileSize } = request;
  return [
    "--no-config",
    "--files-with-matches",
    "--stats",
    "--max-count=1",
    "--null",
    "--color=never",
    "--path-separator=/",
    "--no-messages",
    "--text",
    "--no-mmap",
    "--hidden",
    "--no-follow",
    "--case-sensitive",
    `--max-filesize=${maxFileSize}`,
    "--glob=!.git",
    ...(readIgnoreFiles ? IGNORE_FILES_ONLY : ["--no-ignore"]),
    ...(readIgnoreFiles && ignoreFileAbove ? ["--ignore-file=.gitignore"] : []),
    ...(names ?? []).map((name) => `--type-add=searched:${name}`),
    ...(names === undefined ? [] : ["--type=searched"]),
    "--fixed-strings",
    `--regexp=${literal}`,
    "--",
    request.start,
  ];
}

const IGNORE_FILES_ONLY = [
  "--no-ignore-dot",
  "--no-ignore-exclude",
  "--no-ignore-global",
  "--no-ignore-parent",
  "--no-require-git",
];

/** Names, each with a zero behind it, and then what it counted. */
function parseAnswer(output: string): RipgrepAnswer | undefined {
  const end = output.lastIndexOf("\0");
  const searched = /^(\d+) files searched$/m.exec(output.slice(end + 1))?.[1];
  if (searched === undefined) return undefined;
  return { files: end === -1 ? [] : output.slice(0, end).split("\0"), searched: Number(searched) };
}
