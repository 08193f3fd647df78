/** Lanes of agents over time, with a zoom. A lane opens the conversation of its agent. */
import { useEffect, useState } from "preact/hooks";
import { agentAt, current, isRunning, shownAgent, snapshot } from "../state/current.ts";
import { words } from "../words.ts";
import { BackgroundTasks } from "./background-tasks.tsx";
import { Lane } from "./lane.tsx";
import { scaleOf } from "./scale.ts";
import type { Span } from "./spans.ts";
import "./timeline.css";
import { timelineWords } from "./words.ts";
import { readWork, work } from "./work.ts";

const ZOOM = 2;
const MOST_ZOOM = 64;
const TICK_MS = 1_000;

export function TimelineView() {
  const threadId = current.value?.threadId;
  if (threadId === undefined) return null;
  return (
    <>
      <BackgroundTasks threadId={threadId} />
      <Lanes threadId={threadId} />
    </>
  );
}

function Lanes({ threadId }: { readonly threadId: string }) {
  const running = isRunning(snapshot.value);
  useEffect(() => {
    const closing = new AbortController();
    void readWork(threadId, closing.signal);
    return () => closing.abort();
  }, [threadId, running]);
  const { spans, tools, isLoading, failure } = work.value;
  const now = useNow(running);
  const [zoom, setZoom] = useState(1);
  if (spans.length === 0)
    return <p class="muted">{failure ?? (isLoading ? timelineWords.loading : timelineWords.nothing)}</p>;
  const scale = scaleOf(spans, now);
  return (
    <section class="timeline">
      <header>
        <h3>{timelineWords.title}</h3>
        <button
          type="button"
          class="quiet"
          aria-label={timelineWords.zoomOut}
          disabled={zoom === 1}
          onClick={() => setZoom(zoom / ZOOM)}
        >
          −
        </button>
        <button
          type="button"
          class="quiet"
          aria-label={timelineWords.zoomIn}
          disabled={zoom === MOST_ZOOM}
          onClick={() => setZoom(zoom * ZOOM)}
        >
          +
        </button>
        <button type="button" class="quiet" disabled={zoom === 1} onClick={() => setZoom(1)}>
          {timelineWords.fit}
        </button>
      </header>
      <Legend />
      {failure !== undefined && <p class="failure">{timelineWords.failed(failure)}</p>}
      <div class="lanes" role="region" aria-label={timelineWords.region} tabIndex={0}>
        {[...lanesOf(spans)].map(([place, own]) => (
          <Lane
            key={place}
            {...{ scale, tools, zoom, now }}
            spans={own}
            name={nameOf(place)}
            isOpen={shownAgent.value === place}
            onOpen={() => (shownAgent.value = place)}
          />
        ))}
      </div>
    </section>
  );
}

/** The agent of the thread first, then subagents as they began, each below its parent. */
function lanesOf(spans: readonly Span[]): ReadonlyMap<string, readonly Span[]> {
  const lanes = new Map<string, Span[]>();
  for (const span of spans) {
    const own = lanes.get(span.place);
    if (own) own.push(span);
    else lanes.set(span.place, [span]);
  }
  return lanes;
}

function nameOf(place: string): string {
  if (place === "") return words.mainAgent;
  return agentAt(snapshot.value.screen, place)?.name ?? words.subagent;
}

function useNow(running: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

function Legend() {
  return (
    <p class="timeline-legend muted">
      {["model", "tool", "wait"].map((kind) => (
        <span key={kind}>
          <span class={`swatch span-${kind}`} />
          {timelineWords.kinds[kind]}
        </span>
      ))}
    </p>
  );
}
