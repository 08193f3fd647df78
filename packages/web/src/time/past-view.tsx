/** Conversation, plan and files of a thread at a step. */
import type { Screen } from "@deepwright/protocol/live";
import { useRef, useState } from "preact/hooks";
import type { Step } from "../undo/undo-calls.ts";
import { ChangedFile } from "../undo/undo-report.tsx";
import { undoWords } from "../undo/undo-words.ts";
import { useEnd } from "../view/list-end.ts";
import { Message } from "../view/message.tsx";
import { words } from "../words.ts";
import { TodoList } from "../work/todo-list.tsx";
import "../undo/undo.css";
import type { Past } from "./steps.ts";
import { timeWords } from "./words.ts";

interface PastProps {
  readonly past: Past;
  readonly step: Step;
}

/** `isBusy`: what is shown is of another step, until this one is read. */
export function PastView({ past, step, isBusy }: PastProps & { readonly isBusy: boolean }) {
  return (
    <div class="time-body" aria-busy={isBusy}>
      <PastConversation
        screen={past.screen}
        newest={step.message_id}
        place={isBusy ? "" : step.checkpoint_id}
      />
      <aside class="time-side" aria-label={timeWords.atStep} tabIndex={0}>
        <section>
          <h3>{timeWords.plan}</h3>
          {past.screen.main.todos.length === 0 ? (
            <p class="muted">{timeWords.noPlan}</p>
          ) : (
            <TodoList todos={past.screen.main.todos} />
          )}
        </section>
        <section>
          <h3>{timeWords.files}</h3>
          <PastFiles {...{ past, step }} />
        </section>
      </aside>
    </div>
  );
}

const MOST_SHOWN = 100;

interface ConversationProps {
  readonly screen: Screen;
  /** The message that the step added. */
  readonly newest: string | undefined;
  /** The list goes to its end when this changes. */
  readonly place: string;
}

function PastConversation({ screen, newest, place }: ConversationProps) {
  const [most, setMost] = useState(MOST_SHOWN);
  const list = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { messages } = screen.main;
  useEnd(list, body, place);
  const from = Math.max(0, messages.length - most);
  return (
    <div class="conversation" ref={list} role="region" aria-label={timeWords.conversation} tabIndex={0}>
      <div ref={body}>
        {messages.length === 0 && <p class="muted">{timeWords.noMessages}</p>}
        {from > 0 && (
          <button type="button" class="quiet earlier" onClick={() => setMost(most + MOST_SHOWN)}>
            {words.showEarlier(from)}
          </button>
        )}
        {messages.slice(from).map((message) => (
          <Message
            key={message.id}
            message={message}
            link={undefined}
            isTarget={message.id === newest}
            onEdit={undefined}
          />
        ))}
      </div>
    </div>
  );
}

const MOST_FILES = 200;

function PastFiles({ past: { changes }, step }: PastProps) {
  if (changes.length === 0) return <p class="muted">{timeWords.noFiles}</p>;
  return (
    <ul class="files">
      {changes.slice(0, MOST_FILES).map((change) => {
        const isHere = step.changed_files.includes(change.path);
        const kind = undoWords.written[change.kind] ?? change.kind;
        return (
          <li key={`${change.place}|${change.path}`}>
            <ChangedFile
              change={change}
              badge={isHere ? `${kind}, ${timeWords.changedHere}` : kind}
              isOpen={isHere && step.changed_files.length === 1}
            />
          </li>
        );
      })}
      {changes.length > MOST_FILES && (
        <li class="muted">{undoWords.moreFiles(changes.length - MOST_FILES)}</li>
      )}
    </ul>
  );
}
