/** A thread as it was at one of its steps, with a slider over all of them. */
import { useEffect, useState } from "preact/hooks";
import { failureWords } from "../state/connection.ts";
import { addressOf, go } from "../state/route.ts";
import { readSteps, type Step } from "../undo/undo-calls.ts";
import { words } from "../words.ts";
import { ForkForm } from "./fork-form.tsx";
import { PastView } from "./past-view.tsx";
import { StepSlider } from "./step-slider.tsx";
import { type Past, readPast } from "./steps.ts";
import "./time.css";
import { timeWords } from "./words.ts";

interface TimeProps {
  readonly threadId: string;
  /** Undefined: the newest step. */
  readonly checkpointId: string | undefined;
}

export function TimeView({ threadId, checkpointId }: TimeProps) {
  const [steps, setSteps] = useState<readonly Step[]>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    readSteps(threadId).then(setSteps, (error: unknown) => setFailure(failureWords(error)));
  }, []);
  if (failure !== undefined) return <p class="center failure">{failure}</p>;
  if (!steps) return <p class="center muted">{words.loading}</p>;
  if (steps.length === 0) return <p class="center muted">{timeWords.noSteps}</p>;
  const found = steps.findIndex(({ checkpoint_id: id }) => id === checkpointId);
  return <Steps {...{ threadId, steps }} at={found < 0 ? steps.length - 1 : found} />;
}

interface StepsProps {
  readonly threadId: string;
  readonly steps: readonly Step[];
  readonly at: number;
}

function Steps({ threadId, steps, at }: StepsProps) {
  const [isForking, setForking] = useState(false);
  const step = steps[at] as Step;
  const { past, isOfStep, failure } = usePast(threadId, steps, step);
  const move = (next: number): void => {
    const { checkpoint_id: checkpointId } = steps[next] ?? step;
    // Steps on the way are no entries of the browser's history.
    history.replaceState(null, "", addressOf({ view: "steps", threadId, checkpointId }));
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return (
    <section class="time-view" aria-label={timeWords.title}>
      <header class="time-bar">
        <StepSlider {...{ steps, at }} onMove={move} />
        <div class="buttons">
          <button type="button" onClick={() => go({ view: "thread", threadId })}>
            {timeWords.backToNow}
          </button>
          <button
            type="button"
            class="primary"
            aria-expanded={isForking}
            onClick={() => setForking(!isForking)}
          >
            {timeWords.forkTitle}…
          </button>
        </div>
        {isForking && (
          <ForkForm key={step.checkpoint_id} {...{ threadId, step }} past={isOfStep ? past : undefined} />
        )}
      </header>
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      {past && <PastView {...{ past, step }} isBusy={!isOfStep} />}
      {!past && failure === undefined && <p class="center muted">{words.loading}</p>}
    </section>
  );
}

/** A dragged slider shows the step where it rests. */
const REST_MS = 120;

/** The step before stays in view until the next one is there. */
function usePast(threadId: string, steps: readonly Step[], step: Step) {
  const [read, setRead] = useState<{ readonly past: Past; readonly of: string }>();
  const [failure, setFailure] = useState<string>();
  const first = steps[0]?.checkpoint_id ?? "";
  const { checkpoint_id: of } = step;
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(
      () => {
        readPast(threadId, first, of).then(
          (past) => {
            if (!isCurrent) return;
            setRead({ past, of });
            setFailure(undefined);
          },
          (error: unknown) => isCurrent && setFailure(failureWords(error)),
        );
      },
      read ? REST_MS : 0,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [of]);
  return { past: read?.past, isOfStep: read?.of === of, failure };
}
