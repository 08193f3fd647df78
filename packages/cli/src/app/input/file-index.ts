/** The files of a directory for completion. Reading happens in the background, so that no key waits for it. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type IgnoreRule, ignoreRules, isIgnored } from "./ignore-rules.ts";

const MOST_FILES = 200_000;
const FRESH_MS = 10_000;
const ALWAYS_LEFT_OUT = new Set([".git", "node_modules", ".hg", ".svn"]);

export class FileIndex {
  private paths: readonly string[] = [];
  private readAt = 0;
  private reading: Promise<void> | undefined;

  constructor(private readonly directory: string) {}

  /** Paths that fit `query`, the best first. The first call waits for the files; later ones use what is there. */
  async search(query: string, most: number): Promise<readonly string[]> {
    if (this.readAt === 0) await this.refresh();
    else if (Date.now() - this.readAt > FRESH_MS) void this.refresh();
    return bestPaths(this.paths, query, most);
  }

  refresh(): Promise<void> {
    this.reading ??= listFiles(this.directory)
      .then((paths) => {
        this.paths = paths;
        this.readAt = Date.now();
      })
      .finally(() => {
        this.reading = undefined;
      });
    return this.reading;
  }
}

/** Relative paths; directories end with a slash. */
export async function listFiles(root: string): Promise<readonly string[]> {
  const found: string[] = [];
  const open: { readonly base: string; readonly rules: readonly IgnoreRule[] }[] = [{ base: "", rules: [] }];
  for (let next = open.pop(); next !== undefined && found.length < MOST_FILES; next = open.pop()) {
    const { base } = next;
    const entries = await readdir(join(root, base), { withFileTypes: true }).catch(() => []);
    const hasRules = entries.some(({ name }) => name === ".gitignore");
    const own = hasRules ? await readFile(join(root, base, ".gitignore"), "utf8").catch(() => "") : "";
    const rules = own === "" ? next.rules : [...next.rules, ...ignoreRules(own, base)];
    for (const entry of entries) {
      const isDirectory = entry.isDirectory();
      const path = `${base}${entry.name}`;
      if (ALWAYS_LEFT_OUT.has(entry.name) || isIgnored(path, isDirectory, rules)) continue;
      found.push(isDirectory ? `${path}/` : path);
      if (isDirectory) open.push({ base: `${path}/`, rules });
    }
  }
  return found;
}

/** Names that begin with the query, then those that hold it, then paths that hold its letters in order. */
export function bestPaths(paths: readonly string[], query: string, most: number): readonly string[] {
  const wanted = query.toLowerCase();
  const ranked: string[][] = [[], [], [], []];
  for (const path of paths) {
    const rank = rankOf(path.toLowerCase(), wanted);
    const list = ranked[rank];
    if (list !== undefined && list.length < most * 4) list.push(path);
  }
  const byLength = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);
  return ranked.flatMap((list) => list.sort(byLength)).slice(0, most);
}

function rankOf(path: string, wanted: string): number {
  const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.includes(wanted)) return 2;
  let at = 0;
  for (const letter of wanted) {
    at = path.indexOf(letter, at) + 1;
    if (at === 0) return 4;
  }
  return 3;
}
