/** Shows what making or undoing the changes of a thread would do to the files, does it, and takes it back. */
import { useEffect, useRef, useState } from "preact/hooks";
import { failureWords } from "../state/connection.ts";
import { type Report, restore } from "../undo/undo-calls.ts";
import { ReportView } from "../undo/undo-report.tsx";
import { undoWords } from "../undo/undo-words.ts";
import { words } from "../words.ts";
import "../undo/undo.css";
import { type PutKind, put } from "./comparison.ts";
import { timeWords } from "./words.ts";

interface DialogProps {
  readonly kind: PutKind;
  readonly threadId: string;
  readonly title: string;
  readonly onClose: () => void;
}

interface Shown {
  readonly report: Report;
  readonly isDone: boolean;
  readonly isBack?: boolean;
}

export function PutDialog({ kind, threadId, title, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [shown, setShown] = useState<Shown>();
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(true);
  const act = (work: () => Promise<Shown>): void => {
    setBusy(true);
    setFailure(undefined);
    work()
      .then(setShown, (error: unknown) => setFailure(failureWords(error)))
      .finally(() => setBusy(false));
  };
  useEffect(() => {
    dialog.current?.showModal();
    act(async () => ({ report: await put(kind, threadId, true), isDone: false }));
  }, []);
  const isAdopt = kind === "adopt";
  const report = shown?.report;
  const isWork =
    report !== undefined &&
    (report.restored.length > 0 || report.conflicts.some(({ kept_at: keptAt }) => keptAt !== undefined));
  return (
    <dialog ref={dialog} class="undo" aria-labelledby="put-title" onClose={onClose}>
      <h2 id="put-title">{isAdopt ? timeWords.adoptTitle : timeWords.takeBackTitle}</h2>
      <p class="path">{title}</p>
      <div class="undo-body" role="region" aria-labelledby="put-title" tabIndex={0}>
        {failure !== undefined && (
          <p class="failure" role="alert">
            {failure}
          </p>
        )}
        {!shown && isBusy && <p class="muted">{undoWords.looking}</p>}
        {shown?.isDone && isAdopt && !shown.isBack && <p class="notice">{timeWords.adopted}</p>}
        {shown && <ReportView {...shown} isBack={shown.isBack === true} />}
      </div>
      <div class="buttons">
        {shown && !shown.isDone && isWork && (
          <button
            type="button"
            class="primary"
            disabled={isBusy}
            onClick={() => act(async () => ({ report: await put(kind, threadId, false), isDone: true }))}
          >
            {isAdopt ? timeWords.adoptNow : timeWords.takeBackNow}
          </button>
        )}
        {shown?.isDone && report?.call && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() =>
              act(async () => ({
                report: await restore(threadId, { call: String(report.call) }),
                isDone: true,
                isBack: true,
              }))
            }
          >
            {undoWords.undoRestore}
          </button>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          {shown?.isDone ? words.close : words.cancel}
        </button>
      </div>
    </dialog>
  );
}
