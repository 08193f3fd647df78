/** Files that one of two threads changed, with the changes of both when opened. */
import { useState } from "preact/hooks";
import { revealed } from "../approvals/revealed.ts";
import { PatchView } from "../diff/diff-view.tsx";
import { failureWords } from "../state/connection.ts";
import type { Change } from "../undo/undo-calls.ts";
import { undoWords } from "../undo/undo-words.ts";
import { words } from "../words.ts";
import { type ComparedThread, readChange } from "./comparison.ts";
import { timeWords } from "./words.ts";

const MOST_FILES = 200;

export function CompareFiles({ threads }: { readonly threads: readonly ComparedThread[] }) {
  const paths = [...new Set(threads.flatMap(({ changes }) => changes.map(({ path }) => path)))].sort();
  if (paths.length === 0) return <p class="muted">{timeWords.noChanges}</p>;
  return (
    <ul class="compare-files">
      {paths.slice(0, MOST_FILES).map((path) => (
        <li key={path}>
          <ComparedFile {...{ path, threads }} />
        </li>
      ))}
      {paths.length > MOST_FILES && <li class="muted">{undoWords.moreFiles(paths.length - MOST_FILES)}</li>}
    </ul>
  );
}

interface FileProps {
  readonly path: string;
  readonly threads: readonly ComparedThread[];
}

type Side = Change | string | undefined;

function ComparedFile({ path, threads }: FileProps) {
  const [sides, setSides] = useState<readonly Side[]>();
  const open = (isOpen: boolean): void => {
    if (!isOpen || sides) return;
    const reading = threads.map(({ thread_id: id, changes }) =>
      changes.some((change) => change.path === path)
        ? readChange(id, path).catch((error: unknown) => failureWords(error))
        : undefined,
    );
    void Promise.all(reading).then(setSides);
  };
  return (
    <details onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary>
        <span class="path">{revealed(path)}</span>
        {threads.map(({ changes }, index) => (
          <span key={index} class="muted compare-lines">
            {index === 0 ? "A" : "B"}: {linesOf(changes.find((change) => change.path === path))}
          </span>
        ))}
      </summary>
      {!sides && <p class="muted">{words.loading}</p>}
      {sides && (
        <div class="compare-columns">
          {sides.map((side, index) => (
            <SideView key={index} {...{ path, side }} name={index === 0 ? "A" : "B"} />
          ))}
        </div>
      )}
    </details>
  );
}

function linesOf(change: ComparedThread["changes"][number] | undefined): string {
  if (!change) return timeWords.unchanged;
  const { kind, added, removed } = change;
  const lines = added === null || removed === null ? "" : ` ${timeWords.lines(added, removed)}`;
  return `${undoWords.written[kind] ?? kind}${lines}`;
}

interface SideProps {
  readonly path: string;
  readonly name: string;
  readonly side: Side;
}

function SideView({ path, name, side }: SideProps) {
  if (side === undefined) return <p class="muted">{timeWords.unchanged}</p>;
  if (typeof side === "string") return <p class="failure">{side}</p>;
  const label = `${timeWords.side(name)}: ${words.change(path)}`;
  return side.patch ? (
    <PatchView patch={side.patch} label={label} />
  ) : (
    <p class="muted">{undoWords.noText}</p>
  );
}
