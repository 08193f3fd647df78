/** A text with line numbers and colours. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { escapeHidden } from "../approvals/revealed.ts";
import { useColours } from "../code/code-block.tsx";
import type { Coloured } from "../code/highlight.ts";
import { fileWords } from "./file-words.ts";

interface TextProps {
  readonly path: string;
  readonly text: string;
  /** A cell before the line, from 0. */
  readonly beside?: ((line: number) => ComponentChildren) | undefined;
}

/** Lines that come into the document at once. */
const LINES = 500;

export function TextView({ path, text, beside }: TextProps) {
  const [most, setMost] = useState(LINES);
  const parts = useColours(text, languageOf(path));
  const lines = useMemo(() => linesOf(parts ?? [{ kind: undefined, text }]), [parts, text]);
  const left = lines.length - most;
  return (
    <div class="file-text" role="region" aria-label={fileWords.content(path)} tabIndex={0}>
      <table>
        <tbody>
          {lines.slice(0, most).map((line, index) => (
            <tr key={index}>
              {beside?.(index)}
              <td class="line">{index + 1}</td>
              <td class="source">{line.map(piece)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <button type="button" class="quiet" onClick={() => setMost(most + LINES)}>
          {fileWords.moreLines(left)}
        </button>
      )}
    </div>
  );
}

function piece({ kind, text }: Coloured, key: number) {
  const shown = escapeHidden(text);
  return kind === undefined ? (
    shown
  ) : (
    <span key={key} class={`hl-${kind}`}>
      {shown}
    </span>
  );
}

/** The extension, or the name where there is none. */
function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.slice(name.lastIndexOf(".") + 1);
}

/** The end of the last line begins no other one. */
export function linesOf(parts: readonly Coloured[]): readonly (readonly Coloured[])[] {
  const lines: Coloured[][] = [[]];
  for (const { kind, text } of parts)
    for (const [index, line] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      const shown = line.replace(/\r$/, "");
      if (shown !== "") lines.at(-1)?.push({ kind, text: shown });
    }
  if (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}
