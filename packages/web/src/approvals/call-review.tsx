/** One call of a question: what it does, warnings, and the decision about it. Keys work where the focus is. */
import { useEffect, useRef, useState } from "preact/hooks";
import { words } from "../words.ts";
import { type Always, alwaysChoices } from "./always.ts";
import { CallDetails } from "./call-details.tsx";
import { EditForm } from "./edit-form.tsx";
import type { CallQuestion, Decision, DecisionType } from "./questions.ts";
import { revealed } from "./revealed.ts";
import { words as ownWords } from "./words.ts";

interface CallReviewProps {
  readonly call: CallQuestion;
  /** Undefined: it is the only one. */
  readonly number: number | undefined;
  readonly decision: Decision | undefined;
  readonly warnings: readonly string[];
  /** For how long calls can be allowed: `thread`, `project`. Undefined: for this once. */
  readonly scopes: readonly string[] | undefined;
  readonly disabled: boolean;
  readonly onDecide: (decision: Decision | undefined) => void;
}

/** The arguments as they would run. */
function argsOf({ args }: CallQuestion, decision: Decision | undefined): CallQuestion["args"] {
  return decision?.type === "edit" ? { ...decision.editedAction.args } : args;
}

type Said = Extract<Decision, { readonly type: "reject" | "respond" }>;

function isSaid(decision: Decision | undefined): decision is Said {
  return (decision?.type === "reject" || decision?.type === "respond") && Boolean(decision.message);
}

type Open = "none" | "edit" | "reject" | "respond";

const KEYS: Readonly<Record<string, DecisionType>> = { a: "approve", e: "edit", r: "reject" };

export function CallReview({
  call,
  number,
  decision,
  warnings,
  scopes,
  disabled,
  onDecide,
}: CallReviewProps) {
  const [open, setOpen] = useState<Open>("none");
  const [always, setAlways] = useState<Always>();
  const box = useRef<HTMLDivElement>(null);
  const begin = (type: DecisionType): void => {
    if (disabled || !call.allowed.includes(type)) return;
    setOpen(type === "approve" ? "none" : type);
    if (type !== "approve") return;
    const { allow } = always ?? {};
    onDecide({ type, ...(allow ? { allow } : always && { remember: "thread" }) });
  };
  /** The form had the focus. */
  const close = (): void => {
    setOpen("none");
    box.current?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    const type = KEYS[event.key];
    if (
      event.target !== event.currentTarget ||
      type === undefined ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    event.preventDefault();
    begin(type);
  };
  const done = (made: Decision): void => {
    close();
    onDecide(made);
  };
  return (
    <div
      class="call-review"
      ref={box}
      role="group"
      tabIndex={0}
      aria-label={`${call.tool}. ${words.keys}`}
      onKeyDown={onKey}
    >
      <div class="call-title">
        {number !== undefined && <span class="number">{number}</span>}
        <strong>{call.tool}</strong>
        {decision && <span class={`badge ${decision.type}`}>{words.decided[decision.type]}</span>}
      </div>
      {call.description !== undefined && <p class="description">{call.description}</p>}
      <CallDetails tool={call.tool} args={argsOf(call, decision)} />
      {isSaid(decision) && <p class="said-why">{revealed(decision.message ?? "")}</p>}
      {warnings.length > 0 && (
        <ul class="warnings" aria-label={words.warnings}>
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {open === "edit" && (
        <EditForm
          call={{ ...call, args: argsOf(call, decision) }}
          onCancel={close}
          onDone={(args) => done({ type: "edit", editedAction: { name: call.tool, args } })}
        />
      )}
      {(open === "reject" || open === "respond") && (
        <MessageForm
          type={open}
          draft={decision?.type === open ? (decision.message ?? "") : ""}
          onCancel={close}
          onDone={(message) =>
            done(open === "respond" ? { type: open, message } : { type: open, ...(message && { message }) })
          }
        />
      )}
      {open === "none" && (
        <DecisionButtons {...{ call, decision, disabled, begin }}>
          {scopes && <AlwaysChoice {...{ call, scopes, disabled, always, setAlways }} />}
        </DecisionButtons>
      )}
    </div>
  );
}

interface ButtonsProps {
  readonly call: CallQuestion;
  readonly decision: Decision | undefined;
  readonly disabled: boolean;
  readonly children: preact.ComponentChildren;
  readonly begin: (type: DecisionType) => void;
}

function DecisionButtons({ call, decision, disabled, children, begin }: ButtonsProps) {
  return (
    <>
      <div class="buttons">
        {call.allowed.map((type) => (
          <button
            key={type}
            type="button"
            class={type === "approve" && !decision ? "primary" : type === "reject" ? "danger" : ""}
            disabled={disabled}
            aria-pressed={decision ? decision.type === type : undefined}
            onClick={() => begin(type)}
          >
            {words[type]}
          </button>
        ))}
      </div>
      {call.allowed.includes("approve") && children}
    </>
  );
}

interface AlwaysProps {
  readonly call: CallQuestion;
  readonly scopes: readonly string[];
  readonly disabled: boolean;
  readonly always: Always | undefined;
  readonly setAlways: (always: Always | undefined) => void;
}

function AlwaysChoice({ call, scopes, disabled, always, setAlways }: AlwaysProps) {
  const choices = alwaysChoices(call, scopes);
  return (
    <select
      class="remember"
      aria-label={ownWords.again}
      disabled={disabled}
      value={always?.label ?? ""}
      onChange={({ currentTarget: { value } }) => setAlways(choices.find(({ label }) => label === value))}
    >
      <option value="">{ownWords.always}</option>
      {choices.map(({ label }) => (
        <option key={label} value={label}>
          {label}
        </option>
      ))}
    </select>
  );
}

interface MessageProps {
  readonly type: "reject" | "respond";
  readonly draft: string;
  readonly onDone: (message: string) => void;
  readonly onCancel: () => void;
}

function MessageForm({ type, draft, onDone, onCancel }: MessageProps) {
  const [text, setText] = useState(draft);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const isNeeded = type === "respond";
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isNeeded || text.trim() !== "") onDone(text);
  };
  return (
    <form class="edit-form" onSubmit={submit}>
      <label>
        <span class="name">{isNeeded ? words.answer : words.reason}</span>
        <textarea
          rows={2}
          value={text}
          ref={field}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <div class="buttons">
        <button type="submit" class={isNeeded ? "primary" : "danger"}>
          {words[type]}
        </button>
        <button type="button" onClick={onCancel}>
          {words.cancel}
        </button>
      </div>
    </form>
  );
}
