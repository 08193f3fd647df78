/** The conversation of one agent: messages, what waits, and how the last run ended. */
import type { Screen, ShownMessage, ThreadSnapshot } from "@deepwright/protocol/live";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApprovalCard } from "../approvals/approval-card.tsx";
import { goOn, tryAgain } from "../state/again.ts";
import { agentAt, current, isRunning, shownAgent } from "../state/current.ts";
import { attempt } from "../state/notices.ts";
import { addressOf } from "../state/route.ts";
import { readThreads } from "../state/threads.ts";
import { words } from "../words.ts";
import { useEnd } from "./list-end.ts";
import { Message } from "./message.tsx";

interface ConversationProps {
  readonly snapshot: ThreadSnapshot;
  readonly threadId: string;
  readonly messageId: string | undefined;
  readonly onEdit: (message: ShownMessage) => void;
}

/** Messages that are in the document at first. Earlier ones come with a button. */
const MOST_SHOWN = 100;

export function Conversation({ snapshot, threadId, messageId, onEdit }: ConversationProps) {
  const { screen } = snapshot;
  const place = shownAgent.value;
  const agent = agentAt(screen, place);
  const [most, setMost] = useState(MOST_SHOWN);
  useEffect(() => setMost(MOST_SHOWN), [threadId, place]);
  const messages = agent?.messages ?? [];
  const linked = messageId === undefined ? -1 : messages.findIndex(({ id }) => id === messageId);
  const from = Math.max(0, Math.min(messages.length - most, linked === -1 ? messages.length : linked));
  const list = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { isAtEnd, toEnd } = useEnd(list, body, `${threadId}|${place}`);
  useEffect(() => {
    list.current?.querySelector(".target")?.scrollIntoView({ block: "center" });
  }, [linked]);
  return (
    <div class="conversation-frame">
      <div class="conversation" ref={list} role="log" aria-label={words.conversation} tabIndex={0}>
        <div ref={body}>
          {place !== "" && (
            <button type="button" class="back" onClick={() => (shownAgent.value = "")}>
              ← {words.backTo}
            </button>
          )}
          {from > 0 && (
            <button type="button" class="quiet earlier" onClick={() => setMost(most + MOST_SHOWN)}>
              {words.showEarlier(from)}
            </button>
          )}
          {messages.slice(from).map((message) => (
            <Message
              key={message.id}
              message={message}
              link={place === "" ? addressOf({ view: "thread", threadId, messageId: message.id }) : undefined}
              isTarget={message.id === messageId}
              onEdit={place === "" ? onEdit : undefined}
            />
          ))}
          <Pending snapshot={snapshot} />
          <Waiting screen={screen} threadId={threadId} />
          <Ending {...{ snapshot, threadId }} isAtWork={place === "" || agent?.status === "running"} />
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" class="to-end" onClick={toEnd}>
          ↓ {words.latest}
        </button>
      )}
    </div>
  );
}

function Pending({ snapshot: { pending } }: { readonly snapshot: ThreadSnapshot }) {
  return (
    <>
      {pending.map(({ id, kind, content }) => (
        <article key={id} class="message user pending" aria-label={words.you}>
          <header>
            <span class="role">{words.you}</span>
            <span class="badge">{kind === "steer" ? words.pendingSteer : words.pendingQueue}</span>
          </header>
          <p class="said">{typeof content === "string" ? content : words.attach}</p>
        </article>
      ))}
    </>
  );
}

function Waiting({ screen, threadId }: { readonly screen: Screen; readonly threadId: string }) {
  if (screen.run.status === "running") return null;
  return (
    <>
      {screen.interrupts.map((interrupt) => (
        <ApprovalCard
          key={interrupt.id}
          interrupt={interrupt}
          threadId={threadId}
          onAnswer={async (id, value, more) => {
            const store = current.peek();
            try {
              await store?.answer(id, value, more);
            } catch (error) {
              await store?.refresh().catch(() => undefined);
              throw error;
            }
            void readThreads().catch(() => undefined);
          }}
        />
      ))}
    </>
  );
}

/** Ends after which the agent can go on. */
const CONTINUED: ReadonlySet<string> = new Set(["budget", "length", "empty", "loop", "unverified"]);

interface EndingProps {
  readonly snapshot: ThreadSnapshot;
  readonly threadId: string;
  /** Whether the agent that is shown works, of those of the run. */
  readonly isAtWork: boolean;
}

function Ending({ snapshot, threadId, isAtWork }: EndingProps) {
  const { run } = snapshot.screen;
  const { error, outcome, status } = run;
  const outcomeWords = outcome && outcome.kind !== "done" ? words.outcomes[outcome.kind] : undefined;
  return (
    <>
      {isRunning(snapshot) && isAtWork && (
        <p class="working" role="status">
          <span class="dots" aria-hidden="true" /> {words.working}
        </p>
      )}
      {status === "error" && (
        <p class="failure" role="alert">
          {words.runFailed}
          {error ? `: ${error.message || error.error}` : "."}{" "}
          <button type="button" onClick={() => attempt(() => tryAgain(threadId))}>
            {words.retry}
          </button>
        </p>
      )}
      {outcomeWords !== undefined && (
        <p class="notice" role="status">
          {outcomeWords} {outcome?.detail}{" "}
          {CONTINUED.has(outcome?.kind ?? "") && (
            <button type="button" onClick={() => attempt(() => goOn(threadId))}>
              {words.goOn}
            </button>
          )}
        </p>
      )}
    </>
  );
}
