/** The field for messages: new ones, ones for a run at work, and ones with files. */
import type { SentContent } from "@deepwright/protocol/live";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { attempt } from "../state/notices.ts";
import { words } from "../words.ts";
import { type Attachment, attachmentsOf } from "./attachments.ts";

export type How = "send" | "steer" | "follow-up";

interface ComposerProps {
  readonly isRunning: boolean;
  readonly disabled: boolean;
  /** Text to begin with, such as a message that is edited. */
  readonly draft: string;
  readonly sendLabel?: string;
  /** Words in the empty field, where the usual ones do not say enough. */
  readonly hint?: string | undefined;
  /** Resolves once the message is on its way; rejected: its text comes back into the field. */
  readonly onSend: (content: SentContent, how: How) => Promise<void>;
  readonly onStop: () => void;
  readonly children?: preact.ComponentChildren;
}

function contentOf(text: string, files: readonly Attachment[]): SentContent {
  const blocks = files.map(({ block }) => block);
  return blocks.length === 0 ? text : [...(text.trim() ? [{ type: "text", text }] : []), ...blocks];
}

const appended = (added: readonly Attachment[]) => (before: readonly Attachment[]) => [...before, ...added];

export function Composer({
  isRunning,
  disabled,
  draft,
  sendLabel,
  hint,
  onSend,
  onStop,
  children,
}: ComposerProps) {
  const [text, setText] = useState(draft);
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [isSending, setSending] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    setText(draft);
    if (draft !== "") area.current?.focus();
  }, [draft]);
  useLayoutEffect(() => grow(area.current), [text]);
  const isEmpty = text.trim() === "" && files.length === 0;
  /** A run that begins is waited for; messages for a run at work may follow each other. */
  const isBusy = isSending && !isRunning;
  const send = (how: How): void => {
    if (isEmpty || disabled || isBusy) return;
    const content = contentOf(text, files);
    setSending(true);
    setText("");
    setFiles([]);
    attempt(async () => {
      try {
        await onSend(content, how);
      } catch (error) {
        // Before what was typed meanwhile.
        setText((now) => (now === "" ? text : `${text}\n${now}`));
        setFiles((now) => [...files, ...now]);
        throw error;
      } finally {
        setSending(false);
        area.current?.focus();
      }
    });
  };
  const add = (given: Iterable<File>): void =>
    attempt(async () => setFiles(appended(await attachmentsOf(given))));
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isRunning) onStop();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send(!isRunning ? "send" : event.altKey ? "follow-up" : "steer");
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send(isRunning ? "steer" : "send");
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        add(event.dataTransfer?.files ?? []);
      }}
    >
      <Files files={files} onRemove={(id) => setFiles(files.filter((file) => file.id !== id))} />
      <textarea
        ref={area}
        rows={1}
        value={text}
        aria-label={words.message}
        placeholder={hint ?? (isRunning ? words.steerHint : words.messageHint)}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKey}
        onPaste={(event) => {
          const pasted = [...(event.clipboardData?.files ?? [])];
          if (pasted.length > 0) event.preventDefault();
          if (pasted.length > 0) add(pasted);
        }}
      />
      <div class="composer-bar">
        <FileButton onFiles={add} />
        {children}
        <div class="composer-actions">
          {isRunning && (
            <button type="button" class="danger" onClick={onStop}>
              {words.stop}
            </button>
          )}
          {isRunning && (
            <button type="button" disabled={isEmpty} onClick={() => send("follow-up")}>
              {words.queue}
            </button>
          )}
          <button type="submit" class="primary" disabled={isEmpty || disabled || isBusy}>
            {isRunning ? words.tellNow : (sendLabel ?? words.send)}
          </button>
        </div>
      </div>
    </form>
  );
}

const MOST_HEIGHT = 320;

function grow(area: HTMLTextAreaElement | null): void {
  if (!area) return;
  area.style.height = "auto";
  area.style.height = `${Math.min(MOST_HEIGHT, area.scrollHeight)}px`;
}

interface FilesProps {
  readonly files: readonly Attachment[];
  readonly onRemove: (id: number) => void;
}

function Files({ files, onRemove }: FilesProps) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments">
      {files.map(({ id, name }) => (
        <li key={id}>
          {name}
          <button
            type="button"
            class="quiet"
            aria-label={words.removeFile(name)}
            onClick={() => onRemove(id)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

function FileButton({ onFiles }: { readonly onFiles: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={words.attach}
        title={words.attach}
        onClick={() => input.current?.click()}
      >
        +
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-hidden="true"
        tabIndex={-1}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
    </>
  );
}
