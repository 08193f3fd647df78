/** Texts that the app adds to a message of a person: behind the person's words, between tags. Pure. */

export type Content = string | readonly Record<string, unknown>[];

export function withAdditions(content: Content, additions: readonly string[]): Content {
  const text = additions.map((one) => `\n\n<added>\n${one}\n</added>`).join("");
  if (text === "") return content;
  return typeof content === "string" ? content + text : [...content, { type: "text", text }];
}

/** The person's words, and the first line of each addition. */
export function splitAdditions(text: string): {
  readonly words: string;
  readonly additions: readonly string[];
} {
  const start = text.search(/(^|\n\n)<added>\n[\s\S]*\n<\/added>$/);
  if (start === -1) return { words: text, additions: [] };
  const additions = [...text.slice(start).matchAll(/(?:^|\n\n)<added>\n([^\n]*)/g)];
  return { words: text.slice(0, start), additions: additions.map(([, line = ""]) => line.replace(/:$/, "")) };
}
