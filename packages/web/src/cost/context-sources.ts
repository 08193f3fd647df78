/** Tokens in the window of the model, by source. Pure. */
import type { Screen } from "@deepwright/protocol/live";
import type { Facts } from "../choices/facts.ts";

/** Letters of a token, about. */
const LETTERS = 4;

export type Source = "instructions" | "tools" | "mcp" | "user" | "assistant" | "results" | "rest";

/** Tokens of the last request, as its provider counted them. 0: none was counted yet. */
export function countedTokens({ main }: Screen): number {
  return main.messages.findLast(({ usage }) => usage !== undefined)?.usage?.input ?? 0;
}

/** Sources with their tokens; `rest` is what was counted and is in no other. */
export function sourcesOf(screen: Screen, facts: Facts | undefined): readonly (readonly [Source, number])[] {
  const size = { user: 0, assistant: 0, results: 0 };
  for (const { role, text, calls } of screen.main.messages) {
    const own = text.length + calls.reduce((sum, { args }) => sum + (JSON.stringify(args) ?? "").length, 0);
    size[role === "user" ? "user" : "assistant"] += own;
    size.results += calls.reduce((sum, { result = "" }) => sum + result.length, 0);
  }
  const { instructions = 0, tools = 0, mcp_tools: mcp = 0 } = facts?.tokens ?? {};
  const known: readonly (readonly [Source, number])[] = [
    ["instructions", instructions],
    ["tools", tools],
    ["mcp", mcp],
    ["user", Math.round(size.user / LETTERS)],
    ["assistant", Math.round(size.assistant / LETTERS)],
    ["results", Math.round(size.results / LETTERS)],
  ];
  const rest = countedTokens(screen) - known.reduce((sum, [, tokens]) => sum + tokens, 0);
  return [...known, ["rest", Math.max(0, rest)] as const].filter(([, tokens]) => tokens > 0);
}
