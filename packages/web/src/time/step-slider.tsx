/** A slider over the steps of a thread; marks show where files changed and where somebody spoke. */
import type { Step } from "../undo/undo-calls.ts";
import { timeWords } from "./words.ts";

interface SliderProps {
  readonly steps: readonly Step[];
  readonly at: number;
  readonly onMove: (at: number) => void;
}

/** With more of them, neighbours are one line. */
const MOST_MARKS = 400;

export function StepSlider({ steps, at, onMove }: SliderProps) {
  const step = steps[at] as Step;
  const last = steps.length - 1;
  const earlier = steps.findLastIndex((one, index) => index < at && one.changed_files.length > 0);
  const later = steps.findIndex((one, index) => index > at && one.changed_files.length > 0);
  const place = timeWords.stepOf(step.step, steps[last]?.step ?? step.step);
  const time = new Date(step.at).toLocaleTimeString();
  const summary = step.summary || timeWords.sources[step.source] || "";
  return (
    <>
      <p class="time-facts" role="status">
        <strong>{place}</strong>{" "}
        <time class="muted" dateTime={step.at}>
          {time}
        </time>{" "}
        <span class="time-summary">{summary}</span>
      </p>
      <div class="time-slide">
        <Jump label={timeWords.earlierChange} sign="⇤" to={earlier} onMove={onMove} />
        <Jump label={timeWords.earlier} sign="←" to={at - 1} onMove={onMove} />
        <div class="time-track">
          <input
            type="range"
            min={0}
            max={last}
            step={1}
            value={at}
            aria-label={timeWords.slider}
            aria-valuetext={`${place}, ${time}, ${summary}`}
            onInput={({ currentTarget }) => onMove(Number(currentTarget.value))}
          />
          <Marks steps={steps} />
        </div>
        <Jump label={timeWords.later} sign="→" to={at === last ? -1 : at + 1} onMove={onMove} />
        <Jump label={timeWords.laterChange} sign="⇥" to={later} onMove={onMove} />
      </div>
    </>
  );
}

interface JumpProps {
  readonly label: string;
  readonly sign: string;
  /** Below zero: there is none. */
  readonly to: number;
  readonly onMove: (at: number) => void;
}

function Jump({ label, sign, to, onMove }: JumpProps) {
  return (
    <button
      type="button"
      class="quiet"
      aria-label={label}
      title={label}
      disabled={to < 0}
      onClick={() => onMove(to)}
    >
      {sign}
    </button>
  );
}

function Marks({ steps }: { readonly steps: readonly Step[] }) {
  const last = Math.max(1, steps.length - 1);
  const places = new Map<number, string>();
  for (const [index, { changed_files: files, source }] of steps.entries()) {
    const place = Math.round((index / last) * MOST_MARKS);
    if (files.length > 0) places.set(place, "changed");
    else if (source === "input" && !places.has(place)) places.set(place, "said");
  }
  return (
    <svg class="time-marks" viewBox={`0 0 ${MOST_MARKS} 6`} preserveAspectRatio="none" aria-hidden="true">
      {[...places].map(([place, kind]) => (
        <rect key={place} class={kind} x={place - 0.75} y={0} width={1.5} height={6} />
      ))}
    </svg>
  );
}
