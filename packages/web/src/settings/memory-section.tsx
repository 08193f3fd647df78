/** Memory files with an editor, and what a review of threads proposes. */
import { useEffect, useRef, useState } from "preact/hooks";
import { failureWords } from "../state/connection.ts";
import { attempt, notify } from "../state/notices.ts";
import { lazy } from "../view/lazy.tsx";
import { words as shared } from "../words.ts";
import {
  followReview,
  type HostSettings,
  type MemoryFile,
  type MemoryText,
  type Proposals,
  proposals,
  readMemory,
  saveMemory,
} from "./settings-calls.ts";
import { words } from "./words.ts";

const DiffView = lazy(async () => (await import("../diff/diff-view.tsx")).DiffView);

interface HostProps {
  readonly host: HostSettings;
}

export function MemorySection({ host: { memory } }: HostProps) {
  const [edited, setEdited] = useState<string>();
  useEffect(() => attempt(() => followReview("GET")), []);
  return (
    <>
      <section>
        <h2>{words.memoryFiles}</h2>
        <p class="muted">{words.memoryHint}</p>
        <ul class="settings-list">
          {memory.map((file) =>
            file.path === edited ? (
              <li key={file.path}>
                <MemoryEditor file={file} onDone={() => setEdited(undefined)} />
              </li>
            ) : (
              <MemoryRow key={file.path} file={file} onEdit={() => setEdited(file.path)} />
            ),
          )}
        </ul>
      </section>
      <Review memory={memory} />
    </>
  );
}

function MemoryRow({ file, onEdit }: { readonly file: MemoryFile; readonly onEdit: () => void }) {
  const { shown_path: path, is_there: isThere, is_trusted: isTrusted } = file;
  const action = isThere ? words.edit : words.create;
  return (
    <li class="settings-row">
      <span>
        <code>{path}</code>{" "}
        {isThere && (
          <span class={`badge ${isTrusted ? "approve" : ""}`}>
            {isTrusted ? words.trusted : words.untrusted}
          </span>
        )}
      </span>
      <button type="button" aria-label={words.editOf(action, path)} onClick={onEdit}>
        {action}
      </button>
    </li>
  );
}

function MemoryEditor({ file, onDone }: { readonly file: MemoryFile; readonly onDone: () => void }) {
  const [before, setBefore] = useState<MemoryText>();
  const [text, setText] = useState("");
  const [failure, setFailure] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), [before]);
  useEffect(() => {
    attempt(async () => {
      const read = await readMemory(file);
      setBefore(read);
      setText(read.text);
    });
  }, []);
  if (before === undefined) return <p class="muted">{shared.loading}</p>;
  const save = (event: Event): void => {
    event.preventDefault();
    setFailure(undefined);
    saveMemory(file.path, text, before.etag).then(
      () => {
        notify(words.saved);
        onDone();
      },
      (error: unknown) => setFailure(failureOf(error)),
    );
  };
  return (
    <form class="memory-editor" onSubmit={save}>
      <textarea
        rows={12}
        value={text}
        spellcheck={false}
        aria-label={words.content(file.shown_path)}
        ref={field}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="primary">
          {words.save}
        </button>
        <button type="button" onClick={onDone}>
          {shared.cancel}
        </button>
      </div>
    </form>
  );
}

function failureOf(error: unknown): string {
  const isChanged = (error as { code?: unknown } | null)?.code === "CHANGED";
  return isChanged ? words.changedMeanwhile : failureWords(error);
}

function Review({ memory }: { readonly memory: readonly MemoryFile[] }) {
  const made = proposals.value;
  const isWorking = made?.status === "working";
  return (
    <section>
      <h2>{words.review}</h2>
      <p class="muted">{words.reviewHint}</p>
      <button type="button" disabled={isWorking} onClick={() => attempt(() => followReview("POST"))}>
        {isWorking ? words.reviewing : words.reviewButton}
      </button>
      <p role="status">
        {made && made.status !== "none" && !isWorking && (
          <span class={made.status === "failed" ? "failure" : ""}>
            {made.conversations > 0 && `${words.reviewed(made.conversations)} `}
            {made.message}
          </span>
        )}
      </p>
      {made?.status === "done" &&
        made.files.map((proposal) => (
          <Proposal
            key={proposal.path}
            proposal={proposal}
            file={memory.find(({ path }) => path === proposal.path)}
          />
        ))}
    </section>
  );
}

interface ProposalProps {
  readonly proposal: Proposals["files"][number];
  readonly file: MemoryFile | undefined;
}

/** Saved only over the text that the review has read. */
function Proposal({ proposal: { path, before, after }, file }: ProposalProps) {
  const drop = (): void => {
    proposals.value = undefined;
  };
  const accept = async (): Promise<void> => {
    const now = file ? await readMemory(file) : { text: "", etag: null };
    if (now.text !== before) throw new Error(words.changedMeanwhile);
    await saveMemory(path, after, now.etag);
    notify(words.saved);
    drop();
  };
  return (
    <div class="proposal">
      <DiffView before={before} after={after} label={words.proposal(path)} />
      <div class="buttons">
        <button type="button" class="primary" onClick={() => attempt(accept)}>
          {words.accept}
        </button>
        <button type="button" onClick={drop}>
          {words.discard}
        </button>
      </div>
    </div>
  );
}
