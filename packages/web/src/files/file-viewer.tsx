/** One file: its text or picture, and what can be done with it. No file runs in the page. */
import { useEffect, useState } from "preact/hooks";
import { escapeHidden } from "../approvals/revealed.ts";
import { failureWords } from "../state/connection.ts";
import { askUndo } from "../undo/undo-request.ts";
import { words } from "../words.ts";
import { BlameView } from "./blame-view.tsx";
import { addressOf, type FileContent, readFile } from "./file-calls.ts";
import { FileEditor } from "./file-editor.tsx";
import { fileWords } from "./file-words.ts";
import { draftKey, drafts, keepDraft, type OpenedFile, openedFile } from "./open-file.ts";
import { pictureType } from "./picture.ts";
import { StepDiff } from "./step-diff.tsx";
import { formOf } from "./text-form.ts";
import { TextView } from "./text-view.tsx";

interface ViewerProps {
  readonly file: OpenedFile;
  readonly threadId: string;
  /** Another number: the file is read again. */
  readonly version: number;
}

/** Documents that could run scripts, were they shown as themselves. */
const DOCUMENT = /\.(?:svg|x?html?|xml|mht)$/i;

type View = "content" | "lines" | "compare";

export function FileViewer({ file, threadId, version }: ViewerProps) {
  const { content, failure, reread } = useContent(file, threadId, version);
  const [isEdited, setEdited] = useState(Object.hasOwn(drafts.peek(), draftKey(file)));
  const [view, setView] = useState<View>("content");
  const stop = (): void => {
    keepDraft(file, undefined);
    setEdited(false);
    reread();
  };
  const form = content?.text === undefined ? undefined : formOf(content.text);
  const isEditable = file.source === "directory" && form !== undefined && content?.etag != null;
  return (
    <div class="file-viewer">
      <div class="buttons">
        <button type="button" class="quiet" onClick={() => (openedFile.value = undefined)}>
          ← {fileWords.back}
        </button>
        {isEditable && !isEdited && view === "content" && (
          <button type="button" class="quiet" onClick={() => setEdited(true)}>
            {fileWords.edit}
          </button>
        )}
        {!isEdited &&
          viewsOf(file, content).map((one) => (
            <button
              key={one}
              type="button"
              class="quiet"
              aria-pressed={view === one}
              onClick={() => setView(view === one ? "content" : one)}
            >
              {fileWords[one]}
            </button>
          ))}
        <a class="button quiet" href={addressOf(file, threadId)} download>
          {fileWords.download}
        </a>
        {file.source === "directory" && (
          <button type="button" class="quiet" onClick={() => askUndo({ kind: "file", path: file.path })}>
            {fileWords.undo}
          </button>
        )}
      </div>
      <h3 class="path">{escapeHidden(file.path)}</h3>
      {failure !== undefined && <p class="failure">{failure}</p>}
      {!content && failure === undefined && <p class="muted">{words.loading}</p>}
      {content &&
        (isEdited && isEditable ? (
          <FileEditor file={file} threadId={threadId} content={content} form={form} onStop={stop} />
        ) : (
          <Shown {...{ file, threadId, version, content, view }} />
        ))}
    </div>
  );
}

/** Authors of lines are known for files on disk alone. */
function viewsOf({ source }: OpenedFile, content: FileContent | undefined): readonly ("lines" | "compare")[] {
  if (content?.text === undefined) return [];
  return source === "directory" ? ["lines", "compare"] : ["compare"];
}

interface ShownProps extends ViewerProps {
  readonly content: FileContent;
  readonly view: View;
}

function Shown({ file, threadId, version, content, view }: ShownProps) {
  const { path } = file;
  if (view === "lines") return <BlameView {...{ path, threadId, version }} />;
  if (view === "compare") return <StepDiff {...{ path, threadId, version }} />;
  return <Content file={file} content={content} />;
}

function useContent(file: OpenedFile, threadId: string, version: number) {
  const [content, setContent] = useState<FileContent>();
  const [failure, setFailure] = useState<string>();
  const [again, setAgain] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    readFile(file, threadId).then(
      (read) => {
        if (!isCurrent) return;
        setContent(read);
        setFailure(undefined);
      },
      (error: unknown) => isCurrent && setFailure(failureWords(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [threadId, version, again]);
  return { content, failure, reread: () => setAgain(again + 1) };
}

function Content({ file, content }: { readonly file: OpenedFile; readonly content: FileContent }) {
  const { bytes, text } = content;
  const type = pictureType(bytes);
  if (type !== undefined) return <Picture bytes={bytes} type={type} name={file.path} />;
  if (text === undefined)
    return (
      <p class="notice">
        {fileWords.noText} {fileWords.bytes(bytes.length)}
      </p>
    );
  if (text === "") return <p class="muted">{fileWords.isEmpty}</p>;
  return (
    <>
      {DOCUMENT.test(file.path) && <p class="muted">{fileWords.shownAsText}</p>}
      {file.source === "directory" && formOf(text) === undefined && (
        <p class="muted">{fileWords.notEditable}</p>
      )}
      <TextView path={file.path} text={text} />
    </>
  );
}

interface PictureProps {
  readonly bytes: FileContent["bytes"];
  readonly type: string;
  readonly name: string;
}

function Picture({ bytes, type, name }: PictureProps) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  return address === undefined ? null : <img class="media" src={address} alt={words.pictureAt(name)} />;
}
