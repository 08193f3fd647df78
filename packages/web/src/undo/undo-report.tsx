/** Files of a restore: what changes, what stays because somebody else changed it, and what is not covered. */
import { revealed } from "../approvals/revealed.ts";
import { lazy } from "../view/lazy.tsx";
import { words } from "../words.ts";
import type { Change, Report } from "./undo-calls.ts";
import { undoWords } from "./undo-words.ts";

const PatchView = lazy(async () => (await import("../diff/diff-view.tsx")).PatchView);

interface ReportProps {
  readonly report: Report;
  readonly isDone: boolean;
  readonly isBack: boolean;
}

/** The changes of so few files are open at first. */
const FEW = 3;
const MOST = 200;

export function ReportView({ report, isDone, isBack }: ReportProps) {
  const { restored, conflicts, not_covered: notCovered } = report;
  const nothing = restored.length + conflicts.length === 0;
  return (
    <div class="undo-report" role="status">
      {isDone && isBack && <p class="notice">{undoWords.undone}</p>}
      {isDone && report.previous_id !== undefined && !isBack && <p>{undoWords.messagesGone}</p>}
      {nothing && <p>{undoWords.nothing}</p>}
      {restored.length > 0 && (
        <section>
          <h3>{isDone ? undoWords.hasChanged(restored.length) : undoWords.willChange(restored.length)}</h3>
          <ul class="files">
            {restored.slice(0, MOST).map((change) => (
              <li key={change.path}>
                <ChangedFile
                  change={change}
                  badge={(isDone ? undoWords.doneKinds : undoWords.kinds)[change.kind] ?? change.kind}
                  isOpen={!isDone && restored.length <= FEW}
                />
              </li>
            ))}
          </ul>
          <More amount={restored.length} />
        </section>
      )}
      {conflicts.length > 0 && (
        <section>
          <h3>{undoWords.stays(conflicts.length)}</h3>
          <ul class="files">
            {conflicts.slice(0, MOST).map(({ path, reason, kept_at: keptAt }) => (
              <li key={path} class="warnings">
                <span class="path">{revealed(path)}</span>
                <p>{reason}</p>
                {keptAt !== undefined && (
                  <p>{isDone ? undoWords.isBeside(keptAt) : undoWords.willBeBeside(keptAt)}</p>
                )}
              </li>
            ))}
          </ul>
          <More amount={conflicts.length} />
        </section>
      )}
      {notCovered.length > 0 && (
        <details>
          <summary>{undoWords.notCovered(notCovered.length)}</summary>
          <ul class="files">
            {notCovered.slice(0, MOST).map(({ path, command, reason }, index) => (
              <li key={index}>
                {path !== undefined && <span class="path">{revealed(path)} </span>}
                {command !== undefined && <code>{revealed(command)} </code>}
                <span class="muted">{reason}</span>
              </li>
            ))}
          </ul>
          <More amount={notCovered.length} />
        </details>
      )}
    </div>
  );
}

function More({ amount }: { readonly amount: number }) {
  return amount > MOST ? <p class="muted">{undoWords.moreFiles(amount - MOST)}</p> : null;
}

interface ChangedFileProps {
  readonly change: Change;
  readonly badge: string;
  readonly isOpen?: boolean;
  readonly onToggle?: (event: { readonly currentTarget: HTMLDetailsElement }) => void;
}

export function ChangedFile({ change, badge, isOpen = false, onToggle }: ChangedFileProps) {
  const { path, kind, patch, detail } = change;
  return (
    <details open={isOpen} onToggle={onToggle}>
      <summary>
        <span class="path">{revealed(path)}</span> <span class={`badge ${kind}`}>{badge}</span>
      </summary>
      {detail !== undefined && <p class="muted">{revealed(detail)}</p>}
      {patch ? (
        <PatchView patch={patch} label={words.change(path)} />
      ) : (
        detail === undefined && <p class="muted">{undoWords.noText}</p>
      )}
    </details>
  );
}
