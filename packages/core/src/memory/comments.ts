/**
 * Comments in memory files: `<!-- … -->` outside code blocks.
 *
 * Programs leave these marks for themselves, so the model sees a short stand-in for each. The stand-in names the
 * comment by its content. So when the model writes the shown text back, the stand-in can be turned into the comment
 * again, even after other changes.
 */
import { textHash } from "../text/text-hash.ts";

export interface Comment {
  readonly start: number;
  /** The index after it. */
  readonly end: number;
  readonly text: string;
}

const STAND_IN = /<!-- kept [0-9a-f]{8} -->/g;

/** Comments in order. A comment without an end does not count. Linear in the text. */
export function commentsIn(text: string): readonly Comment[] {
  const found: Comment[] = [];
  let start = text.indexOf("<!--");
  let fence = start === -1 ? undefined : nextFence(text, 0);
  while (start !== -1) {
    if (fence !== undefined && fence.start < start) {
      if (start < fence.end) start = text.indexOf("<!--", fence.end);
      fence = nextFence(text, fence.end);
      continue;
    }
    const close = text.indexOf("-->", start + 2);
    if (close === -1) break;
    const end = close + 3;
    found.push({ start, end, text: text.slice(start, end) });
    start = text.indexOf("<!--", end);
    if (fence !== undefined && fence.start < end) fence = nextFence(text, end);
  }
  return found;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** A code block between fences; without a closing fence it reaches to the end. */
function nextFence(text: string, from: number): Span | undefined {
  const opening = /^ {0,3}(`{3,}|~{3,})/gm;
  opening.lastIndex = from;
  const open = opening.exec(text);
  if (open === null) return undefined;
  const mark = open[1] as string;
  const closing = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ \\t]*$`, "gm");
  closing.lastIndex = opening.lastIndex;
  const close = closing.exec(text);
  return { start: open.index, end: close === null ? text.length : closing.lastIndex };
}

export function standInFor(comment: string): string {
  return `<!-- kept ${textHash(comment).slice(0, 8)} -->`;
}

export function hasStandIn(text: string): boolean {
  return text.search(STAND_IN) !== -1;
}

/** The text as the model sees it. */
export function withStandIns(text: string): string {
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, text: comment } of commentsIn(text)) {
    parts.push(text.slice(done, start), standInFor(comment));
    done = end;
  }
  return done === 0 ? text : parts.join("") + text.slice(done);
}

/** Comment-like text that does not belong there, and its replacement. */
export interface Repair {
  readonly standIn: string;
  /** `""` where the comment is still there. */
  readonly comment: string;
}

/**
 * The edits that put comments back after the shown text was written to the file. `known` are the comments of the text
 * before.
 */
export function repairsOf(text: string, known: readonly string[]): readonly Repair[] {
  const written = new Set(text.match(STAND_IN) ?? []);
  if (written.size === 0) return [];
  return [...new Set(known)].flatMap((comment): Repair[] => {
    const standIn = standInFor(comment);
    if (!written.has(standIn) || known.includes(standIn)) return [];
    const wanted = known.filter((other) => other === comment).length;
    return [{ standIn, comment: text.split(comment).length > wanted ? "" : comment }];
  });
}

/**
 * Comments of the text before that are gone without others in their place. A program that renews its mark
 * loses none.
 */
export function lostComments(text: string, known: readonly string[]): readonly string[] {
  if (known.length === 0 || commentsIn(text).length >= known.length) return [];
  return [...new Set(known)].filter((comment) => !text.includes(comment));
}
