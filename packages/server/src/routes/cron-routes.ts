/** Crons: runs that begin by the clock. */
import { randomUUID } from "node:crypto";
import type { CreateCron, Cron } from "@deepwright/protocol";
import { nextDate } from "../crons/schedule.ts";
import { notFound } from "../http/problems.ts";
import { assistantOf } from "./assistant-routes.ts";
import type { Call, Handlers } from "./call.ts";
import { checkRun } from "./checked-request.ts";
import { selected } from "./listing.ts";
import type { Services } from "./services.ts";
import { threadOf } from "./thread-parts.ts";

export const cronRoutes: Handlers<"crons"> = {
  "crons.create": async (call) => createCron(call, call.body, null),

  "crons.createForThread": async (call) => {
    const { thread_id: threadId } = await threadOf(call.services, call.owner, call.parameters.thread_id);
    return createCron(call, call.body, threadId);
  },

  "crons.search": async ({ owner, body, services }) => {
    const query = { ...body, limit: body?.limit ?? 10, offset: body?.offset ?? 0 };
    return selected(await services.records.crons.search(owner, query), query.select);
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
  check(services, payload, threadId);
  const now = new Date().toISOString();
  const times = {
    schedule,
    timezone: timezone ?? null,
    end_time: end_time ?? null,
    enabled: enabled ?? true,
  };
  return services.records.crons.put(owner, {
    cron_id: randomUUID(),
    thread_id: threadId,
    ...times,
    ...(await assistantFor(services, owner, payload.assistant_id)),
    on_run_completed: on_run_completed ?? "delete",
    payload,
    user_id: owner,
    next_run_date: nextDate(times),
    metadata: metadata ?? {},
    created_at: now,
    updated_at: now,
  });
}

async function updateCron({ owner, parameters, body, services }: Call<"crons.update">): Promise<Cron> {
  const known = await services.records.crons.get(owner, parameters.cron_id);
  if (!known) throw notFound("cron");
  const { schedule, timezone, end_time, enabled, on_run_completed, metadata, ...rest } = body;
  check(services, rest, known.thread_id);
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
    next_run_date: nextDate(times),
    metadata: { ...known.metadata, ...metadata },
    updated_at: new Date().toISOString(),
  });
}

async function assistantFor(services: Services, owner: string, id: string) {
  const { assistant_id } = await assistantOf(services, owner, id);
  return { assistant_id };
}

function check(
  { engineCommands }: Services,
  payload: Omit<CreateCron, "schedule" | "assistant_id">,
  threadId: string | null,
): void {
  checkRun(payload, { engineCommands, ...(threadId !== null && { threadId }) });
}
