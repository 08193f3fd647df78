/** SV-14 for runs by the clock: how often, how many, and that they count as those the caller begins itself. */
import { afterEach, describe, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import type { ServeOptions } from "../serve.ts";
import { startServer, type TestServer } from "../server-for-tests.ts";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const cron = (more: object = {}) => ({
  assistant_id: "echo",
  schedule: "0 0 1 1 *",
  input: { messages: [{ role: "user", content: "tick" }] },
  ...more,
});

async function open(options: Partial<ServeOptions>): Promise<TestServer> {
  server = await startServer(options);
  return server;
}

describe("SV-14 a cron", () => {
  test("whose dates are too close is refused, when it is made and when it is changed", async () => {
    const { call } = await open({});
    const close = { status: 400, body: { code: "INVALID_REQUEST", message: /dates .* s apart/ } };
    for (const schedule of ["* * * * * *", "*/30 * * * * *", "0,59 * * * * *", "0,1 0 0 1 1 *"])
      expect(await call("POST", "/runs/crons", cron({ schedule })), schedule).toMatchObject({
        status: close.status,
        body: { code: close.body.code, message: expect.stringMatching(close.body.message) },
      });
    const made = await call("POST", "/runs/crons", cron({ schedule: "* * * * *" }));
    expect(made.status).toBe(200);
    const place = `/runs/crons/${made.body.cron_id}`;
    expect(await call("PATCH", place, { schedule: "* * * * * *" })).toMatchObject({ status: 400 });
    expect(await call("PATCH", place, { schedule: "30 * * * * *" })).toMatchObject({ status: 200 });
  });

  test("beyond as many as a caller may have is refused, also of many at once", async () => {
    const { call } = await open({ limits: { crons: 5 } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => call("POST", "/runs/crons", cron())));
    const { body: first } = await call("POST", "/runs/crons/count", {});
    expect(first).toBeLessThanOrEqual(5);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(first);
    for (let more = first; more < 5; more += 1) await call("POST", "/runs/crons", cron());
    expect(await call("POST", "/runs/crons", cron())).toMatchObject({
      status: 403,
      body: { code: "QUOTA_EXCEEDED", message: expect.stringContaining("5 crons") },
    });
    const { body: all } = await call("POST", "/runs/crons/search", { limit: 100 });
    await call("DELETE", `/runs/crons/${all[0].cron_id}`);
    expect(await call("POST", "/runs/crons", cron())).toMatchObject({ status: 200 });
  });

  test("begins no run beyond the rate of its owner, and does so when there is room", async () => {
    const { call, app } = await open({
      limits: { runs: { burst: 5, perSecond: 1 }, crons: 100 },
      runs: { cronInterval: 0.05 },
      authenticate: ({ headers }) => ({ identity: headers.get("x-api-key") ?? "nobody" }),
    });
    const { crons, threads } = app.storage.records;
    const runsOf = (owner: string) => threads.count(owner, {});
    const due = async (owner: string, count: number) => {
      for (let n = 0; n < count; n += 1) {
        const { body } = await call("POST", "/runs/crons", cron(), { "x-api-key": owner });
        await crons.put(owner, { ...body, next_run_date: new Date(Date.now() - 1_000).toISOString() });
      }
    };
    const begun = performance.now();
    await due("greedy", 60);
    await due("modest", 2);
    await until(async () => (await runsOf("modest")) === 2);
    // More than at once.
    await until(async () => (await runsOf("greedy")) >= 7);
    const runs = await runsOf("greedy");
    expect(runs).toBeLessThanOrEqual(5 + Math.ceil((performance.now() - begun) / 1_000));
    expect(await runsOf("modest")).toBe(2);
  });
});
