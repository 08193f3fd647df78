/** The files tab: the tree, or one file. */
import { useEffect, useState } from "preact/hooks";
import { failureWords } from "../state/connection.ts";
import { current, isRunning, snapshot } from "../state/current.ts";
import { attempt } from "../state/notices.ts";
import { restores } from "../undo/undo-request.ts";
import { words } from "../words.ts";
import { type Entry, listThreadFiles, saveFile } from "./file-calls.ts";
import { Directory, FileButton } from "./file-tree.tsx";
import { FileViewer } from "./file-viewer.tsx";
import { fileWords } from "./file-words.ts";
import { openedFile } from "./open-file.ts";
import "./files.css";

export function FilesView() {
  const threadId = current.value?.threadId ?? "";
  const running = isRunning(snapshot.value);
  const [version, setVersion] = useState(0);
  // Files change with runs and restores.
  useEffect(() => setVersion((number) => number + 1), [running, restores.value]);
  const file = openedFile.value;
  if (file)
    return (
      <FileViewer key={`${file.source}|${file.path}`} file={file} threadId={threadId} version={version} />
    );
  return <Trees threadId={threadId} version={version} />;
}

interface TreesProps {
  readonly threadId: string;
  readonly version: number;
}

function Trees({ threadId, version }: TreesProps) {
  const [hasDirectory, setHasDirectory] = useState(true);
  const [made, setMade] = useState(0);
  return (
    <div class="file-trees">
      {hasDirectory ? (
        <section>
          <h3>{fileWords.directory}</h3>
          <Directory path="/" version={version + made} onMissing={() => setHasDirectory(false)} />
          <NewFile onMade={() => setMade(made + 1)} />
        </section>
      ) : (
        <p class="muted">{fileWords.noDirectory}</p>
      )}
      <ThreadFiles threadId={threadId} version={version} />
    </div>
  );
}

function ThreadFiles({ threadId, version }: TreesProps) {
  const [files, setFiles] = useState<readonly Entry[]>([]);
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    if (threadId === "") return;
    listThreadFiles(threadId).then(setFiles, (error: unknown) => setFailure(failureWords(error)));
  }, [threadId, version]);
  if (failure !== undefined) return <p class="failure">{failure}</p>;
  if (files.length === 0) return null;
  return (
    <section>
      <h3>{fileWords.ofThread}</h3>
      <ul class="tree">
        {files.map(({ path }) => (
          <li key={path}>
            <FileButton source="thread" path={path} name={path} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function NewFile({ onMade }: { readonly onMade: () => void }) {
  const [path, setPath] = useState<string>();
  if (path === undefined)
    return (
      <button type="button" class="quiet" onClick={() => setPath("/")}>
        {fileWords.newFile}
      </button>
    );
  const submit = (event: Event): void => {
    event.preventDefault();
    attempt(async () => {
      const whole = path.startsWith("/") ? path : `/${path}`;
      await saveFile(whole, "", null);
      setPath(undefined);
      onMade();
      openedFile.value = { source: "directory", path: whole };
    });
  };
  return (
    <form class="new-file" onSubmit={submit}>
      <input
        value={path}
        aria-label={fileWords.newFilePath}
        ref={(field) => field?.focus()}
        onInput={({ currentTarget }) => setPath(currentTarget.value)}
        onKeyDown={({ key }) => key === "Escape" && setPath(undefined)}
      />
      <button type="submit">{fileWords.create}</button>
      <button type="button" class="quiet" onClick={() => setPath(undefined)}>
        {words.cancel}
      </button>
    </form>
  );
}
