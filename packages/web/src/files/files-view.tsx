/** The files tab: the tree, or one file. */
import { useEffect, useState } from "preact/hooks";
import { failureWords } from "../state/connection.ts";
import { current, isRunning, snapshot } from "../state/current.ts";
import { directoryOf, placeOfThread } from "../state/directories.ts";
import { attempt } from "../state/notices.ts";
import { assistantOf } from "../state/threads.ts";
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
  const agent = assistantOf(threadId);
  const file = openedFile.value;
  // A file of another directory is not one of this thread.
  if (file && (file.source === "thread" || file.agent === agent))
    return (
      <FileViewer
        key={`${file.source}|${file.agent}|${file.path}`}
        file={file}
        threadId={threadId}
        version={version}
      />
    );
  if (agent === "") return <p class="muted">{words.loading}</p>;
  return <Trees key={agent} agent={agent} threadId={threadId} version={version} />;
}

interface TreesProps extends ThreadFilesProps {
  readonly agent: string;
}

interface ThreadFilesProps {
  readonly threadId: string;
  readonly version: number;
}

function Trees({ agent, threadId, version }: TreesProps) {
  const [hasDirectory, setHasDirectory] = useState(true);
  const [made, setMade] = useState(0);
  return (
    <div class="file-trees">
      {hasDirectory ? (
        <section>
          <h3 title={directoryOf(agent)}>{placeOfThread(threadId) ?? fileWords.directory}</h3>
          <Directory
            agent={agent}
            path="/"
            version={version + made}
            onMissing={() => setHasDirectory(false)}
          />
          <NewFile agent={agent} onMade={() => setMade(made + 1)} />
        </section>
      ) : (
        <p class="muted">{fileWords.noDirectory}</p>
      )}
      <ThreadFiles threadId={threadId} version={version} />
    </div>
  );
}

function ThreadFiles({ threadId, version }: ThreadFilesProps) {
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
            <FileButton source="thread" agent="" path={path} name={path} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function NewFile({ agent, onMade }: { readonly agent: string; readonly onMade: () => void }) {
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
      await saveFile({ agent, path: whole }, "", null);
      setPath(undefined);
      onMade();
      openedFile.value = { source: "directory", agent, path: whole };
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
