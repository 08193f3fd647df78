/** A run that another one takes the thread from says so to its readers. */
import { callTool, say } from "deepwright/testing";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import {
  agentOf,
  begin,
  eventsOf,
  gate,
  openSite,
  type Site,
  simpleTool,
  userSays,
} from "../service-for-tests.ts";

test.each(["interrupt", "rollback"] as const)(
  "%s: the event `replaced` names the other run, before `end`",
  async (strategy) => {
    const began = gate();
    const wait = simpleTool("wait", () => {
      began.open();
      return new Promise(() => {});
    });
    const { agent } = agentOf(
      ({ messages }) => (String(messages.at(-1)?.text) === "go" ? callTool("wait") : say("done")),
      {
        tools: [wait],
      },
    );
    const site = await openSite({ agent });
    const watched = watchedRuns(site);
    const first = await begin(site, "t1", { input: userSays("go") });
    const events = eventsOf(site, first.run_id);
    await began.opened;
    const queued = await begin(site, "t1", { input: userSays("go") });
    const queuedEvents = eventsOf(site, queued.run_id);
    // Both are watched before they end: a run that is undone takes its events along.
    await until(() => watched.has(first.run_id) && watched.has(queued.run_id));
    const other = await begin(site, "t1", { input: userSays("stop"), multitask_strategy: strategy });
    const seen = (await events).slice(-2).map(({ event, data }) => [event, JSON.parse(data)]);
    expect(seen).toMatchObject([
      ["replaced", { run_id: first.run_id, by: other.run_id, strategy }],
      ["end", { status: "interrupted" }],
    ]);
    const ofQueued = (await queuedEvents).map(({ event, data }) => [event, JSON.parse(data)]);
    if (strategy === "interrupt")
      expect(ofQueued).toEqual([
        ["replaced", { by: other.run_id, strategy }],
        ["end", { status: "interrupted" }],
      ]);
    await until(async () => (await site.runs.get("ada", other.run_id))?.status === "success");
  },
);

/** Ids of runs that somebody reads the events of. */
function watchedRuns({ records: { events } }: Site): Set<string> {
  const { watch } = events;
  const watched = new Set<string>();
  events.watch = (runId, changed) => {
    watched.add(runId);
    return watch.call(events, runId, changed);
  };
  return watched;
}

test("a run that a client ends was replaced by nobody", async () => {
  const began = gate();
  const wait = simpleTool("wait", () => {
    began.open();
    return new Promise(() => {});
  });
  const site = await openSite({ agent: agentOf([callTool("wait")], { tools: [wait] }).agent });
  const run = await begin(site, "t1", { input: userSays("go") });
  await began.opened;
  await site.runs.cancel("ada", run.run_id);
  expect((await eventsOf(site, run.run_id)).map(({ event }) => event)).not.toContain("replaced");
});
