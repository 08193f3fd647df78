/** A change of a text, unified or side by side. */
import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { words } from "../words.ts";
import "./diff.css";
import { type Hunk, hunksOf, hunksOfPatch, type Row, sideBySide } from "./hunks.ts";

/** One choice for all diffs of the page. */
const isSplit = signal(false);
const MOST_ROWS = 200;

export interface DiffProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
  /** The texts are parts of a file, so their lines have other numbers there. */
  readonly isExcerpt?: boolean;
}

export function DiffView({ before, after, label, isExcerpt = false }: DiffProps) {
  const hunks = useMemo(() => hunksOf(before, after), [before, after]);
  if (!hunks) return <p class="muted">{words.diffTooLarge}</p>;
  return <Hunks hunks={hunks} label={label} isExcerpt={isExcerpt} />;
}

/** A unified diff that the server made. */
export function PatchView({ patch, label }: { readonly patch: string; readonly label: string }) {
  const hunks = useMemo(() => hunksOfPatch(patch), [patch]);
  return <Hunks hunks={hunks} label={label} />;
}

interface HunksProps {
  readonly hunks: readonly Hunk[];
  readonly label: string;
  readonly isExcerpt?: boolean;
}

function Hunks({ hunks, label, isExcerpt = false }: HunksProps) {
  const [isWhole, setWhole] = useState(false);
  if (hunks.length === 0) return <p class="muted">{words.noChange}</p>;
  const rows = hunks.reduce((sum, hunk) => sum + hunk.rows.length, 0);
  const shown = isWhole ? hunks : firstRows(hunks, MOST_ROWS);
  return (
    <div class="diff">
      <div class="diff-bar">
        <span class="added">+{countOf(hunks, "added")}</span>
        <span class="removed">−{countOf(hunks, "removed")}</span>
        <button
          type="button"
          class="quiet"
          aria-pressed={isSplit.value}
          onClick={() => (isSplit.value = !isSplit.peek())}
        >
          {words.sideBySide}
        </button>
      </div>
      <div class="diff-body" role="region" aria-label={label} tabIndex={0}>
        <table class={`${isSplit.value ? "split" : "unified"} ${isExcerpt ? "excerpt" : ""}`}>
          {shown.map((hunk, index) => (
            <tbody key={index}>{isSplit.value ? splitRows(hunk) : hunk.rows.map(unifiedRow)}</tbody>
          ))}
        </table>
      </div>
      {!isWhole && rows > MOST_ROWS && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {words.showRows(rows - MOST_ROWS)}
        </button>
      )}
    </div>
  );
}

function countOf(hunks: readonly Hunk[], kind: Row["kind"]): number {
  return hunks.reduce((sum, { rows }) => sum + rows.filter((row) => row.kind === kind).length, 0);
}

function firstRows(hunks: readonly Hunk[], most: number): readonly Hunk[] {
  let left = most;
  return hunks.flatMap(({ rows }) => {
    const kept = rows.slice(0, Math.max(0, left));
    left -= rows.length;
    return kept.length > 0 ? [{ rows: kept }] : [];
  });
}

const MARK = { same: " ", removed: "−", added: "+" } as const;

function unifiedRow(row: Row, key: number) {
  return (
    <tr key={key} class={row.kind}>
      <td class="line">{row.oldLine ?? ""}</td>
      <td class="line">{row.newLine ?? ""}</td>
      <td class="mark">{MARK[row.kind]}</td>
      <td class="source">{pieces(row)}</td>
    </tr>
  );
}

function splitRows({ rows }: Hunk) {
  return sideBySide(rows).map(([left, right], key) => (
    <tr key={key}>
      <td class="line">{left?.oldLine ?? ""}</td>
      <td class={`source ${left?.kind ?? "none"}`}>{left && pieces(left)}</td>
      <td class="line">{right?.newLine ?? ""}</td>
      <td class={`source ${right?.kind ?? "none"}`}>{right && pieces(right)}</td>
    </tr>
  ));
}

function pieces({ pieces: parts, kind }: Row) {
  return parts.map(({ text, isChanged }, index) =>
    isChanged ? (
      <mark key={index} class={kind}>
        {text}
      </mark>
    ) : (
      text
    ),
  );
}
