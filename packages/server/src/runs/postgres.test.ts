/** Runs on Postgres, where any process may start, work on, steer and end them. */
import { PostgresSaver } from "@deepwright/checkpoint/postgres";
import { ToolMessage } from "@langchain/core/messages";
import { callTool, say } from "deepwright/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type TestDatabase, testDatabase } from "../../../checkpoint/src/test-support/postgres.ts";
import { createAgentRegistry } from "../agents/registry.ts";
import { createGraphileQueue } from "../queue/graphile.ts";
import { openRecords } from "../records/open-records.ts";
import { createRunService } from "./run-service.ts";
import {
  agentOf,
  begin,
  eventsOf,
  gate,
  mailSeen,
  namesOf,
  OWNER,
  simpleTool,
  textsOf,
  userSays,
} from "./service-for-tests.ts";

let database: TestDatabase;
const open: (() => Promise<void>)[] = [];
beforeAll(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});
afterAll(() => database.drop());

async function process(agent: object, role: "api" | "worker" | "both" = "both") {
  const saver = await PostgresSaver.open(database.url);
  const records = await openRecords({ postgres: database.url });
  const claimTtl = 60;
  const registry = createAgentRegistry({ agents: { agent }, saver, claimTtl });
  const queue = createGraphileQueue({ connectionString: database.url });
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const pollInterval = 0.1;
  const runs = createRunService({ records, registry, saver, queue, role, onError, claimTtl, pollInterval });
  await runs.open();
  open.push(async () => {
    await runs.close({ limitMs: 2_000 });
    await records.close();
    await saver.close();
  });
  return { runs, records, saver, errors };
}

describe("three processes on one database", () => {
  test("R-09: what two of them start on one thread is all there, each message with its answer", async () => {
    const { agent } = agentOf(({ messages }) => say(`re: ${messages.at(-1)?.text}`));
    const [one, two, worker] = [
      await process(agent, "api"),
      await process(agent),
      await process(agent, "worker"),
    ];
    const started = [];
    for (let n = 0; n < 10; n += 1)
      started.push(
        begin(one, "shared", { input: userSays(`a${n}`) }),
        begin(two, "shared", { input: userSays(`b${n}`) }),
      );
    for (const run of await Promise.all(started)) {
      const events = await eventsOf(one, run.run_id);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
      expect(namesOf(events).at(-1)).toBe("end");
    }
    const texts = await textsOf(one, "shared");
    expect(texts).toHaveLength(40);
    for (let n = 0; n < texts.length; n += 2) expect(texts[n + 1]).toBe(`re: ${texts[n]}`);
    expect(new Set(texts).size).toBe(40);
    expect([...one.errors, ...two.errors, ...worker.errors]).toEqual([]);
  });

  test("a run is steered and ended from a process that does not work on it", async () => {
    const door = gate();
    const begun = gate();
    const wait = simpleTool("wait", async () => {
      begun.open();
      await door.opened;
      return "waited";
    });
    const { agent } = agentOf(
      ({ messages }) => {
        const last = messages.at(-1) as any;
        if (last.text === "stop here") return callTool("wait");
        if (ToolMessage.isInstance(last)) return say("done");
        return last.text === "slow" ? callTool("wait") : say(`re: ${last.text}`);
      },
      { tools: [wait] },
    );
    const api = await process(agent, "api");
    const worker = await process(agent, "worker");
    const run = await begin(api, "steered", { input: userSays("slow") });
    await begun.opened;
    await api.runs.steer(OWNER, "steered", { content: "left" });
    await mailSeen(worker);
    door.open();
    await api.runs.wait(OWNER, run.run_id);
    expect((await textsOf(api, "steered")).slice(-2)).toEqual(["left", "re: left"]);
  });

  test.each(["cancel", "strategy"])(
    "a run that one of them gave back is undone by another before anything else is done (%s)",
    async (how) => {
      const begun = gate();
      const wait = simpleTool("wait", (_, { signal }) => {
        begun.open();
        return new Promise((_done, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
      });
      const { agent } = agentOf(
        ({ messages }) => {
          const { text } = messages.at(-1) as { text: string };
          return text === "slow" ? callTool("wait") : say(`re: ${text}`);
        },
        { tools: [wait] },
      );
      const threadId = `given back, ${how}`;
      const api = await process(agent, "api");
      const first = await process(agent, "worker");
      await api.runs.wait(OWNER, (await begin(api, threadId, { input: userSays("before") })).run_id);
      const run = await begin(api, threadId, { input: userSays("slow") });
      await begun.opened;
      await first.runs.close({ limitMs: 0 });
      expect(await api.runs.get(OWNER, run.run_id)).toMatchObject({ status: "pending" });
      if (how === "cancel") await api.runs.cancel(OWNER, run.run_id, { action: "rollback" });
      const multitask_strategy = how === "cancel" ? "enqueue" : "rollback";
      const next = await begin(api, threadId, { input: userSays("instead"), multitask_strategy });
      const second = await process(agent, "worker");
      await api.runs.wait(OWNER, next.run_id);
      expect(await api.runs.get(OWNER, run.run_id)).toBeUndefined();
      expect(await textsOf(api, threadId)).toEqual(["before", "re: before", "instead", "re: instead"]);
      expect([...api.errors, ...second.errors]).toEqual([]);
    },
  );
});
