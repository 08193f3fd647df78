/** One decision, for whoever has the link to it: the calls, warnings about them, and a button for each answer. */
import { useEffect, useState } from "preact/hooks";
import { CallReview } from "../approvals/call-review.tsx";
import type { Decision } from "../approvals/questions.ts";
import { failureWords } from "../state/connection.ts";
import { words as shared } from "../words.ts";
import { decide, type Link, type LinkState, lookAt } from "./link.ts";
import { words } from "./words.ts";

export function ApprovalLinkView({ link }: { readonly link: Link | undefined }) {
  const [state, setState] = useState<LinkState | undefined>(link ? undefined : { kind: "incomplete" });
  const [failure, setFailure] = useState<string>();
  const [isSending, setSending] = useState(false);
  const act = (work: Promise<LinkState>): void => {
    setFailure(undefined);
    work.then(setState, (error: unknown) => setFailure(failureWords(error))).finally(() => setSending(false));
  };
  useEffect(() => {
    if (link) act(lookAt(link));
  }, []);
  const send = (decisions: readonly Decision[]): void => {
    if (!link) return;
    setSending(true);
    act(decide(link, decisions));
  };
  return (
    <main class="approval-link">
      <p class="app-name">{shared.app}</p>
      {state === undefined && failure === undefined && <p class="muted">{shared.loading}</p>}
      {state?.kind === "waiting" && <Waiting state={state} disabled={isSending} onDecide={send} />}
      {state?.kind === "done" && <Done decisions={state.decisions} />}
      {state && state.kind !== "waiting" && state.kind !== "done" && <Over kind={state.kind} />}
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
    </main>
  );
}

interface WaitingProps {
  readonly state: Extract<LinkState, { kind: "waiting" }>;
  readonly disabled: boolean;
  readonly onDecide: (decisions: readonly Decision[]) => void;
}

function Waiting({ state: { calls, agents, since, until }, disabled, onDecide }: WaitingProps) {
  const [made, setMade] = useState<readonly (Decision | undefined)[]>([]);
  const open = calls.filter((_, at) => made[at] === undefined).length;
  const choose = (index: number, decision: Decision | undefined): void => {
    const next = calls.map((_, at) => (at === index ? decision : made[at]));
    if (calls.length === 1 && decision) onDecide([decision]);
    else setMade(next);
  };
  return (
    <section class="approval" aria-busy={disabled}>
      <header>
        <h1>{words.title(calls.length)}</h1>
        {agents.length > 0 && <span class="muted">{words.by(agents)}</span>}
      </header>
      {calls.map((call, at) => (
        <CallReview
          key={at}
          call={call}
          number={calls.length > 1 ? at + 1 : undefined}
          decision={made[at]}
          warnings={call.warnings}
          scopes={undefined}
          disabled={disabled}
          onDecide={(decision) => choose(at, decision)}
        />
      ))}
      {calls.length > 1 && (
        <footer class="buttons">
          <button
            type="button"
            class="primary"
            disabled={disabled || open > 0}
            onClick={() => onDecide(made.filter((one) => one !== undefined))}
          >
            {shared.sendDecisions}
          </button>
          {open > 0 && <span class="muted">{shared.undecided(open)}</span>}
        </footer>
      )}
      <p class="muted">
        {disabled ? words.sending : `${words.times(moment(since), moment(until))} ${words.once}`}
      </p>
    </section>
  );
}

const moment = (text: string): string =>
  new Date(text).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** Calls stand in the order in which they were shown. */
function Done({ decisions }: { readonly decisions: readonly Decision[] }) {
  return (
    <section role="status">
      <h1>{words.done}</h1>
      <ul>
        {decisions.map(({ type }, at) => (
          <li key={at}>
            {decisions.length > 1 && `${at + 1}. `}
            <span class={`badge ${type}`}>{shared.decided[type]}</span>
          </li>
        ))}
      </ul>
      <p>{words.goesOn}</p>
    </section>
  );
}

function Over({ kind }: { readonly kind: string }) {
  const [title, text] = words.states[kind] ?? ["", ""];
  return (
    <section role="status">
      <h1>{title}</h1>
      <p>{text}</p>
      <p>
        <a href="/">{words.openPage}</a>
      </p>
    </section>
  );
}
