/** One question of an agent: its calls, a decision for each, and one answer for all of them. */
import { type AnswerExtras, ProtocolError, type ShownInterrupt } from "@deepwright/protocol/live";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { factsOf } from "../choices/facts.ts";
import { warningsOf } from "../state/approvals.ts";
import { failureWords } from "../state/connection.ts";
import { notify } from "../state/notices.ts";
import { keepRules } from "../state/run-choices.ts";
import { assistantOf, isServed } from "../state/threads.ts";
import { lazy } from "../view/lazy.tsx";
import { LongText } from "../view/long-text.tsx";
import { words } from "../words.ts";
import { CallReview } from "./call-review.tsx";
import { FreeAnswer } from "./free-answer.tsx";
import { type Decision, type Question, questionOf } from "./questions.ts";
import type { Allowance } from "./rules.ts";

const FanOut = lazy(async () => (await import("../cost/fan-out.tsx")).FanOut);

interface ApprovalProps {
  readonly interrupt: Pick<ShownInterrupt, "id" | "value">;
  readonly threadId: string;
  readonly onAnswer: (id: string, value: unknown, more: AnswerExtras) => Promise<void>;
}

export function ApprovalCard({ interrupt, threadId, onAnswer }: ApprovalProps) {
  const question = useMemo(() => questionOf(interrupt), [interrupt]);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string>();
  const card = useRef<HTMLElement>(null);
  useLayoutEffect(() => () => leave(card.current), []);
  const agent = assistantOf(threadId);
  const scopes = factsOf(agent)?.choices.rules ?? [];
  const isDisabled = isSending || !isServed(agent);
  const answer = async (value: unknown, allow: readonly Allowance[] = []): Promise<void> => {
    // Its buttons are disabled now, and a disabled button loses the focus.
    if (card.current?.contains(document.activeElement)) card.current.focus();
    setSending(true);
    setFailure(undefined);
    try {
      await onAnswer(question.id, value, allow.length > 0 ? { allow } : {});
      if (allow.length > 0) keepRules(threadId, allow);
    } catch (error) {
      if (error instanceof ProtocolError && error.code === "NOTHING_TO_RESUME")
        notify(words.answeredElsewhere);
      else {
        setFailure(failureWords(error));
        setSending(false);
      }
    }
  };
  return (
    <section
      class="approval"
      ref={card}
      tabIndex={-1}
      aria-label={words.approvalTitle(question.calls.length)}
      aria-busy={isSending}
    >
      <header>
        <h3>{question.calls.length === 0 ? words.question : words.approvalTitle(question.calls.length)}</h3>
        {question.agents.length > 0 && (
          <span class="muted">{words.approvalBy(question.agents.join(" › "))}</span>
        )}
      </header>
      {question.problem !== undefined && (
        <p class="failure" role="alert">
          {words.lastProblem} {question.problem}
        </p>
      )}
      {question.calls.some(({ tool }) => tool === "task") && <FanOut />}
      {question.calls.length === 0 ? (
        <>
          <LongText text={textOf(question.value)} />
          <FreeAnswer disabled={isDisabled} onAnswer={answer} />
        </>
      ) : (
        <Decisions
          question={question}
          scopes={scopes}
          disabled={isDisabled}
          onDecide={(made) => answer({ decisions: made.map(plain) }, made.flatMap(allowanceOf))}
        />
      )}
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}

/** A card that goes away hands the focus to what it stood in. */
function leave(card: HTMLElement | null): void {
  if (card?.contains(document.activeElement)) card.closest<HTMLElement>(".conversation, main")?.focus();
}

/** The decision as the agent takes it. */
function plain(decision: Decision): Decision {
  return decision.type === "approve"
    ? { type: "approve", ...(decision.remember && { remember: decision.remember }) }
    : decision;
}

const allowanceOf = (decision: Decision): readonly Allowance[] =>
  decision.type === "approve" && decision.allow ? [decision.allow] : [];

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "");
}

interface DecisionsProps {
  readonly question: Question;
  readonly scopes: readonly string[];
  readonly disabled: boolean;
  readonly onDecide: (decisions: readonly Decision[]) => void;
}

function Decisions({ question: { id, calls }, scopes, disabled, onDecide }: DecisionsProps) {
  const [made, setMade] = useState<readonly (Decision | undefined)[]>([]);
  useEffect(() => setMade([]), [id]);
  const decided = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (decided.current !== undefined) focusAfter(list.current, decided.current, made);
    decided.current = undefined;
  }, [made]);
  const list = useRef<HTMLDivElement>(null);
  const open = calls.filter((_, index) => made[index] === undefined).length;
  const decide = (index: number, decision: Decision | undefined): void => {
    const next = calls.map((_, i) => (i === index ? decision : made[i]));
    if (calls.length === 1 && decision) onDecide([decision]);
    else {
      decided.current = index;
      setMade(next);
    }
  };
  const approvable = calls.every(({ allowed }, i) => made[i] !== undefined || allowed.includes("approve"));
  return (
    <div class="decisions" ref={list}>
      {calls.map((call, index) => (
        <CallReview
          key={index}
          call={call}
          number={calls.length > 1 ? index + 1 : undefined}
          decision={made[index]}
          warnings={warningsOf(id, index)}
          scopes={scopes}
          disabled={disabled}
          onDecide={(decision) => decide(index, decision)}
        />
      ))}
      {calls.length > 1 && (
        <footer class="buttons">
          <button
            type="button"
            class="primary"
            disabled={disabled || open > 0}
            onClick={() => onDecide(made as readonly Decision[])}
          >
            {words.sendDecisions}
          </button>
          {approvable && open > 0 && (
            <button
              type="button"
              disabled={disabled}
              onClick={() => onDecide(calls.map((_, i) => made[i] ?? { type: "approve" }))}
            >
              {words.approveAll}
            </button>
          )}
          {open > 0 && <span class="muted">{words.undecided(open)}</span>}
        </footer>
      )}
    </div>
  );
}

/** The focus goes to the next call without a decision, and after the last one to the button that sends them. */
function focusAfter(list: HTMLElement | null, at: number, made: readonly unknown[]): void {
  const reviews = [...(list?.querySelectorAll<HTMLElement>(".call-review") ?? [])];
  const inTurn = [...reviews.keys()].toSorted((a, b) => Number(a <= at) - Number(b <= at) || a - b);
  const next = inTurn.find((index) => made[index] === undefined);
  const button = list?.querySelector<HTMLElement>("footer .primary");
  (next === undefined ? button : reviews[next])?.focus();
}
