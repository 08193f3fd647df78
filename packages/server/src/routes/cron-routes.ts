/** Crons: runs that begin by the clock. */
import { randomUUID } from "node:crypto";
import type { Assistant, CreateCron, Cron } from "@deepwright/protocol";
import { checkInterval, nextDate, type Times } from "../crons/schedule.ts";
import { notFound, Problem } from "../http/problems.ts";
import { checkInput } from "../runs/input/check-input.ts";
import { checkCheckpointIsThere } from "../runs/input/find-checkpoint.ts";
import { chosenCheckpoint } from "../runs/input/run-input.ts";
import { assistantOf } from "./assistant-routes.ts";
import type { Call, Handlers } from "./call.ts";
import { checkRun } from "./checked-request.ts";
import { byteLimit, pageAnswer, pageHeaders, selected } from "./listing.ts";
import type { Services } from "./services.ts";
import { threadOf } from "./thread-parts.ts";

export const cronRoutes: Handlers<"crons"> = {
  "crons.create": async (call) => createCron(call, call.body, null),

  "crons.createForThread": async (call) => {
    const { thread_id: threadId } = await threadOf(call.services, call.owner, call.parameters.thread_id);
    return createCron(call, call.body, threadId);
  },

  "crons.search": async (call) => {
    const { owner, body, services } = call;
    const query = { ...body, limit: body?.limit ?? 10, offset: body?.offset ?? 0 };
    const { crons } = services.records;
    const found = await crons.search(owner, query, byteLimit(services.limits));
    const headers = pageHeaders(query, found.length, await crons.count(owner, query));
    return pageAnswer(call, selected(found, query.select), headers);
  },

  "crons.count": async ({ owner, body, services }) => services.records.crons.count(owner, body ?? {}),

  "crons.update": updateCron,

  "crons.delete": async ({ owner, parameters, services }) => {
    if (!(await services.records.crons.delete(owner, parameters.cron_id))) throw notFound("cron");
    return undefined;
  },
};

type Owned = Pick<Call, "owner" | "services">;

async function createCron(
  { owner, services }: Owned,
  body: CreateCron,
  threadId: string | null,
): Promise<Cron> {
  const { schedule, timezone, end_time, enabled, on_run_completed, metadata, ...payload } = body;
  const assistant = await assistantOf(services, owner, payload.assistant_id);
  await checkRequest(services, payload, assistant, threadId);
  const now = new Date().toISOString();
  const times = {
    schedule,
    timezone: timezone ?? null,
    end_time: end_time ?? null,
    enabled: enabled ?? true,
  };
  return addCron(services, owner, {
    cron_id: randomUUID(),
    thread_id: threadId,
    ...times,
    assistant_id: assistant.assistant_id,
    on_run_completed: on_run_completed ?? "delete",
    payload,
    user_id: owner,
    next_run_date: nextDateOf(services, times),
    metadata: metadata ?? {},
    created_at: now,
    updated_at: now,
  });
}

async function updateCron({ owner, parameters, body, services }: Call<"crons.update">): Promise<Cron> {
  const known = await services.records.crons.get(owner, parameters.cron_id);
  if (!known) throw notFound("cron");
  const { schedule, timezone, end_time, enabled, on_run_completed, metadata, ...rest } = body;
  const assistant = await assistantOf(services, owner, known.assistant_id);
  await checkRequest(services, rest, assistant, known.thread_id);
  const times = {
    schedule: schedule ?? known.schedule,
    timezone: timezone === undefined ? known.timezone : timezone,
    end_time: end_time === undefined ? known.end_time : end_time,
    enabled: enabled ?? known.enabled,
  };
  return services.records.crons.put(owner, {
    ...known,
    ...times,
    on_run_completed: on_run_completed ?? known.on_run_completed,
    payload: { ...known.payload, ...rest },
    next_run_date: nextDateOf(services, times),
    metadata: { ...known.metadata, ...metadata },
    updated_at: new Date().toISOString(),
  });
}

/** As a run that begins now: what would be refused at every date is refused here. */
async function checkRequest(
  services: Services,
  request: Omit<CreateCron, "schedule" | "assistant_id">,
  { graph_id }: Assistant,
  threadId: string | null,
): Promise<void> {
  const { engineCommands, tenants, runs, agents } = services;
  checkRun(request, { engineCommands, tenants, ...(threadId !== null && { threadId }) });
  if (request.webhook) runs.checkWebhook(request.webhook);
  await checkInput(request, () => agents.load(graph_id));
  const { checkpoint_id: checkpointId } = chosenCheckpoint(request);
  if (checkpointId === undefined) return;
  if (threadId === null) throw notFound("checkpoint");
  await checkCheckpointIsThere(await agents.load(graph_id), { threadId, checkpointId });
}

function nextDateOf({ limits }: Services, times: Times): string | null {
  checkInterval(times, limits.cronSeconds);
  return nextDate(times);
}

/** Counted before and behind it: of requests that come at once none slips through. */
async function addCron({ records, limits }: Services, owner: string, cron: Cron): Promise<Cron> {
  const { crons } = records;
  if ((await crons.count(owner, {})) >= limits.crons) throw tooMany(limits.crons);
  const added = await crons.put(owner, cron);
  if ((await crons.count(owner, {})) <= limits.crons) return added;
  await crons.delete(owner, cron.cron_id);
  throw tooMany(limits.crons);
}

function tooMany(most: number): Problem {
  return new Problem(
    "QUOTA_EXCEEDED",
    `A caller may have ${most} crons on this server; delete one that is not needed.`,
  );
}
