/** Runs by the clock. */
import type { Cron } from "@deepwright/protocol";
import { say } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { agentOf, OWNER, openSite, userSays } from "../runs/service-for-tests.ts";
import { createCronTicker } from "./cron-ticker.ts";
import { nextDate } from "./schedule.ts";

const times = { schedule: "0 */6 * * *", timezone: null, end_time: null, enabled: true };

describe("a schedule", () => {
  test("has a next date in its time zone, also over the change of the clocks", () => {
    expect(nextDate(times, new Date("2026-01-01T01:00:00Z"))).toBe("2026-01-01T06:00:00.000Z");
    const berlin = { ...times, schedule: "30 2 * * *", timezone: "Europe/Berlin" };
    expect(nextDate(berlin, new Date("2026-01-01T00:00:00Z"))).toBe("2026-01-01T01:30:00.000Z");
    // 02:30 is not there on this day.
    expect(Date.parse(nextDate(berlin, new Date("2026-03-28T12:00:00Z")) as string)).toBeGreaterThan(0);
  });

  test("ends, and is silent when it is off", () => {
    const after = new Date("2026-01-01T01:00:00Z");
    expect(nextDate({ ...times, end_time: "2026-01-01T05:00:00Z" }, after)).toBeNull();
    expect(nextDate({ ...times, enabled: false }, after)).toBeNull();
  });

  test("that is none is refused", () => {
    for (const wrong of [{ schedule: "every day" }, { schedule: "99 * * * *" }, { timezone: "Mars/Base" }])
      expect(() => nextDate({ ...times, ...wrong })).toThrow(expect.objectContaining({ status: 400 }));
  });
});

function cronOf(more: Partial<Cron>): Cron {
  const now = new Date().toISOString();
  return {
    cron_id: "c1",
    assistant_id: "agent",
    thread_id: null,
    ...times,
    on_run_completed: "keep",
    payload: { input: userSays("tick") },
    user_id: OWNER,
    next_run_date: new Date(Date.now() - 1_000).toISOString(),
    metadata: {},
    created_at: now,
    updated_at: now,
    ...more,
  };
}

describe("a cron", () => {
  test("that is due begins one run, however many processes tick", async () => {
    const { agent, model } = agentOf(() => say("done"));
    const site = await openSite({ agent }, { cronInterval: 600 });
    await site.records.crons.put(OWNER, cronOf({}));
    const ticker = () =>
      createCronTicker({
        crons: site.records.crons,
        start: site.runs.start,
        tickMs: 1_000,
        onError: () => {},
      });
    await Promise.all(Array.from({ length: 8 }, () => ticker().tick()));
    await until(async () =>
      (await site.records.threads.search(OWNER, { limit: 50, offset: 0, status: "idle" })).some(
        ({ values }) => values !== null,
      ),
    );
    expect(model.callCount).toBe(1);
    const next = (await site.records.crons.get(OWNER, "c1"))?.next_run_date as string;
    expect(Date.parse(next)).toBeGreaterThan(Date.now());
    await ticker().tick();
    expect(model.callCount).toBe(1);
  });

  test("on a thread adds to it, and is ticked by the service itself", async () => {
    const site = await openSite({ agent: agentOf(() => say("done")).agent }, { cronInterval: 0.05 });
    const run = await site.runs.start({
      owner: OWNER,
      threadId: "t1",
      request: { assistant_id: "agent", if_not_exists: "create", input: userSays("first") },
    });
    await site.runs.wait(OWNER, run.run_id);
    await site.records.crons.put(OWNER, cronOf({ thread_id: "t1" }));
    await until(
      async () =>
        (await site.runs.list(OWNER, "t1", { limit: 9, offset: 0, status: "success" })).length === 2,
    );
  });

  test("whose date was set while the clock was a year ahead begins again when the clock is right", async () => {
    const site = await openSite({ agent: agentOf(() => say("done")).agent }, { cronInterval: 600 });
    const begun: unknown[] = [];
    const ticker = createCronTicker({
      crons: site.records.crons,
      start: async (run) => {
        begun.push(run.idempotencyKey);
        return site.runs.start(run);
      },
      tickMs: 1_000,
      onError: () => {},
    });
    const yearly = cronOf({
      cron_id: "yearly",
      schedule: "0 0 1 1 *",
      next_run_date: "2027-01-01T00:00:00.000Z",
    });
    await site.records.crons.put(OWNER, yearly);
    await site.records.crons.put(OWNER, cronOf({ next_run_date: "2027-06-01T06:00:00.000Z" }));
    await ticker.tick(new Date("2027-06-01T06:00:01Z"));
    await ticker.tick(new Date("2026-06-01T06:00:01Z"));
    await ticker.tick(new Date("2026-06-01T12:00:01Z"));
    expect(begun.slice(2)).toEqual(["cron:c1:2026-06-01T12:00:00.000Z"]);
    const dateOf = async (id: string) => (await site.records.crons.get(OWNER, id))?.next_run_date;
    expect(await dateOf("c1")).toBe("2026-06-01T18:00:00.000Z");
    expect(await dateOf("yearly")).toBe("2027-01-01T00:00:00.000Z");
  });

  test("whose assistant is gone skips the date and harms no other", async () => {
    const site = await openSite({ agent: agentOf(() => say("done")).agent }, { cronInterval: 600 });
    await site.records.crons.put(OWNER, cronOf({ cron_id: "lost", assistant_id: "nobody" }));
    await site.records.crons.put(OWNER, cronOf({ cron_id: "well" }));
    const errors: unknown[] = [];
    const ticker = createCronTicker({
      crons: site.records.crons,
      start: site.runs.start,
      tickMs: 1_000,
      onError: (error) => errors.push(error),
    });
    await ticker.tick();
    expect(errors).toHaveLength(1);
    for (const id of ["lost", "well"])
      expect(Date.parse((await site.records.crons.get(OWNER, id))?.next_run_date as string)).toBeGreaterThan(
        Date.now(),
      );
  });

  test("that fails is told of, stays due and is tried again later; others begin all the same", async () => {
    const { agent } = agentOf(() => say("done"));
    const site = await openSite({ agent }, { cronInterval: 600 });
    const early = new Date(Date.now() - 60_000).toISOString();
    await site.records.crons.put(OWNER, cronOf({ cron_id: "broken", next_run_date: early }));
    await site.records.crons.put("bob", cronOf({ cron_id: "broken", user_id: "bob" }));
    await site.records.crons.put(OWNER, cronOf({ cron_id: "well" }));
    const errors: unknown[] = [];
    let isBroken = true;
    const begun: string[] = [];
    const ticker = createCronTicker({
      crons: site.records.crons,
      start: async (run) => {
        const name = `${run.owner} ${run.request.metadata?.cron_id}`;
        if (name === `${OWNER} broken` && isBroken) throw new Error("The factory of the agent throws.");
        begun.push(name);
        return site.runs.start(run);
      },
      tickMs: 1_000,
      onError: (error) => errors.push(error),
    });
    const dateOf = async (id: string) => (await site.records.crons.get(OWNER, id))?.next_run_date as string;
    await ticker.tick();
    await ticker.tick();
    expect(begun.sort()).toEqual([`${OWNER} well`, "bob broken"]);
    expect(errors).toHaveLength(1);
    expect(await dateOf("broken")).toBe(early);
    expect(Date.parse(await dateOf("well"))).toBeGreaterThan(Date.now());
    isBroken = false;
    await ticker.tick(new Date(Date.now() + 30_000));
    expect(begun).toContain(`${OWNER} broken`);
    expect(Date.parse(await dateOf("broken"))).toBeGreaterThan(Date.now());
  });
});
