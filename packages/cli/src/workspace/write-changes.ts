/**
 * Writes changed files into a directory the user named, and nowhere else: no path leaves it, no link
 * in it is followed, and nothing is written that a tool on this machine would run by itself.
 */
import { randomBytes } from "node:crypto";
import { access, constants, lstat, mkdir, realpath, rename, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { usageError } from "../command-error.ts";
import { type Changes, type Files, textOf } from "./changes.ts";

export interface Refusal {
  readonly path: string;
  readonly reason: string;
}

export interface WriteReport {
  readonly written: readonly string[];
  readonly refused: readonly Refusal[];
}

/** Makes sure before the run that there is a place to write to afterwards. */
export async function prepareOut(directory: string): Promise<string> {
  const existing = await stat(directory).catch(() => undefined);
  if (existing !== undefined && !existing.isDirectory())
    throw usageError(`--out must be a directory, but '${directory}' is a file.`);
  try {
    await mkdir(directory, { recursive: true });
    await access(directory, constants.W_OK);
    return await realpath(directory);
  } catch (error) {
    throw usageError(`Cannot write to --out '${directory}': ${(error as Error).message}.`);
  }
}

/** `directory` is what `prepareOut` gave. Deleted files are for the caller to name: nothing is removed. */
export async function writeChanges(directory: string, changes: Changes, files: Files): Promise<WriteReport> {
  const written: string[] = [];
  const refused: Refusal[] = [];
  for (const path of [...changes.created, ...changes.changed].sort()) {
    const reason = await writeOne(directory, path, textOf(files[path] as Files[string]));
    if (reason === undefined) written.push(path);
    else refused.push({ path, reason });
  }
  return { written, refused };
}

/** Undefined when written, else why not. */
async function writeOne(directory: string, path: string, text: string): Promise<string | undefined> {
  const segments = path.split("/").slice(1);
  const reason = whyUnsafe(path, segments);
  if (reason !== undefined) return reason;
  const name = segments.pop() as string;
  try {
    const parent = await plainDirectory(directory, segments);
    if (parent === undefined) return "a part of its path is a link or a file";
    return await replaceFile(parent, name, text);
  } catch (error) {
    return (error as Error).message;
  }
}

const UNSAFE_SEGMENT = /^\.{0,2}$|[\p{Cc}\\]|^[A-Za-z]:$/u;

function whyUnsafe(path: string, segments: readonly string[]): string | undefined {
  if (!path.startsWith("/") || segments.length === 0 || segments.some((part) => UNSAFE_SEGMENT.test(part)))
    return "its path is not safe";
  return runsByItself(segments) ? "a tool on this machine could run it by itself" : undefined;
}

const RUNNING_DIRECTORIES = /^(\.git|git~\d|\.deepwright|\.husky)$/i;
const RUNNING_FILES =
  /^(\.(bash|zsh)(rc|_profile|env|login|logout)|\.z?profile|\.zlogin|\.zlogout|\.envrc|\.mcp\.json|\.gitmodules|\.gitconfig)$/i;

/** Hooks, shell start files, editor tasks, our own settings. Spelled in any case, for disks that ignore it. */
function runsByItself(segments: readonly string[]): boolean {
  const plain = segments.map((part) => part.replace(/[\u200c\u200d]/g, "").normalize("NFKC"));
  if (plain.some((part) => RUNNING_DIRECTORIES.test(part))) return true;
  if (RUNNING_FILES.test(plain.at(-1) ?? "")) return true;
  return /(^|\/)\.vscode\/(tasks|settings|launch)\.json$/i.test(plain.join("/"));
}

/** The directory below `root`, made where it is missing; undefined when something else stands in the way. */
async function plainDirectory(root: string, segments: readonly string[]): Promise<string | undefined> {
  let directory = root;
  for (const segment of segments) {
    directory = join(directory, segment);
    const found = await lstat(directory).catch(() => undefined);
    if (found === undefined) await mkdir(directory);
    else if (!found.isDirectory()) return undefined;
  }
  return directory;
}

/** A new file takes the place of the old one, so that a link or a second name of it is never written through. */
async function replaceFile(directory: string, name: string, text: string): Promise<string | undefined> {
  const target = join(directory, name);
  const found = await lstat(target).catch(() => undefined);
  if (found?.isDirectory()) return "there is a directory of that name";
  if (found?.isSymbolicLink()) return "there is a link of that name";
  const temporary = join(directory, `.${randomBytes(6).toString("hex")}.deepwright-tmp`);
  await writeFile(temporary, text, { flag: "wx", mode: found ? found.mode & 0o777 : 0o666 });
  try {
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary);
    throw error;
  }
  return undefined;
}
