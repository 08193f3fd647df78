/** Makes directory trees for tests and searches them. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { GlobResult, GrepResult } from "../backend.ts";
import { ContainedRoot } from "./root/contained-root.ts";
import { globDisk, grepDisk } from "./search/search.ts";
import type { GrepRequest } from "./search/search-start.ts";

/** Content by path; `{ link }` makes a symbolic link. A path with a slash at its end is a directory. */
export type Tree = Readonly<Record<string, string | Uint8Array | { readonly link: string }>>;

/** Removed after the test. */
export function makeTree(tree: Tree): ContainedRoot {
  const host = mkdtempSync(join(tmpdir(), "search-"));
  onTestFinished(() => rmSync(host, { recursive: true, force: true }));
  fillTree(host, tree);
  return new ContainedRoot(host);
}

export function fillTree(host: string, tree: Tree): void {
  for (const [path, content] of Object.entries(tree)) {
    const target = join(host, path);
    mkdirSync(path.endsWith("/") ? target : dirname(target), { recursive: true });
    if (path.endsWith("/")) continue;
    if (typeof content === "string" || content instanceof Uint8Array) writeFileSync(target, content);
    else symlinkSync(content.link, target);
  }
}

export type GrepChange = Partial<GrepRequest>;

const USUAL = {
  path: "/",
  respectGitignore: true,
  timeoutSeconds: 600,
  maxFileSizeBytes: 10 * 1024 * 1024,
};

export function grep(root: ContainedRoot, pattern: string, change: GrepChange = {}): Promise<GrepResult> {
  return grepDisk({ ...USUAL, root, pattern, ...change });
}

export function glob(root: ContainedRoot, pattern: string, change: GrepChange = {}): Promise<GlobResult> {
  return globDisk({ ...USUAL, root, pattern, ...change });
}

/** `path:line:text` of each match. */
export async function found(
  root: ContainedRoot,
  pattern: string,
  change: GrepChange = {},
): Promise<string[]> {
  const result = await grep(root, pattern, change);
  if (result.error !== undefined) throw new Error(result.error);
  return result.matches.map(({ path, line, text }) => `${path}:${line}:${text}`);
}

/** The paths of what a glob finds. */
export async function listed(
  root: ContainedRoot,
  pattern: string,
  change: GrepChange = {},
): Promise<string[]> {
  const result = await glob(root, pattern, change);
  if (result.error !== undefined) throw new Error(result.error);
  return result.files.map(({ path }) => path);
}
