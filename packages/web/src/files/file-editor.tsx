/** Edits a text. A save that finds another text keeps both. */
import { useEffect, useRef, useState } from "preact/hooks";
import { failureWords } from "../state/connection.ts";
import { notify } from "../state/notices.ts";
import { lazy } from "../view/lazy.tsx";
import { words } from "../words.ts";
import { type FileContent, isChanged, isGone, readFile, saveBeside, saveFile } from "./file-calls.ts";
import { fileWords } from "./file-words.ts";
import { draftKey, drafts, keepDraft, type OpenedFile } from "./open-file.ts";
import { fieldText, fileText, type TextForm } from "./text-form.ts";

const DiffView = lazy(async () => (await import("../diff/diff-view.tsx")).DiffView);

interface EditorProps {
  readonly file: OpenedFile;
  readonly threadId: string;
  readonly content: FileContent;
  readonly form: TextForm;
  /** The draft is dropped, and the file read again. */
  readonly onStop: () => void;
}

interface Conflict {
  readonly theirs: FileContent;
  readonly mine: string;
  /** Where the text of the person is kept. */
  readonly beside: string;
}

export function FileEditor({ file, threadId, content, form, onStop }: EditorProps) {
  const { path } = file;
  // Compared with what was there when the editing began, whatever is read meanwhile.
  const [etag, setEtag] = useState(content.etag);
  const [text, setText] = useState(
    () => drafts.peek()[draftKey(file)] ?? fieldText(content.text ?? "", form),
  );
  const [failure, setFailure] = useState<string>();
  const [conflict, setConflict] = useState<Conflict>();
  const [isBusy, setBusy] = useState(false);
  const act = (work: () => Promise<void>): void => {
    setBusy(true);
    setFailure(undefined);
    work()
      .catch((error: unknown) => setFailure(failureWords(error)))
      .finally(() => setBusy(false));
  };
  const done = (): void => {
    notify(fileWords.saved);
    onStop();
  };
  const save = (): void =>
    act(async () => {
      const mine = fileText(text, form);
      try {
        await saveFile(file, mine, etag);
        done();
      } catch (error) {
        if (isGone(error)) {
          setEtag(null);
          throw new Error(fileWords.wasRemoved);
        }
        if (!isChanged(error)) throw error;
        const beside = await saveBeside(file, mine);
        keepDraft(file, undefined);
        setConflict({ theirs: await readFile(file, threadId), mine, beside });
      }
    });
  useKeys(save);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  if (conflict)
    return (
      <ConflictView
        conflict={conflict}
        failure={failure}
        isBusy={isBusy}
        onMine={() => act(async () => saveFile(file, conflict.mine, conflict.theirs.etag).then(done))}
        onStop={onStop}
      />
    );
  return (
    <div class="file-editor">
      <textarea
        ref={field}
        value={text}
        aria-label={fileWords.content(path)}
        spellcheck={false}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          keepDraft(file, currentTarget.value);
        }}
      />
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      <div class="buttons">
        <button type="button" class="primary" disabled={isBusy} onClick={save}>
          {fileWords.save}
        </button>
        <button type="button" onClick={onStop}>
          {fileWords.stopEditing}
        </button>
        {Object.hasOwn(drafts.value, draftKey(file)) && <span class="muted">{fileWords.unsaved}</span>}
      </div>
    </div>
  );
}

/** Ctrl-S saves. */
function useKeys(save: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      save();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}

interface ConflictProps {
  readonly conflict: Conflict;
  readonly failure: string | undefined;
  readonly isBusy: boolean;
  readonly onMine: () => void;
  readonly onStop: () => void;
}

function ConflictView({ conflict, failure, isBusy, onMine, onStop }: ConflictProps) {
  const { theirs, mine, beside } = conflict;
  return (
    <div class="file-editor">
      <p class="notice" role="alert">
        {fileWords.keptBoth(beside)}
      </p>
      {failure !== undefined && <p class="failure">{failure}</p>}
      <p class="muted">{fileWords.conflict}</p>
      <DiffView before={theirs.text ?? ""} after={mine} label={fileWords.conflict} />
      <div class="buttons">
        <button type="button" disabled={isBusy} onClick={onMine}>
          {fileWords.takeMine}
        </button>
        <button type="button" onClick={onStop}>
          {words.close}
        </button>
      </div>
    </div>
  );
}
