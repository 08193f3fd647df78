/** Asks before files are put back: shows what changes on disk, then what was done, and undoes that again. */
import { useEffect, useRef, useState } from "preact/hooks";
import { failureWords } from "../state/connection.ts";
import { current, isRunning, snapshot } from "../state/current.ts";
import { words } from "../words.ts";
import { partOf, type Report, restore, rewind, type UndoPart } from "./undo-calls.ts";
import { ReportView } from "./undo-report.tsx";
import { restores, type UndoRequest, undoRequest } from "./undo-request.ts";
import { undoWords } from "./undo-words.ts";
import "./undo.css";

interface Shown {
  readonly report: Report;
  readonly isDone: boolean;
  /** The restore was a restore's undo. */
  readonly isBack?: boolean;
}

export function UndoDialog() {
  const request = undoRequest.value;
  const threadId = current.value?.threadId;
  return request && threadId !== undefined ? (
    <Dialog key={JSON.stringify([request, threadId])} request={request} threadId={threadId} />
  ) : null;
}

function Dialog({ request, threadId }: { readonly request: UndoRequest; readonly threadId: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const undo = useUndo(request, threadId);
  useEffect(() => {
    dialog.current?.showModal();
    // A request is for the thread that was shown when it was made.
    return () => {
      if (undoRequest.peek() === request) undoRequest.value = undefined;
    };
  }, []);
  const close = (): void => {
    undoRequest.value = undefined;
    // The button that asked may be gone with what was put back.
    const { activeElement: at } = document;
    if (at === document.body || dialog.current?.contains(at)) document.getElementById("main")?.focus();
  };
  return (
    <dialog ref={dialog} class="undo" aria-labelledby="undo-title" onClose={close}>
      <h2 id="undo-title">{undoWords.titles[request.kind]}</h2>
      {request.kind === "file" && <p class="path">{request.path}</p>}
      <div class="undo-body" role="region" aria-labelledby="undo-title" tabIndex={0}>
        <Body undo={undo} />
      </div>
      <div class="buttons">
        <Actions undo={undo} />
        <button type="button" onClick={() => dialog.current?.close()}>
          {undo.shown?.isDone ? words.close : words.cancel}
        </button>
      </div>
    </dialog>
  );
}

type Undo = ReturnType<typeof useUndo>;

/** The preview first; nothing is written before `putBack`. */
function useUndo(request: UndoRequest, threadId: string) {
  const [part, setPart] = useState<UndoPart>();
  const [withMessages, setWithMessages] = useState(false);
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
  const target = withMessages ? part?.rewindTo : undefined;
  const run = (found: UndoPart, dryRun: boolean): Promise<Report> =>
    target === undefined ? restore(threadId, found.body, dryRun) : rewind(threadId, target, dryRun);
  useEffect(() => {
    act(async () => {
      const found = part ?? (await partOf(threadId, request, messageOfCall));
      setPart(found);
      return { report: await run(found, true), isDone: false };
    });
  }, [withMessages]);
  const changed = async (report: Report, isBack = false): Promise<Shown> => {
    restores.value += 1;
    await current.peek()?.refresh();
    return { report, isDone: true, isBack };
  };
  return {
    ...{ part, withMessages, setWithMessages, shown, failure, isBusy },
    putBack: () => part && act(async () => changed(await run(part, false))),
    undoRestore: ({ call, previous_id: previous }: Report) =>
      act(async () =>
        changed(
          previous === undefined
            ? await restore(threadId, { call: String(call) })
            : await rewind(threadId, previous),
          true,
        ),
      ),
  };
}

function messageOfCall(call: string): string | undefined {
  const { main } = snapshot.peek().screen;
  return main.messages.find(({ calls }) => calls.some(({ id }) => id === call))?.id;
}

function Body({ undo }: { readonly undo: Undo }) {
  const { shown, failure, part, withMessages, setWithMessages, isBusy } = undo;
  return (
    <>
      {part?.rewindTo !== undefined && !shown?.isDone && (
        <label class="remember">
          <input
            type="checkbox"
            checked={withMessages}
            disabled={isBusy}
            onChange={({ currentTarget }) => setWithMessages(currentTarget.checked)}
          />
          {undoWords.messagesToo}
        </label>
      )}
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      {!shown && isBusy && <p class="muted">{undoWords.looking}</p>}
      {shown && <ReportView report={shown.report} isDone={shown.isDone} isBack={shown.isBack === true} />}
      {shown && !shown.isDone && !withMessages && <p class="muted">{undoWords.messagesStay}</p>}
    </>
  );
}

function Actions({ undo }: { readonly undo: Undo }) {
  const { shown, isBusy, withMessages, putBack, undoRestore } = undo;
  if (!shown) return null;
  const { report, isDone } = shown;
  if (isDone)
    return report.call || report.previous_id !== undefined ? (
      <button type="button" disabled={isBusy} onClick={() => undoRestore(report)}>
        {undoWords.undoRestore}
      </button>
    ) : null;
  const isWork = withMessages || report.restored.length > 0 || report.conflicts.some((one) => one.kept_at);
  const running = isRunning(snapshot.value);
  return (
    <>
      {isWork && (
        <button type="button" class="primary" disabled={isBusy || running} onClick={putBack}>
          {withMessages ? undoWords.takeBack : undoWords.putBack}
        </button>
      )}
      {isWork && running && <span class="notice">{undoWords.running}</span>}
    </>
  );
}
