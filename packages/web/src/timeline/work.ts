/** Events of the runs of a thread, from the first: what subagents said, and when they worked. */
import { emptyScreen, foldEvent, followStream, type Screen } from "@deepwright/protocol/live";
import { signal } from "@preact/signals";
import { call, connection, failureWords } from "../state/connection.ts";
import { pastAgents } from "../state/current.ts";
import { type Span, Spans } from "./spans.ts";

interface Work {
  readonly spans: readonly Span[];
  /** Names of tools by their calls. */
  readonly tools: ReadonlyMap<string, string>;
  readonly isLoading: boolean;
  readonly failure: string | undefined;
}

const NOTHING: Work = { spans: [], tools: new Map(), isLoading: true, failure: undefined };

export const work = signal<Work>(NOTHING);

interface Run {
  readonly run_id: string;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const MOST_RUNS = 20;
const SHOWN_MS = 200;
const OPEN: ReadonlySet<string> = new Set(["pending", "running"]);

/** Reads until the newest run has ended. Aborted: the view is gone. */
export async function readWork(threadId: string, signal: AbortSignal): Promise<void> {
  const spans = new Spans();
  let screen = emptyScreen;
  let failure: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (isLoading = true): void => {
    clearTimeout(timer);
    timer = undefined;
    if (signal.aborted) return;
    work.value = { spans: spans.list, tools: toolsIn(screen), isLoading, failure };
    pastAgents.value = screen.subagents;
  };
  try {
    const parameters = { thread_id: threadId };
    const query = { limit: MOST_RUNS };
    const runs = await call<readonly Run[]>("GET", "/threads/:thread_id/runs", { parameters, query, signal });
    for (const run of runs.toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1))) {
      for await (const event of eventsOf(threadId, run.run_id, signal)) {
        screen = foldEvent(screen, event);
        spans.add(event);
        timer ??= setTimeout(show, SHOWN_MS);
      }
      spans.endRun(OPEN.has(run.status) ? undefined : Date.parse(run.updated_at));
    }
  } catch (error) {
    failure = failureWords(error);
  }
  show(false);
}

function eventsOf(threadId: string, runId: string, signal: AbortSignal) {
  const path = `/threads/${encodeURIComponent(threadId)}/runs/${encodeURIComponent(runId)}/stream`;
  return followStream({
    connection,
    path,
    open: () => connection.resume(path, { signal }),
    untilEnd: true,
    signal,
  });
}

function toolsIn({ main, subagents }: Screen): ReadonlyMap<string, string> {
  const calls = [main, ...Object.values(subagents)].flatMap(({ messages }) =>
    messages.flatMap((message) => message.calls),
  );
  return new Map(calls.map(({ id, name }) => [id, name]));
}
