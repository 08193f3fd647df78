/** The files of the workspace that a command names, with hashes of their content. */
import type { BackendProtocol, FileInfo, OperationOptions } from "../backends/backend.ts";
import { asHarness } from "../backends/harness-call.ts";
import type { CallInputs } from "../loop/approval-rules/call-inputs.ts";
import { canonicalPath, parentPath } from "../paths.ts";
import { type CommandWords, commandWords } from "../text/command-words.ts";

const MOST_NAMES = 64;
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_TEXT_BYTES = 32 * 1024;

/**
 * Every word that is a file counts, even if the program does not read it. `isOpen`: the command may read files that it
 * does not name, or that could not be read here.
 */
export async function commandInputs(
  command: string,
  backend: BackendProtocol,
  signal?: AbortSignal,
): Promise<CallInputs> {
  const read = commandWords(command);
  const options = asHarness(signal ? { signal } : {});
  const named = namesIn(read);
  const bases = basesOf(read, backend.workingDirectory ?? "/");
  const { paths, hasStrangers } = pathsOf([...named].slice(0, MOST_NAMES), bases);
  const entries = await entriesAt(backend, paths, options);
  const found = entries.filter(({ path }) => !bases.includes(path));
  const files = found.filter(({ is_dir }) => !is_dir);
  const small = files.filter(({ size = 0 }) => size <= MOST_BYTES);
  const hashed = await hashedFiles(
    backend,
    small.map(({ path }) => path),
    options,
  );
  const elsewhere = [...named].some((name) => isElsewhere(name, entries));
  const isWhole = hashed.length === found.length && !hasStrangers && !elsewhere && named.size <= MOST_NAMES;
  return { files: hashed, isOpen: !isWhole || !namesItsFiles(read, found, bases) };
}

/** Words, and the part behind `=` in them, as in `--file=a.txt`. */
function namesIn({ commands }: CommandWords): ReadonlySet<string> {
  const names = commands.flat().flatMap((word) => {
    const value = word.slice(word.indexOf("=") + 1);
    return [...(word.startsWith("-") ? [] : [word]), ...(value === word ? [] : [value])];
  });
  return new Set(names.filter((name) => name !== "" && name.length <= 1_024 && !/[\0\n]/.test(name)));
}

/** Where relative names begin: where commands start, and directories that the command goes to first. */
function basesOf({ commands }: CommandWords, start: string): readonly string[] {
  const words = commands.flat();
  const entered = words.filter((_, i) => GOES.has(words[i - 1] ?? ""));
  return [start, ...entered.flatMap((name) => canonicalPath(name, { base: start }).path ?? [])];
}

const GOES: ReadonlySet<string> = new Set(["cd", "pushd", "-C"]);

function pathsOf(
  names: readonly string[],
  bases: readonly string[],
): { readonly paths: readonly string[]; readonly hasStrangers: boolean } {
  const located = names.flatMap((name) => bases.map((base) => canonicalPath(name, { base })));
  return {
    paths: [...new Set(located.flatMap(({ path }) => path ?? []))],
    hasStrangers: located.some(
      ({ path }, i) => path === undefined && names[Math.floor(i / bases.length)]?.includes("/"),
    ),
  };
}

/** The files and directories among the paths. */
async function entriesAt(
  backend: BackendProtocol,
  paths: readonly string[],
  options: OperationOptions,
): Promise<readonly FileInfo[]> {
  const parents = new Set(paths.map(parentPath));
  const wanted = new Set(paths);
  const listings = await Promise.all([...parents].map(async (parent) => backend.ls(parent, options)));
  const entries = listings
    .flatMap((listing) => listing.files ?? [])
    .map((entry) => ({ ...entry, path: entry.path.replace(/(?<=.)\/$/, "") }))
    .filter(({ path }) => wanted.has(path));
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function hashedFiles(
  backend: BackendProtocol,
  paths: readonly string[],
  options: OperationOptions,
): Promise<CallInputs["files"]> {
  if (paths.length === 0 || backend.downloadFiles === undefined) return [];
  const responses = await backend.downloadFiles(paths, options);
  const files = paths.map(async (path, i) => {
    const { content } = responses[i] ?? {};
    if (!content) return [];
    const text = content.length <= MOST_TEXT_BYTES ? textOf(content) : undefined;
    return [{ path, hash: await sha256(content), ...(text !== undefined && { text }) }];
  });
  return (await Promise.all(files)).flat();
}

async function sha256(content: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function textOf(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}

/** An absolute name that the file tools do not know: it may be a file of the workspace by another name. */
function isElsewhere(name: string, found: readonly FileInfo[]): boolean {
  if (!name.startsWith("/") || SYSTEM.test(name)) return false;
  return !found.some(({ path }) => path === canonicalPath(name).path);
}

const SYSTEM = /^\/(?:bin|sbin|usr|lib\w*|etc|dev|opt|nix)(?:\/|$)/;

/** Whether each command reads only the files it names, as far as its program is known. */
function namesItsFiles(
  { commands, isPlain }: CommandWords,
  found: readonly FileInfo[],
  bases: readonly string[],
): boolean {
  const names = new Set(found.map(({ path }) => path));
  const isFile = (word: string): boolean =>
    bases.some((base) => names.has(canonicalPath(word.slice(word.indexOf("=") + 1), { base }).path ?? ""));
  return (
    isPlain &&
    commands.filter(([word]) => word === "cd").length < 2 &&
    commands.every((words) => {
      const [program = "", ...rest] = words.slice(words.findIndex((word) => !/^\w+=/.test(word)));
      if (SIMPLE.has(program)) return true;
      const isTold = rest.some(isFile) || isFile(program);
      return (
        isTold &&
        !FINDING.test(program.replace(/^.*\//, "")) &&
        !rest.some((word) => /[\s;&|<>()]/.test(word))
      );
    })
  );
}

/** Programs that read only the files they are given. */
const SIMPLE: ReadonlySet<string> = new Set(
  "cd echo printf mkdir rmdir touch date pwd true false sleep whoami hostname uname id cat head tail wc cp mv rm ln chmod chown stat file kill sort uniq cut tr tee cmp sha256sum md5sum basename dirname test".split(
    " ",
  ),
);

/** Programs that find files by themselves. */
const FINDING =
  /^(?:g?make|cmake|ninja|just|task|rake|npm|npx|pnpm|pnpx|yarn|bunx?|deno|cargo|go|mvn|gradlew?|ant|sbt|bazel|tox|nox|pytest|vitest|jest|mocha|tsc|eslint|prettier|webpack|vite|docker|podman|bundle|composer|terraform|ansible\S*)$/;
