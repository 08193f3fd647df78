/** The summary a mediocre model writes: sentences that look important, up to a limit. */

const IMPORTANT =
  /\b(fact|decision|decided|remember|important|must|always|never|todo|agreed|name is|code)\b/i;
const MOST_LINES = 60;
const LONGEST_LINE = 300;

export function summaryOf(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.trim().slice(0, LONGEST_LINE))
    .filter((line) => IMPORTANT.test(line));
  return ["Summary of the conversation:", ...[...new Set(lines)].slice(-MOST_LINES)].join("\n");
}
