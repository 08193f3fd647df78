/** Runs: begun, watched, joined, ended. */
import type { CancelRuns, CreateRun, RunStatus } from "@deepwright/protocol";
import { userOf } from "../http/authenticate.ts";
import { invalid, notFound } from "../http/problems.ts";
import type { RunHead, RunRecord } from "../records/records.ts";
import { assistantOf } from "./assistant-routes.ts";
import type { Call, Handlers } from "./call.ts";
import { checkRun } from "./checked-request.ts";
import { byteLimit, pageAnswer, pageHeaders, selected } from "./listing.ts";
import {
  keyOf,
  lastEvent,
  type NewRunCall,
  runHeaders,
  runOf,
  runOutcome,
  runStream,
  shownRun,
  startRun,
  type Watching,
} from "./run-parts.ts";
import type { Services } from "./services.ts";
import { threadOf } from "./thread-parts.ts";

export const runRoutes: Handlers<"runs"> = {
  "runs.create": async (call) => created(await startRun(call, call.body, call.parameters.thread_id)),
  "runs.stream": async (call) => streamed(call, call.parameters.thread_id),
  "runs.wait": async (call) => waited(call, call.parameters.thread_id),
  "runs.createStateless": async (call) => created(await startRun(call, call.body)),
  "runs.streamStateless": async (call) => streamed(call),
  "runs.waitStateless": async (call) => waited(call),
  "runs.createBatch": createBatch,

  "runs.list": async (call) => {
    const { owner, query, services } = call;
    const { thread_id: threadId } = await threadOf(services, owner, call.parameters.thread_id);
    const { runs } = services.records;
    const { limit, offset, status, select } = query;
    const page = { limit, offset, status, bytes: byteLimit(services.limits) };
    const found = select?.includes("kwargs")
      ? (await runs.list(owner, threadId, page)).map((run) => ({ ...shownRun(run), kwargs: run.request }))
      : (await runs.heads(owner, threadId, page)).map(shownRun);
    const headers = pageHeaders(page, found.length, await runs.count(owner, threadId, { status }));
    return pageAnswer(call, selected(found, select), headers);
  },

  "runs.get": async ({ owner, parameters, services }) =>
    shownRun(await runOf(services, owner, parameters.run_id, parameters.thread_id)),

  "runs.delete": async ({ owner, parameters, services }) => {
    const run = await runOf(services, owner, parameters.run_id, parameters.thread_id);
    if (!(await services.runs.delete(owner, run.run_id))) throw notFound("run");
    return undefined;
  },

  "runs.join": async ({ owner, parameters, query, services, cut }) => {
    const run = await runOf(services, owner, parameters.run_id, parameters.thread_id);
    const cancelOnDisconnect = query.cancel_on_disconnect;
    return services.streams.hold(owner, async (release) =>
      runOutcome({ owner, services, cut, run, cancelOnDisconnect, release }),
    );
  },

  "runs.joinStream": async (call) =>
    joined(call, await runOf(call.services, call.owner, call.parameters.run_id, call.parameters.thread_id)),

  "runs.joinStreamStateless": async (call) =>
    joined(call, await runOf(call.services, call.owner, call.parameters.run_id)),

  "runs.cancel": async ({ request, owner, parameters, query, services }) => {
    const run = await runOf(services, owner, parameters.run_id, parameters.thread_id);
    const { wait, action, tasks = false } = query;
    await services.runs.cancel(owner, run.run_id, { action, wait, tasks, signal: request.signal });
    return new Response(null, { status: wait ? 204 : 202 });
  },

  "runs.cancelMany": async ({ owner, query, body, services }) => {
    for (const run of await runsToCancel(services, owner, body))
      await services.runs.cancel(owner, run.run_id, { action: query.action });
    return undefined;
  },
};

function created(run: RunRecord): Response {
  return Response.json(shownRun(run), { headers: runHeaders(run) });
}

type NewRun = NewRunCall & Pick<Call, "cut"> & { readonly body: CreateRun };

function streamed(call: NewRun, threadId?: string): Promise<Response> {
  return watched(call, threadId, runStream);
}

function waited(call: NewRun, threadId?: string): Promise<Response> {
  return watched(call, threadId, runOutcome);
}

/** Clients ask again when there was no place for the answer: the run begins behind that. */
function watched(
  call: NewRun,
  threadId: string | undefined,
  answer: (watching: Watching) => Response | Promise<Response>,
): Promise<Response> {
  const { owner, services, cut, body } = call;
  const cancelOnDisconnect = body.on_disconnect === "cancel";
  return services.streams.hold(owner, async (release) => {
    const run = await startRun(call, body, threadId);
    return answer({ owner, services, cut, run, cancelOnDisconnect, release });
  });
}

function joined(
  {
    request,
    owner,
    services,
    query,
    cut,
  }: Pick<Call<"runs.joinStream">, "request" | "owner" | "services" | "query" | "cut">,
  run: RunRecord,
): Promise<Response> {
  const { sequence: after, runId = run.run_id } = lastEvent(request);
  if (runId !== run.run_id) throw invalid("Last-Event-ID: is the id of an event of another run.");
  return services.streams.hold(owner, (release) =>
    runStream({
      owner,
      services,
      cut,
      run,
      after,
      modes: query.stream_mode,
      cancelOnDisconnect: query.cancel_on_disconnect,
      release,
    }),
  );
}

/** Nothing is begun before all of them are known to be possible. */
async function createBatch({ request: asked, caller, owner, body, services }: Call<"runs.createBatch">) {
  const { engineCommands, tenants, runRate, runs } = services;
  for (const request of body) {
    checkRun(request, { engineCommands, tenants });
    await assistantOf(services, owner, request.assistant_id);
  }
  const key = keyOf(asked, "batch");
  const user = userOf(caller);
  runRate.take(owner, body.length);
  const begun = await runs.startAll(
    body.map((request, index) => ({
      owner,
      user,
      request,
      // The whole batch: with one run more, or in another order, it is another one.
      ...(key !== undefined && { idempotencyKey: `${key}#${index}`, keyStandsFor: [index, body] }),
    })),
  );
  return begun.map(shownRun);
}

const ALL = { limit: 1000, offset: 0 };

/** By id on a thread, or all in a status, of one thread or of all. */
async function runsToCancel(services: Services, owner: string, body: CancelRuns): Promise<RunHead[]> {
  const { thread_id: threadId, run_ids: runIds, status } = body;
  if (runIds != null) {
    const named: RunHead[] = [];
    for (const id of runIds) named.push(await runOf(services, owner, id, threadId ?? undefined));
    return named;
  }
  const wanted: RunStatus[] = status === "all" || status == null ? ["pending", "running"] : [status];
  if (threadId != null) await threadOf(services, owner, threadId);
  const pageOf = (page: typeof ALL, each: RunStatus) =>
    threadId == null
      ? services.records.runs.open(owner, { ...page, status: each })
      : services.records.runs.heads(owner, threadId, { ...page, status: each });
  const found: RunHead[] = [];
  for (const each of wanted)
    for (let offset = 0; ; ) {
      const page = await pageOf({ ...ALL, offset }, each);
      if (page.length === 0) break;
      found.push(...page);
      offset += page.length;
    }
  return found;
}
