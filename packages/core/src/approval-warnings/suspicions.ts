/** Warnings about a text that a person is asked to approve. */
import { domainToUnicode } from "node:url";
import { escaped, GAP, GAP_LINES } from "./hidden-text.ts";

/** Warnings, each a line of safe text; none for a plain text. Takes time in proportion to the text. */
export function suspicions(text: string): readonly string[] {
  const plain = text.replaceAll("\r\n", "\n");
  return [
    ...hiddenCharacters(plain),
    ...gaps(plain),
    ...endings(plain),
    ...addresses(plain),
    ...mixedWords(plain),
  ];
}

/** The first kind that fits a character is its kind. */
const KINDS: readonly (readonly [RegExp, string, string])[] = [
  [
    /\p{Bidi_Control}/u,
    "character that turns the direction of text",
    "characters that turn the direction of text",
  ],
  [/\p{Cc}|[\u2028\u2029]/u, "control character", "control characters"],
  [/\p{Default_Ignorable_Code_Point}|\p{Cf}|\u2800/u, "invisible character", "invisible characters"],
  [/\p{Zs}/u, "unusual space", "unusual spaces"],
  [/[\p{Co}\p{Cn}\p{Cs}]/u, "character that is not assigned", "characters that are not assigned"],
];

function hiddenCharacters(text: string): readonly string[] {
  const found = KINDS.map(() => ({ amount: 0, first: "" }));
  for (const [character] of text.matchAll(
    /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu,
  )) {
    const kind = found[KINDS.findIndex(([pattern]) => pattern.test(character))];
    if (!kind) continue;
    kind.amount++;
    kind.first ||= character;
  }
  return found.flatMap(({ amount, first }, i) => {
    const [, one, many] = KINDS[i] as (typeof KINDS)[number];
    return amount === 0 ? [] : [`${count(amount, one, many)}, such as ${escaped(first)}`];
  });
}

/** Text after a long gap, where a reader may overlook it. */
function gaps(text: string): readonly string[] {
  const blanks = text.match(new RegExp(`\\S[ \\t]{${GAP},}(?=\\S)`));
  const lines = text.match(new RegExp(`\\S[ \\t]*\\n(?:[ \\t]*\\n){${GAP_LINES},}(?=[ \\t]*\\S)`));
  return [
    ...(blanks ? [`it goes on after a gap of ${grouped(blanks[0].length - 1)} blanks`] : []),
    ...(lines ? [`it goes on after ${grouped(lines[0].split("\n").length - 2)} empty lines`] : []),
  ];
}

/** One line break at the end is how files end. */
function endings(text: string): readonly string[] {
  const end = text.slice(text.trimEnd().length);
  if (end === "" || end === "\n") return [];
  const breaks = end.split("\n").length - 1;
  const blanks = end.length - breaks;
  const parts = [blanks > 0 ? count(blanks, "blank") : "", breaks > 0 ? count(breaks, "line break") : ""];
  return [`it ends with ${parts.filter(Boolean).join(" and ")}`];
}

const MOST_NAMED = 5;
/** The host part of a URL. */
const ADDRESS = /:\/\/([^\s/?#"'<>`\\]+)/gu;

/** Hosts that are not spelt in plain letters, and addresses that begin with another host than theirs. */
function addresses(text: string): readonly string[] {
  const warnings = new Set<string>();
  for (const [, authority = ""] of text.matchAll(ADDRESS)) {
    const at = authority.lastIndexOf("@");
    const host = hostOf(authority.slice(at + 1));
    if (at !== -1) warnings.add(`the address '${plainly(authority)}' leads to ${host}`);
    else if (isForeign(authority) || host.includes("xn--"))
      warnings.add(
        `the host '${plainly(domainToUnicode(host) || authority)}' is not plain letters: it is ${host}`,
      );
    if (warnings.size >= MOST_NAMED) break;
  }
  return [...warnings];
}

/** As it is looked up. */
function hostOf(authority: string): string {
  try {
    return plainly(new URL(`http://${authority}`).host);
  } catch {
    return plainly(authority);
  }
}

function isForeign(text: string): boolean {
  return /[^\x21-\x7e]/.test(text);
}

/** Letters that look alike are in these; words of other scripts are commonly joined to Latin ones. */
const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ["Latin", /\p{Script=Latin}/u],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Armenian", /\p{Script=Armenian}/u],
  ["Cherokee", /\p{Script=Cherokee}/u],
];

const NOT_LATIN = /[\u0370-\u058f\u13a0-\u13ff\uab70-\uabbf]/;

function mixedWords(text: string): readonly string[] {
  const warnings = new Set<string>();
  if (!NOT_LATIN.test(text)) return [];
  for (const [word] of text.matchAll(/[\p{L}\p{N}_-]+/gu)) {
    if (!NOT_LATIN.test(word)) continue;
    const scripts = SCRIPTS.filter(([, pattern]) => pattern.test(word)).map(([name]) => name);
    if (scripts.length < 2) continue;
    warnings.add(`'${plainly(word)}' mixes letters that look alike: ${scripts.join(" and ")}`);
    if (warnings.size >= MOST_NAMED) break;
  }
  return [...warnings];
}

const MOST_SHOWN = 80;

/** All that is not ASCII is written out. */
function plainly(text: string): string {
  const characters = [...text].slice(0, MOST_SHOWN).map((c) => (isForeign(c) ? escaped(c) : c));
  return `${characters.join("")}${[...text].length > MOST_SHOWN ? "…" : ""}`;
}

function count(amount: number, one: string, many = `${one}s`): string {
  return `${grouped(amount)} ${amount === 1 ? one : many}`;
}

/** 12345 as `12,345`, whatever the locale of the machine. */
function grouped(amount: number): string {
  return String(amount).replace(/\B(?=(\d{3})+$)/g, ",");
}
