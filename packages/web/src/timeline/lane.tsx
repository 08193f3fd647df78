/** One agent over time. Arrow keys go from span to span and say what each was. */
import { useState } from "preact/hooks";
import { rowsOf, type Scale } from "./scale.ts";
import type { Span } from "./spans.ts";
import { duration, timelineWords } from "./words.ts";

interface LaneProps {
  readonly name: string;
  readonly spans: readonly Span[];
  readonly scale: Scale;
  readonly tools: ReadonlyMap<string, string>;
  readonly zoom: number;
  readonly now: number;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

const ROW = 12;
const WIDTH = 1_000;
/** A span that took no time is still seen. */
const LEAST = 1.5;

export function Lane({ name, spans, scale, tools, zoom, now, isOpen, onOpen }: LaneProps) {
  const [at, setAt] = useState<number>();
  const rows = rowsOf(spans, now);
  const selected = at === undefined ? undefined : spans[at];
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (event.key === "Enter") onOpen();
    if (step === 0) return;
    event.preventDefault();
    setAt(Math.min(spans.length - 1, Math.max(0, (at ?? -step) + step)));
  };
  const shown = selected && textOf(selected, { tools, scale, now });
  return (
    <div class="lane">
      <div class="lane-head">
        <button
          type="button"
          class="quiet"
          aria-pressed={isOpen}
          title={timelineWords.open(name)}
          onClick={onOpen}
        >
          {name}
        </button>{" "}
        <span class="muted">{shown ?? summaryOf(spans, now)}</span>
      </div>
      <div
        class="lane-track"
        role="slider"
        aria-label={timelineWords.lane(name)}
        aria-valuemin={0}
        aria-valuemax={spans.length - 1}
        aria-valuenow={at ?? 0}
        aria-valuetext={shown ?? summaryOf(spans, now)}
        tabIndex={0}
        onKeyDown={onKey}
      >
        <svg
          width={`${zoom * 100}%`}
          height={rows.length * ROW}
          viewBox={`0 0 ${WIDTH} ${rows.length * ROW}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {rows.map((row, index) =>
            row.map((span) => {
              const x = scale.place(span.from) * WIDTH;
              const width = Math.max(LEAST / zoom, scale.place(span.to ?? now) * WIDTH - x);
              return (
                // biome-ignore lint/a11y/noStaticElementInteractions: the track has the role
                <rect
                  key={`${span.from}|${span.callId}`}
                  class={`span-${span.kind} ${span.end ?? "open"} ${span === selected ? "on" : ""}`}
                  x={Math.min(x, WIDTH - LEAST / zoom)}
                  y={index * ROW + 1}
                  width={width}
                  height={ROW - 2}
                  onClick={() => {
                    setAt(spans.indexOf(span));
                    onOpen();
                  }}
                >
                  <title>{textOf(span, { tools, scale, now })}</title>
                </rect>
              );
            }),
          )}
        </svg>
      </div>
    </div>
  );
}

function summaryOf(spans: readonly Span[], now: number): string {
  const amount = (kind: Span["kind"]): number => spans.filter((span) => span.kind === kind).length;
  const waited = spans
    .filter(({ kind }) => kind === "wait")
    .reduce((sum, { from, to = now }) => sum + to - from, 0);
  const work = timelineWords.summary(amount("model"), amount("tool"));
  return waited > 0 ? `${work}, ${timelineWords.waited(duration(waited))}` : work;
}

type Facts = Pick<LaneProps, "tools" | "scale" | "now">;

function textOf({ kind, callId, from, to, end }: Span, { tools, scale, now }: Facts): string {
  const what = tools.get(callId ?? "") ?? timelineWords.kinds[kind] ?? kind;
  const how = to === undefined ? timelineWords.atWork : timelineWords.ends[end ?? ""];
  return [
    what,
    duration((to ?? now) - from),
    timelineWords.after(duration(from - scale.begin)),
    ...(how === undefined ? [] : [how]),
  ].join(", ");
}
