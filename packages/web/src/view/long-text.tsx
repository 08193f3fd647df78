/** A long text in pages: what is not shown is not in the document. */
import { useState } from "preact/hooks";
import { words } from "../words.ts";

const LINES = 40;
const CHARACTERS = 8_000;

/** Where the page of a text ends: after some lines, and never in the middle of a character. */
export function pageEnd(text: string, from: number): number {
  let end = from;
  for (let lines = 0; lines < LINES && end < text.length; lines += 1) {
    const next = text.indexOf("\n", end);
    end = next === -1 ? text.length : next + 1;
  }
  if (end - from <= CHARACTERS) return end;
  const cut = from + CHARACTERS;
  return /[\ud800-\udbff]/.test(text[cut - 1] ?? "") ? cut - 1 : cut;
}

export function LongText({ text, class: name = "" }: { readonly text: string; readonly class?: string }) {
  const [end, setEnd] = useState(0);
  const shown = Math.max(end, pageEnd(text, 0));
  const rest = text.length - shown;
  return (
    <div class={`long-text ${name}`}>
      <pre tabIndex={0}>{text.slice(0, shown)}</pre>
      {rest > 0 && (
        <button type="button" class="quiet" onClick={() => setEnd(pageEnd(text, shown))}>
          {words.showMore(rest)}
        </button>
      )}
    </div>
  );
}
