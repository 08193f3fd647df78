/** Selects the files worth reading for a task, by their names alone. */
import { isSecretPath } from "../run/secret-names.ts";

const ALWAYS: readonly RegExp[] = [
  /^\/readme(\.\w+)?$/i,
  /^\/(package|deno|composer)\.json$/,
  /^\/(pyproject|cargo)\.toml$/i,
  /^\/(go\.mod|makefile|agents\.md|contributing\.md)$/i,
];
const ENTRY =
  /(^|\/)(main|index|app|cli|server|__main__|mod|lib)\.(ts|tsx|js|mjs|cjs|jsx|py|go|rs|java|rb|php|c|cpp)$/;
const NOISE =
  /(^|\/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|[^/]*\.(lock|min\.js|map|svg|png|jpe?g|gif|webp|ico|pdf|zip|gz|woff2?))$/i;
const COMMON = new Set(
  "the and for with from that this what which into have please write make create file files code all any are you your our how why who when where can could should would does not but its use using about some new".split(
    " ",
  ),
);

const MAX_READ = 6;
const MAX_MEASURED = 10;

export interface Selection {
  /** To be read, the most relevant first. */
  readonly read: readonly string[];
  /** To be measured only. */
  readonly measure: readonly string[];
}

export function selectFiles(paths: readonly string[], task: string): Selection {
  const words = wordsOf(task);
  const ranked = paths
    .filter((path) => !path.endsWith("/") && !NOISE.test(path) && !isSecretPath(path))
    .map((path) => ({ path, score: scoreOf(path, words) }))
    .toSorted((a, b) => b.score - a.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  const read = ranked.filter(({ score }) => score > 0).slice(0, MAX_READ);
  const rest = ranked.slice(read.length).slice(0, MAX_MEASURED);
  return { read: read.map(({ path }) => path), measure: rest.map(({ path }) => path) };
}

export function isEntryPoint(path: string): boolean {
  return ENTRY.test(path);
}

/** Words of the task that a file name could share. */
export function wordsOf(task: string): readonly string[] {
  const words = task.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return [...new Set(words)].filter((word) => !COMMON.has(word)).slice(0, 50);
}

function scoreOf(path: string, words: readonly string[]): number {
  const lower = path.toLowerCase();
  const shared = words.filter((word) => lower.includes(word)).length;
  const always = ALWAYS.some((pattern) => pattern.test(path)) ? 3 : 0;
  return always + shared * 2 + (isEntryPoint(path) ? 1 : 0);
}
