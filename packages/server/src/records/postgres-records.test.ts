import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { lossyProxy } from "../../../checkpoint/src/test-support/lossy-proxy.ts";
import {
  privatePostgres,
  type TestDatabase,
  testDatabase,
} from "../../../checkpoint/src/test-support/postgres.ts";
import { openRecords } from "./open-records.ts";
import type { ServerRecords } from "./records.ts";
import {
  assistant,
  claimed,
  cron,
  finished,
  newRun,
  newThread,
  said,
  started,
  TTL,
  thread,
} from "./suites/facts-for-tests.ts";
import { recordsSuite } from "./suites/records-suite-for-tests.ts";

let database: TestDatabase;
let records: ServerRecords;

beforeAll(async () => {
  database = await testDatabase();
  records = await openRecords({ postgres: database.url }, { lookEvery: 0.2 });
});

afterAll(async () => {
  await records.close();
  await database.drop();
});

recordsSuite("records in Postgres", {
  records: () => records,
  again: () => openRecords({ postgres: database.url }, { lookEvery: 0.2 }),
  edit: (sql) => database.query(sql),
});

describe("processes on one Postgres", () => {
  test("hear of each other's news at once, long before they would look", async () => {
    const reader = await openRecords({ postgres: database.url }, { lookEvery: 3_600 });
    const threadId = await newThread(records, "a");
    const runId = await started(records, "a", threadId);
    const claim = await claimed(records, threadId);
    const changed = vi.fn();
    const stop = reader.events.watch(runId, changed);
    await eventually(() => expect(changed).toHaveBeenCalled());
    for (const act of [
      () => records.events.append(claim, [said("one")]),
      () => records.runs.requestCancel("a", runId, "interrupt"),
      () => finished(records, claim),
    ]) {
      changed.mockClear();
      await act();
      await eventually(() => expect(changed).toHaveBeenCalled());
    }
    stop();
    await reader.close();
  });
});

describe("answers that get lost", () => {
  test("make nothing happen twice, and nothing seem not to have happened", async () => {
    const proxy = await lossyProxy(database.url, (commit) => commit > 12 && commit % 2 === 0);
    const far = await openRecords({ postgres: proxy.url });
    const threadId = await newThread(far, "lost");
    for (let turn = 0; turn < 4; turn += 1) {
      const more = thread("lost", { metadata: { turn } });
      expect(await far.threads.put("lost", more, { ifExists: "raise" })).toMatchObject({
        metadata: { turn },
      });
      const helper = assistant();
      expect(await far.assistants.put("lost", helper, { ifExists: "raise" })).toEqual(helper);
      const unwanted = await started(far, "lost", more.thread_id);
      expect(await far.runs.requestCancel("lost", unwanted, "interrupt")).toMatchObject({
        status: "interrupted",
      });
      const run = newRun("lost", threadId, { idempotencyKey: `key ${turn}`, requestHash: "h" });
      expect(await far.runs.start(run)).toMatchObject({ kind: "created", run: { run_id: run.runId } });
      const claim = await claimed(far, threadId);
      expect(claim.run).toMatchObject({ run_id: run.runId, attempts: 1 });
      expect(await far.events.append(claim, [said("one"), said("two")])).toBe(2);
      expect(await far.events.append(claim, [said("three")])).toBe(3);
      expect(await far.runs.keepClaim(claim, TTL)).toBeDefined();
      const end = { status: "success", threadStatus: "idle" } as const;
      expect(await far.runs.finish(claim, end, [said("end")])).toBe(true);
      const log = await far.events.read(run.runId, 0, 10);
      expect(log.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
      expect(
        await far.mail.post("lost", threadId, { id: `mail ${turn}`, kind: "steer", message: turn }),
      ).toBe(true);
      await far.crons.put("lost", cron({ cron_id: `cron ${turn}` }));
      const due = await far.crons.takeDue(Date.now(), () => null);
      expect(due.filter((one) => one.owner === "lost")).toHaveLength(1);
    }
    expect(await far.mail.waiting(threadId, ["steer"])).toHaveLength(4);
    expect(await far.runs.list("lost", threadId, { limit: 10, offset: 0 })).toHaveLength(4);
    expect(proxy.lost).toBeGreaterThan(10);
    await far.close();
    proxy.close();
  });
});

describe("a Postgres that is killed and started again", () => {
  test("loses nothing of runs that were under way, and doubles nothing", async () => {
    const server = await privatePostgres();
    const homes = [await openRecords({ postgres: server.url }), await openRecords({ postgres: server.url })];
    const threads = await Promise.all(Array.from({ length: 10 }, () => newThread(homes[0]!, "a")));
    let ended = 0;
    const work = async (threadId: string, home: ServerRecords) => {
      for (let index = 0; index < 5; index += 1) {
        const runId = await started(home, "a", threadId);
        const claim = await claimed(home, threadId);
        expect(claim.run).toMatchObject({ run_id: runId, attempts: 1, sequence: index + 1 });
        for (let event = 1; event <= 5; event += 1) {
          expect(await home.events.append(claim, [said(`${event}`)])).toBe(event);
        }
        expect(await finished(home, claim)).toBe(true);
        ended += 1;
        await sleep(100);
      }
    };
    const working = Promise.all(threads.map((threadId, index) => work(threadId, homes[index % 2]!)));
    for (const how of ["kill", "fast"] as const) {
      await sleep(150);
      await server.halt(how);
      await server.start();
    }
    await working;
    expect(ended).toBe(50);
    await Promise.all(homes.map((home) => home.close()));
    await server.stop();
  });
});
