/** Markdown as tokens. HTML stays text, links lead to web and mail alone, and pictures are never loaded from elsewhere. */
import { isSlowMarkdown } from "@deepwright/protocol/live";
import { Lexer, type Token, Tokenizer, type Tokens } from "marked";

/** Longer texts are shown as they are: reading them as Markdown could block the page. */
const MOST_LENGTH = 60_000;

/** Formulas stay as they were written: their stars and underlines are no emphasis. */
const INLINE_MATH =
  /^(?:\$\$[^$]+\$\$|\$(?!\s)[^$\n]*[^\s$]\$(?!\d)|\\\([^\n]{1,2000}?\\\)|\\\[[^\n]{1,2000}?\\\])/;
const BLOCK_MATH = /^(?:\$\$[^$]+\$\$|\\\[[\s\S]{1,4000}?\\\]) *(?:\n|$)/;

const mathBy = (form: RegExp) => (text: string) => {
  const raw = form.exec(text)?.[0];
  return raw === undefined ? undefined : { type: "math", raw };
};

const MATH = {
  block: [mathBy(BLOCK_MATH)],
  inline: [mathBy(INLINE_MATH)],
  // A paragraph ends before a block of its own, and text before a dollar sign; both may be none.
  startBlock: [(text: string) => indexIn(text, "\n$$")],
  startInline: [(text: string) => indexIn(text, "$")],
  childTokens: {},
  renderers: {},
};

function indexIn(text: string, part: string): number | undefined {
  const index = text.indexOf(part);
  return index === -1 ? undefined : index;
}

/** Characters that are looked through for the ends of emphasis. Every sign of it costs a look through its paragraph. */
const MOST_LOOKED_AT = 2_000_000;

/** Signs of emphasis behind the limit stay text. */
class BoundedTokenizer extends Tokenizer {
  #left = MOST_LOOKED_AT;

  override emStrong(source: string, masked: string, before?: string): Tokens.Em | Tokens.Strong | undefined {
    if (/^[*_]/.test(source)) this.#left -= masked.length;
    return this.#left < 0 ? undefined : super.emStrong(source, masked, before);
  }

  override del(source: string): Tokens.Del | undefined {
    if (source.startsWith("~")) this.#left -= source.length;
    return this.#left < 0 ? undefined : super.del(source);
  }
}

/** Undefined: the text is better shown as it is. */
export function tokensOf(text: string): readonly Token[] | undefined {
  if (text.length > MOST_LENGTH || isSlowMarkdown(text)) return undefined;
  try {
    return new Lexer({ gfm: true, extensions: MATH, tokenizer: new BoundedTokenizer() }).lex(text);
  } catch {
    return undefined;
  }
}

/** The address, where it is one of the web or of mail; undefined: the link is shown as text. */
export function safeAddress(href: string): URL | undefined {
  const text = decodeEntities(href).trim();
  if (!/^(?:https?:\/\/|mailto:)/i.test(text)) return undefined;
  try {
    const url = new URL(text);
    return /^(?:https?|mailto):$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** A picture whose bytes are in the text itself. */
export function inlinePicture(href: string): string | undefined {
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(href) ? href : undefined;
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  rarr: "→",
  larr: "←",
  times: "×",
  middot: "·",
  bull: "•",
  euro: "€",
};

/** Character references that people write. Others stay as they are. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] as string) : whole;
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      ? String.fromCodePoint(code)
      : "\ufffd";
  });
}
