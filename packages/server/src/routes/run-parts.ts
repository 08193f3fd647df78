/** Shared by the routes of runs: beginning, watching and waiting for a run. */
import {
  type CreateRun,
  formatEventId,
  HEADER,
  isEventOfModes,
  parseEventId,
  type Run,
  type StreamMode,
} from "@deepwright/protocol";
import { checkChoices, hasChoices } from "../agent-facts/run-choices.ts";
import { type Caller, userOf } from "../http/authenticate.ts";
import { invalid, notFound } from "../http/problems.ts";
import { eventResponse, type StreamedEvent } from "../http/sse-response.ts";
import { waitResponse } from "../http/wait-response.ts";
import type { RunHead, RunRecord, RunRequest } from "../records/records.ts";
import type { FollowedEvent } from "../runs/event-stream.ts";
import type { StartRun } from "../runs/start-request.ts";
import { checkRun } from "./checked-request.ts";
import { withoutEchoes } from "./sent-messages/echoed-messages.ts";
import type { Services } from "./services.ts";

/** A run of the caller on the thread; 404 for everything else. */
export async function runOf(
  { runs }: Services,
  owner: string,
  runId: string,
  threadId?: string,
): Promise<RunRecord> {
  const run = await runs.get(owner, runId);
  if (!run || (threadId !== undefined && run.thread_id !== threadId)) throw notFound("run");
  return run;
}

export function shownRun(run: RunHead): Run {
  const { run_id, thread_id, assistant_id, created_at, updated_at, status, metadata } = run;
  const { multitask_strategy, outcome } = run;
  return {
    ...{ run_id, thread_id, assistant_id, created_at, updated_at, status, metadata, multitask_strategy },
    ...(outcome && { outcome }),
  };
}

export interface NewRunCall {
  readonly request: Request;
  readonly caller: Caller;
  readonly owner: string;
  readonly services: Services;
}

/** Checked, counted, begun. `threadId` absent: on a thread of its own. */
export async function startRun(
  call: NewRunCall,
  given: RunRequest,
  threadId?: string,
  more: Pick<StartRun, "check" | "keyStandsFor"> = {},
): Promise<RunRecord> {
  const { owner, services } = call;
  const { engineCommands, tenants } = services;
  const request = await withoutEchoes(services, owner, given, threadId);
  checkRun(request, { engineCommands, tenants, ...(threadId !== undefined && { threadId }) });
  await checkRunChoices(services, owner, request);
  const idempotencyKey = keyOf(call.request);
  services.runRate.take(owner);
  const run = await services.runs.start({
    owner,
    user: userOf(call.caller),
    request,
    ...(threadId !== undefined && { threadId }),
    // What an echo is changes with the thread; what the client sent does not.
    ...(idempotencyKey !== undefined && { idempotencyKey, keyStandsFor: [threadId ?? null, given] }),
    ...more,
  });
  services.threadNews.tell(run.thread_id);
  return run;
}

/** The agent is loaded only where something is chosen. */
async function checkRunChoices(
  { agents, records }: Services,
  owner: string,
  { assistant_id: id, config }: CreateRun,
): Promise<void> {
  const assistant = agents.assistant(id) ?? (await records.assistants.get(owner, id));
  const chosen = { ...assistant?.config.configurable, ...config?.configurable };
  if (!assistant || !hasChoices(chosen) || !agents.has(assistant.graph_id)) return;
  checkChoices(chosen, await agents.load(assistant.graph_id));
}

/** Keys of batches are others than those of single runs: each of their runs has one. */
export function keyOf({ headers }: Request, kind: "client" | "batch" = "client"): string | undefined {
  const key = headers.get(HEADER.idempotencyKey);
  if (key === null) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw invalid("Idempotency-Key: must be 1 to 255 visible characters.");
  // Keys the server makes for itself begin with a word and a colon.
  return `${kind}:${key}`;
}

/** Where clients find the run, and where they resume its stream. */
export function runHeaders({ thread_id, run_id }: RunRecord): Record<string, string> {
  const path = `/threads/${encodeURIComponent(thread_id)}/runs/${encodeURIComponent(run_id)}`;
  return { [HEADER.contentLocation]: path, [HEADER.location]: `${path}/stream` };
}

export interface Watching {
  readonly owner: string;
  readonly services: Services;
  readonly run: RunRecord;
  /** The number of the last event the reader has. */
  readonly after?: number;
  readonly modes?: readonly StreamMode[] | undefined;
  readonly cancelOnDisconnect: boolean;
  readonly cut: (() => void) | undefined;
  /** Gives back the place the answer has among the caller's streams. */
  readonly release: () => void;
}

export async function runStream(watching: Watching): Promise<Response> {
  const { owner, services, run, after = 0, modes, cancelOnDisconnect, cut, release } = watching;
  const ends = (await hasMore(services, run, after)) && { [HEADER.streamEnd]: "end" };
  const open = (signal: AbortSignal) =>
    wireEvents(services.runs.stream(owner, run.run_id, { after, signal, inPieces: true }), modes);
  return eventResponse(open, {
    ...services,
    cut,
    headers: { ...runHeaders(run), ...ends },
    onEnd: (complete) => {
      release();
      if (!complete && cancelOnDisconnect) leave(services, owner, run);
    },
  });
}

/** Whether the stream will close with the event `end`: not behind it, and not when the log is gone. */
async function hasMore({ records }: Services, run: RunRecord, after: number): Promise<boolean> {
  const isOpen = run.status === "pending" || run.status === "running";
  return isOpen || (await records.events.skim(run.run_id, after, 1)).length > 0;
}

export function runOutcome({ owner, services, run, cancelOnDisconnect, cut, release }: Watching): Response {
  return waitResponse(
    async (signal) => {
      const mostBytes = services.limits.answerBytes;
      return services.json(await services.runs.wait(owner, run.run_id, { signal, mostBytes }));
    },
    {
      ...services,
      cut,
      headers: runHeaders(run),
      onEnd: (complete) => {
        release();
        if (!complete && cancelOnDisconnect) leave(services, owner, run);
      },
    },
  );
}

/** A server that goes takes its readers along: that is nobody's wish to end a run. */
function leave({ runs, closing, onError }: Services, owner: string, run: RunRecord): void {
  if (!closing.aborted) void runs.cancel(owner, run.run_id).catch(onError);
}

async function* wireEvents(
  events: AsyncIterable<FollowedEvent>,
  modes: readonly StreamMode[] | undefined,
): AsyncGenerator<StreamedEvent> {
  for await (const { sequence, event, data, pieces } of events)
    if (modes === undefined || isEventOfModes(event, modes))
      yield { id: formatEventId({ sequence }), event, data, pieces };
}

/** Reads `Last-Event-ID`; 400 for a value that no stream of ours has sent. */
export function lastEvent({ headers }: Request) {
  const given = headers.get(HEADER.lastEventId);
  if (given === null || given === "") return { sequence: 0 };
  const place = parseEventId(given);
  if (!place) throw invalid("Last-Event-ID: is not the id of an event.");
  return place;
}
