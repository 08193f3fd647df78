/** The list of tools outside the model's window, and the search over them. Pure. */

import { visibleLine } from "deepwright/console-line";
import { estimateTokens } from "deepwright/internal";

export interface IndexedTool {
  readonly name: string;
  /** Its name without the prefix that all tools of its server share. */
  readonly short: string;
  readonly server: string;
  readonly description: string;
  /** Names of its arguments. */
  readonly parameters: readonly string[];
}

const MOST_LINE = 80;

/** The most that fits `maxTokens`: names with a line each, names alone, or some of the names and how many more there are. */
export function indexWords(tools: readonly IndexedTool[], maxTokens: number): string {
  const servers = byServer(tools);
  const lines = servers
    .map(([server, own]) => [`${visibleLine(server)}:`, ...own.map(lineOf)].join("\n"))
    .join("\n");
  if (estimateTokens(lines) <= maxTokens) return lines;
  let most = Math.max(...servers.map(([, own]) => own.length));
  for (;;) {
    const words = servers.map(([server, own]) => namesOf(server, own, most)).join("\n");
    if (estimateTokens(words) <= maxTokens || most === 0) return words;
    most = Math.floor(most * 0.8);
  }
}

function byServer(tools: readonly IndexedTool[]): readonly (readonly [string, readonly IndexedTool[]])[] {
  const names = [...new Set(tools.map(({ server }) => server))];
  return names.map((name) => [name, tools.filter(({ server }) => server === name)]);
}

function lineOf({ short, description }: IndexedTool): string {
  const [first = ""] = description.split(/(?<=[.!?])\s|\n/, 1);
  return first === "" ? `- ${short}` : `- ${short}: ${visibleLine(first, MOST_LINE)}`;
}

/** Evenly spread over a long list, not only its start. */
function namesOf(server: string, own: readonly IndexedTool[], most: number): string {
  const step = own.length / Math.max(most, 1);
  const shown = own.length <= most ? own : Array.from({ length: most }, (_, i) => own[Math.floor(i * step)]);
  const more = own.length - shown.length;
  const names = [...shown.map((tool) => tool?.short), ...(more > 0 ? [`and ${more} more`] : [])];
  return `${visibleLine(server)} (${own.length}): ${names.join(", ")}`;
}

/** The best first, at most `limit`; none when nothing of the query is found anywhere. */
export function searchTools(
  tools: readonly IndexedTool[],
  query: string,
  limit: number,
): readonly IndexedTool[] {
  const wanted = [...new Set(termsOf(query))];
  const named = new Set(query.split(/[\s,;'"`]+/));
  const documents = tools.map((tool) => ({
    tool,
    name: new Set(termsOf(`${tool.short} ${tool.server}`)),
    rest: new Set(termsOf(`${tool.description} ${tool.parameters.join(" ")}`)),
  }));
  const rarity = new Map(
    wanted.map((term) => {
      const holding = documents.filter(({ name, rest }) => name.has(term) || rest.has(term)).length;
      return [term, Math.log(1 + tools.length / (1 + holding))];
    }),
  );
  const scored = documents.map(({ tool, name, rest }) => {
    let score = named.has(tool.name) || named.has(tool.short) ? EXACT : 0;
    for (const term of wanted) score += strength(term, name, rest) * (rarity.get(term) ?? 0);
    return { tool, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .slice(0, limit)
    .map(({ tool }) => tool);
}

const EXACT = 1_000;

function strength(term: string, name: ReadonlySet<string>, rest: ReadonlySet<string>): number {
  if (name.has(term)) return 3;
  if (term.length >= 3 && [...name].some((word) => word.startsWith(term) || term.startsWith(word))) return 2;
  return rest.has(term) ? 1 : 0;
}

/** `createPullRequest` and `create_pull_requests` are the same words. */
function termsOf(text: string): readonly string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1)
    .map((word) =>
      word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word,
    );
}
