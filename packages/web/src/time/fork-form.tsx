/** Asks with what a copy of the thread goes on from a step. */
import { useEffect, useRef, useState } from "preact/hooks";
import { factsOf } from "../choices/facts.ts";
import { Choice } from "../choices/run-choices-view.tsx";
import { failureWords } from "../state/connection.ts";
import { notify } from "../state/notices.ts";
import { go } from "../state/route.ts";
import { type Choices, choicesOf } from "../state/run-choices.ts";
import { assistantOf } from "../state/threads.ts";
import type { Step } from "../undo/undo-calls.ts";
import { words } from "../words.ts";
import { forkAt } from "./fork.ts";
import type { Past } from "./steps.ts";
import { timeWords } from "./words.ts";

interface FormProps {
  readonly threadId: string;
  readonly step: Step;
  /** Undefined: the step is not read yet. */
  readonly past: Past | undefined;
}

export function ForkForm({ threadId, step, past }: FormProps) {
  const [text, setText] = useState("");
  const [choices, setChoices] = useState<Choices>(() => choicesOf(threadId));
  const [withFiles, setWithFiles] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const goesOn = past?.goesOn === true;
  const send = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    const request = { checkpointId: step.checkpoint_id, text: text.trim(), choices, withFiles };
    forkAt(threadId, request)
      .then(
        (copyId) => go({ view: "thread", threadId: copyId }),
        (error: unknown) => notify(failureWords(error), { isFailure: true }),
      )
      .finally(() => setBusy(false));
  };
  return (
    <form class="fork-form" aria-label={timeWords.forkTitle} onSubmit={send}>
      <p class="muted">{timeWords.forkHint}</p>
      <label>
        {timeWords.forkMessage}
        <textarea
          rows={2}
          value={text}
          ref={field}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p class="muted">{goesOn ? timeWords.forkEmptyGoesOn : timeWords.forkNeedsMessage}</p>
      <RunWith {...{ threadId, choices }} onChange={setChoices} />
      <label class="fork-files">
        <input
          type="checkbox"
          checked={withFiles}
          onChange={({ currentTarget }) => setWithFiles(currentTarget.checked)}
        />
        <span>
          {timeWords.forkFiles} <span class="muted">{timeWords.forkFilesHint}</span>
        </span>
      </label>
      <div class="buttons">
        <button type="submit" class="primary" disabled={isBusy || !past || (text.trim() === "" && !goesOn)}>
          {timeWords.forkSend}
        </button>
      </div>
    </form>
  );
}

interface RunWithProps {
  readonly threadId: string;
  readonly choices: Choices;
  readonly onChange: (choices: Choices) => void;
}

/** Only what the agent keeps to. */
function RunWith({ threadId, choices, onChange }: RunWithProps) {
  const facts = factsOf(assistantOf(threadId));
  const { model, mode, ...rest } = choices;
  const models = facts?.choices.models.map(({ name }) => [name, name] as const) ?? [];
  const modes = facts?.choices.approval_modes.map((one) => [one, words.modes[one] ?? one] as const) ?? [];
  const next = (change: { model?: string | undefined; mode?: string | undefined }): void => {
    const wanted = { model, mode, ...change };
    onChange({
      ...rest,
      ...(wanted.model && { model: wanted.model }),
      ...(wanted.mode && { mode: wanted.mode }),
    });
  };
  return (
    <div class="fork-choices">
      {models.length > 0 && (
        <Choice
          name={timeWords.forkModel}
          value={model}
          first={facts?.model ?? timeWords.sameModel}
          options={models}
          onChange={(value) => next({ model: value })}
        />
      )}
      {modes.length > 0 && (
        <Choice
          name={words.mode}
          value={mode}
          first={words.usualMode(words.modes[facts?.choices.approval_mode ?? ""])}
          options={modes}
          onChange={(value) => next({ mode: value })}
        />
      )}
    </div>
  );
}
