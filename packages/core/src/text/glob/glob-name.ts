/** Whether one file or directory name fits one level of a glob. */
export type NameMatcher = (name: string) => boolean;

/** Consumes one piece of a name at `index`: the index after it, or -1. */
type Piece = (name: string, index: number) => number;
type Token = string | Piece | typeof STAR;

const STAR: unique symbol = Symbol("star");

/** `part` has no slash and no braces left to expand. */
export function compileName(part: string): NameMatcher {
  const tokens = tokensOf(part);
  if (tokens.length === 1 && tokens[0] === STAR) return () => true;
  if (tokens.length === 1 && typeof tokens[0] === "string") {
    const exact = tokens[0];
    return (name) => name === exact;
  }
  const last = tokens.at(-1);
  const suffix = typeof last === "string" ? last : "";
  if (tokens.length === 2 && tokens[0] === STAR && suffix !== "") return (name) => name.endsWith(suffix);
  return (name) => name.endsWith(suffix) && matchTokens(tokens, name);
}

/** The usual wildcard walk: on a mismatch only the last star takes one more character. */
function matchTokens(tokens: readonly Token[], name: string): boolean {
  let token = 0;
  let index = 0;
  let retryToken = -1;
  let retryIndex = 0;
  while (index < name.length || token < tokens.length) {
    const current = tokens[token];
    if (current === STAR) {
      token += 1;
      if (token === tokens.length) return true;
      retryToken = token;
      retryIndex = index;
      continue;
    }
    const next = current === undefined ? -1 : consume(current, name, index);
    if (next !== -1) {
      token += 1;
      index = next;
    } else if (retryToken !== -1 && retryIndex < name.length) {
      retryIndex += 1;
      index = retryIndex;
      token = retryToken;
    } else return false;
  }
  return true;
}

function consume(token: string | Piece, name: string, index: number): number {
  if (typeof token !== "string") return token(name, index);
  return name.startsWith(token, index) ? index + token.length : -1;
}

function tokensOf(part: string): Token[] {
  const tokens: Token[] = [];
  let literal = "";
  const flush = (): void => {
    if (literal !== "") tokens.push(literal);
    literal = "";
  };
  for (let index = 0; index < part.length; ) {
    const character = part[index] as string;
    const set = character === "[" ? readSet(part, index) : undefined;
    if (character === "*") {
      flush();
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
      index += 1;
    } else if (character === "?" || set !== undefined) {
      flush();
      tokens.push(set?.piece ?? oneCharacter);
      index = set?.end ?? index + 1;
    } else {
      const escaped = character === "\\" && index + 1 < part.length;
      literal += escaped ? part[index + 1] : character;
      index += escaped ? 2 : 1;
    }
  }
  flush();
  return tokens;
}

function oneCharacter(name: string, index: number): number {
  const code = name.codePointAt(index);
  return code === undefined ? -1 : index + (code > 0xffff ? 2 : 1);
}

/** `[abc]`, `[a-z]`, `[!x]` or `[^x]`; undefined when the bracket is never closed. */
function readSet(part: string, start: number): { readonly piece: Piece; readonly end: number } | undefined {
  const negated = part[start + 1] === "!" || part[start + 1] === "^";
  const first = start + (negated ? 2 : 1);
  const close = part.indexOf("]", first + 1);
  if (close === -1) return undefined;
  const members = Array.from(part.slice(first, close), (character) => character.codePointAt(0) as number);
  const ranges: (readonly [number, number])[] = [];
  for (let index = 0; index < members.length; index++) {
    const low = members[index] as number;
    const isRange = members[index + 1] === 45 && index + 2 < members.length;
    ranges.push([low, isRange ? (members[index + 2] as number) : low]);
    if (isRange) index += 2;
  }
  const piece: Piece = (name, index) => {
    const code = name.codePointAt(index);
    if (code === undefined || ranges.some(([low, high]) => code >= low && code <= high) === negated)
      return -1;
    return index + (code > 0xffff ? 2 : 1);
  };
  return { piece, end: close + 1 };
}
