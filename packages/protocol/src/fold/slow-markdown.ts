/** Texts of models that block a reader of Markdown for seconds or years, by their nesting. Pure. */

/** Quotes, lists, brackets and signs of emphasis. */
const TOO_DEEP =
  /^[ \t]*(?:>[ \t]?){24}|^[ \t]*(?:[-*+] ){24}|^ {80,}[-*+] |\[{200}|[*_]{300}|(?:\[[^[\]\n]{0,20}){200}/m;

/** Whether the text is better shown as it is. The check itself takes linear time. */
export function isSlowMarkdown(text: string): boolean {
  return TOO_DEEP.test(text) || hasDeepAddresses(text) || text.split(/\s/).some(isTangledWord);
}

const MOST_SIGNS = 1_000;

/** Behind each sign of a word the rest of the word is searched for the `@` of an address. */
function isTangledWord(word: string): boolean {
  return word.length > 2 * MOST_SIGNS && (word.match(/[*_~`\\<![]/g)?.length ?? 0) > MOST_SIGNS;
}

const MOST_OPEN = 50;

/** Addresses of links that are opened in one another: the time to read them grows with the cube of their number. */
function hasDeepAddresses(text: string): boolean {
  let open = 0;
  for (const [part] of text.matchAll(/\]\(|\)|\n[ \t]*\n/g)) {
    if (part === "](") open += 1;
    else open = part === ")" ? Math.max(0, open - 1) : 0;
    if (open > MOST_OPEN) return true;
  }
  return false;
}
