/**
 * Files of a project that the definition of a server names: its program, its arguments and its variables.
 *
 * A change of such a file changes the program that runs, so trust in a definition covers their content. Files that a
 * script imports, and files that only a package manager knows, are not found here.
 */
import { createHash } from "node:crypto";
import { constants, type FileHandle, open, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { visibleLine } from "deepwright/console-line";
import { ConfigurationError } from "deepwright/errors";
import type { McpServerDefinition, StdioDefinition } from "../servers/definition.ts";

export interface NamedFile {
  /** Relative to the project, as the definition names it. */
  readonly path: string;
  /** Relative to the project, after links; absent: the same, or outside. */
  readonly real?: string;
  readonly bytes: number;
  /** SHA-256 of the content. */
  readonly hash: string;
}

/** A file that changed since the server was agreed to. */
export interface FileChange {
  readonly path: string;
  readonly change: "changed" | "new" | "gone";
}

export interface NamingServer {
  readonly definition: McpServerDefinition;
  /** Where relative paths of the definition begin. */
  readonly directory: string;
}

const MOST_WORDS = 200;
const MOST_DIRECTORIES = 8;
const MOST_BYTES = 64 * 1024 * 1024;
/** Endings that interpreters add to the name of a script. */
const ENDINGS = ["", ".js", ".cjs", ".mjs", ".ts", ".py"];
/** Files that interpreters run for a directory, as in `node .`. */
const ENTRIES = ["package.json", "index.js", "index.cjs", "index.mjs", "index.ts", "__main__.py"];
const INTERPRETERS = /(?:^|\/)(?:node|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*)$/;

/** Sorted by path. Only files that exist now: a file that appears later is a change. */
export async function namedFiles(
  { definition, directory }: NamingServer,
  project: string,
): Promise<readonly NamedFile[]> {
  if (!("command" in definition)) return [];
  const cwd = resolve(directory, definition.cwd ?? ".");
  const words = wordsOf(definition);
  const { command, args = [] } = definition;
  const bases = [cwd, ...(await directoriesIn(words, cwd, project))];
  const first = INTERPRETERS.test(command) ? args.find((word) => !word.startsWith("-")) : undefined;
  const candidates = new Set([
    ...(command.includes("/") ? [resolve(directory, command)] : []),
    ...bases.flatMap((base) => words.flatMap((word) => pathsIn(word, base))).flatMap(withEndings),
    ...(first === undefined ? [] : ENTRIES.map((entry) => resolve(cwd, first, entry))),
  ]);
  const data = new Set((definition.dataFiles ?? []).map((path) => resolve(cwd, path)));
  const found = new Map<string, NamedFile>();
  for (const path of candidates) {
    const file = data.has(path) ? undefined : await fileAt(path, project);
    if (file !== undefined) found.set(file.path, file);
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function fileChanges(
  before: readonly Pick<NamedFile, "path" | "hash">[],
  now: readonly Pick<NamedFile, "path" | "hash">[],
): readonly FileChange[] {
  const known = new Map(before.map(({ path, hash }) => [path, hash]));
  const current = new Map(now.map(({ path, hash }) => [path, hash]));
  const gone = [...known.keys()].filter((path) => !current.has(path));
  return [
    ...[...current]
      .filter(([path, hash]) => known.get(path) !== hash)
      .map(([path]): FileChange => ({ path, change: known.has(path) ? "changed" : "new" })),
    ...gone.map((path): FileChange => ({ path, change: "gone" })),
  ];
}

/** `'tools.js' changed` in one line. */
export function changeWords(changes: readonly FileChange[]): string {
  const words = { changed: "changed", new: "appeared", gone: "went away" };
  return changes.map(({ path, change }) => `'${visibleLine(path, 120)}' ${words[change]}`).join(", ");
}

/** Whole texts and the words in them: `--require=./a.js`, `node ./a.js && …`, `${ROOT}/a.js`. */
function wordsOf({ args = [], env = {} }: StdioDefinition): readonly string[] {
  const texts = [...args, ...Object.values(env)];
  const parts = texts.flatMap((text) =>
    text.split(/[\s=,;:|&<>(){}$"'`]+/).map((part) => part.replace(/^-+/, "")),
  );
  const words = [...new Set([...texts, ...parts])].filter((word) => word !== "");
  if (words.length <= MOST_WORDS) return words;
  throw new ConfigurationError(
    "INVALID_OPTION",
    `MCP: the arguments and variables of a server have ${words.length} words, more than ${MOST_WORDS}.`,
    { hint: "Put them into a file that the arguments name." },
  );
}

/** The rest of a path that begins with a variable looks absolute, and may lie below. */
function pathsIn(word: string, base: string): readonly string[] {
  return isAbsolute(word) ? [word, join(base, word)] : [join(base, word)];
}

function withEndings(path: string): readonly string[] {
  return ENDINGS.map((ending) => path + ending);
}

/** Some programs look for scripts in a directory that another argument names. */
async function directoriesIn(
  words: readonly string[],
  cwd: string,
  project: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of new Set(words.flatMap((word) => pathsIn(word, cwd)))) {
    if (found.length >= MOST_DIRECTORIES) break;
    if (path === cwd || !isInside(path, project)) continue;
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isDirectory()) found.push(path);
  }
  return found;
}

/** Undefined if there is no such file of the project. Type and content are read from the same descriptor. */
async function fileAt(path: string, project: string): Promise<NamedFile | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined || !(isInside(path, project) || isInside(real, project))) return undefined;
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  try {
    const facts = await file?.stat();
    if (file === undefined || !facts?.isFile()) return undefined;
    const named = relativePath(project, isInside(path, project) ? path : real);
    if (facts.size > MOST_BYTES) throw tooLarge(named);
    const inside = isInside(real, project) ? relativePath(project, real) : named;
    return {
      path: named,
      ...(inside !== named && { real: inside }),
      ...(await contentOf(file)),
    };
  } finally {
    await file?.close();
  }
}

async function contentOf(file: FileHandle): Promise<Pick<NamedFile, "bytes" | "hash">> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, hash: hash.digest("hex") };
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function relativePath(project: string, path: string): string {
  return relative(project, path).split(sep).join("/");
}

function tooLarge(path: string): ConfigurationError {
  return new ConfigurationError(
    "INVALID_OPTION",
    `MCP: '${visibleLine(path, 200)}', which a server names, is larger than ${MOST_BYTES / 1024 / 1024} MiB.`,
    { hint: "If it is data, name it in 'dataFiles' of the definition." },
  );
}
