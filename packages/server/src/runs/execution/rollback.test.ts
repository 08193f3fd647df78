/** Runs that one worker began and another one ends: what was done of them is undone, or shown. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { callTool, say } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import {
  agentOf,
  begin,
  eventsOf,
  gate,
  namesOf,
  OWNER,
  openSite,
  type Site,
  type SiteOptions,
  simpleTool,
  textsOf,
  userSays,
} from "../service-for-tests.ts";

/** `work` is a quick call and one that lasts until it is broken off; anything else is answered at once. */
function worker() {
  const { opened: begun, open: begins } = gate();
  const quick = simpleTool("quick", () => "quick done");
  const slow = simpleTool("slow", (_, { signal }) => {
    begins();
    return new Promise((_done, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
  });
  const { agent } = agentOf(
    ({ messages }) => {
      const last = messages.at(-1);
      if (ToolMessage.isInstance(last)) return last.name === "quick" ? callTool("slow") : say("done");
      return HumanMessage.isInstance(last) && last.text === "work"
        ? callTool("quick")
        : say(`re: ${last?.text}`);
    },
    { tools: [quick, slow] },
  );
  return { agent, begun };
}

/** A thread with a run that was given back in the middle, and another process that works on nothing yet. */
async function givenBack({ before = true, ...more }: { before?: boolean } & SiteOptions = {}) {
  const { agent, begun } = worker();
  const one = await openSite({ agent }, more);
  if (before) await one.runs.wait(OWNER, (await begin(one, "t1", { input: userSays("hello") })).run_id);
  const run = await begin(one, "t1", { input: userSays("work") });
  await begun;
  await one.close(0);
  const other = (options: SiteOptions = {}) =>
    openSite({ agent: worker().agent }, { directory: one.directory, ...more, ...options });
  const api = await other({ works: false });
  expect(await api.runs.get(OWNER, run.run_id)).toMatchObject({ status: "pending" });
  expect(await storedTexts(api)).toContain("quick done");
  return { run, api, other };
}

/** The state of the thread, whatever listings show. */
async function storedTexts({ registry }: Pick<Site, "registry">): Promise<string[]> {
  const agent = await registry.load("agent");
  const { values } = await agent.getState({ configurable: { thread_id: "t1" } });
  return (values.messages ?? []).map(({ text }: { text: string }) => text);
}

const isGone = (site: Site, runId: string) => async () => (await site.runs.get(OWNER, runId)) === undefined;

describe("a run that a worker gave back", () => {
  test("and that is cancelled with rollback leaves nothing in its thread", async () => {
    const { run, api, other } = await givenBack();
    await api.runs.cancel(OWNER, run.run_id, { action: "rollback" });
    const two = await other();
    await until(isGone(two, run.run_id));
    expect(await storedTexts(two)).toEqual(["hello", "re: hello"]);
    expect(await textsOf(two, "t1")).toEqual(["hello", "re: hello"]);
    expect(await two.records.threads.get(OWNER, "t1")).toMatchObject({ status: "idle" });
    expect(two.errors).toEqual([]);
  });

  test("and that was the first of its thread leaves the thread as if nothing had been", async () => {
    const { run, api, other } = await givenBack({ before: false });
    await api.runs.cancel(OWNER, run.run_id, { action: "rollback" });
    const two = await other();
    await until(isGone(two, run.run_id));
    expect(await storedTexts(two)).toEqual([]);
    expect(await textsOf(two, "t1")).toEqual([]);
  });

  test("and that another takes the thread from by rollback is undone before that one begins", async () => {
    const { run, api, other } = await givenBack();
    const next = await begin(api, "t1", { input: userSays("instead"), multitask_strategy: "rollback" });
    const two = await other();
    await two.runs.wait(OWNER, next.run_id);
    expect(await two.runs.get(OWNER, run.run_id)).toBeUndefined();
    expect(await storedTexts(two)).toEqual(["hello", "re: hello", "instead", "re: instead"]);
  });

  test("and that another takes the thread from by interrupt says so behind what it did", async () => {
    const { run, api, other } = await givenBack();
    const next = await begin(api, "t1", { input: userSays("instead"), multitask_strategy: "interrupt" });
    const two = await other();
    await two.runs.wait(OWNER, next.run_id);
    expect(namesOf(await eventsOf(two, run.run_id)).slice(-2)).toEqual(["replaced", "end"]);
    expect(await two.runs.get(OWNER, run.run_id)).toMatchObject({ status: "interrupted" });
    const texts = await storedTexts(two);
    expect(texts).toContain("quick done");
    expect(texts.slice(-2)).toEqual(["instead", "re: instead"]);
  });

  test("and that is cancelled keeps what it did, which listings show", async () => {
    const { run, api, other } = await givenBack();
    await api.runs.cancel(OWNER, run.run_id);
    const two = await other();
    await two.runs.wait(OWNER, run.run_id);
    expect(await two.runs.get(OWNER, run.run_id)).toMatchObject({ status: "interrupted" });
    expect((await textsOf(two, "t1")).slice(0, 3)).toEqual(["hello", "re: hello", "work"]);
    expect(await textsOf(two, "t1")).toContain("quick done");
  });

  test("and whose agent cannot be had any more is not said to be undone", async () => {
    const { run, api, other } = await givenBack();
    await api.runs.cancel(OWNER, run.run_id, { action: "rollback" });
    const broken = () => {
      throw new Error("There is no such agent.");
    };
    const two = await openSite({ agent: broken }, { directory: api.directory });
    await two.runs.wait(OWNER, run.run_id);
    expect(await two.runs.get(OWNER, run.run_id)).toMatchObject({
      status: "error",
      error: { message: "There is no such agent." },
    });
    expect(await storedTexts(await other({ works: false }))).toContain("quick done");
  });

  test("and that had read mail does not read it again when it is cancelled", async () => {
    const { agent, opened, steered } = steeredWorker();
    const one = await openSite({ agent });
    const run = await begin(one, "t1", { input: userSays("go") });
    await opened;
    await one.runs.steer(OWNER, "t1", { id: "letter", content: "letter" });
    await until(async () => steered());
    await one.close(0);
    const two = await openSite({ agent }, { directory: one.directory, works: false });
    expect(await two.records.mail.waiting("t1", ["steer"])).toHaveLength(1);
    await two.runs.cancel(OWNER, run.run_id);
    await two.runs.open();
    await two.runs.wait(OWNER, run.run_id);
    expect(await two.records.mail.waiting("t1", ["steer"])).toEqual([]);
    expect(await textsOf(two, "t1")).toContain("letter");
  });
});

test("a run that was to end before anybody began it takes nothing from its thread", async () => {
  const site = await openSite({ agent: worker().agent });
  await site.runs.wait(OWNER, (await begin(site, "t1", { input: userSays("hello") })).run_id);
  await site.close();
  const two = await openSite({ agent: worker().agent }, { directory: site.directory, works: false });
  const run = await begin(two, "t1", { input: userSays("work") });
  // All that a worker came to say of it before it died.
  const claim = await two.records.runs.claimNext("t1", "dead", 1);
  await two.records.events.append(claim!, [{ event: "replaced", data: "{}" }]);
  await two.runs.cancel(OWNER, run.run_id, { action: "rollback" });
  await two.runs.open();
  await until(isGone(two, run.run_id));
  expect(await storedTexts(two)).toEqual(["hello", "re: hello"]);
});

/** Naps until a letter has come, then until it is broken off. */
function steeredWorker() {
  const { opened, open } = gate();
  let steered = false;
  const nap = simpleTool("nap", async (_, { signal }) => {
    open();
    if (steered)
      await new Promise((_done, fail) => signal.addEventListener("abort", () => fail(signal.reason)));
    await new Promise((go) => setTimeout(go, 50));
    return "slept";
  });
  const { agent } = agentOf(
    ({ messages }) => {
      steered ||= messages.some(({ text }) => text === "letter");
      return callTool("nap");
    },
    { tools: [nap] },
  );
  return { agent, opened, steered: () => steered };
}

/** As of a worker that is dead, and whose claim on the thread has not run out. */
describe("while somebody holds its thread, a run that was begun before", () => {
  const hold = ({ saver }: Site) => saver.claimThread("t1", { mode: "refuse", ttl: 600 });
  const isTaken = (site: Site, runId: string) => async () =>
    (await site.runs.get(OWNER, runId))?.status === "running";

  test("and that is cancelled with rollback meanwhile is undone as soon as the thread is free", async () => {
    const { run, api, other } = await givenBack();
    const held = await hold(api);
    const two = await other();
    await until(isTaken(two, run.run_id));
    await two.runs.cancel(OWNER, run.run_id, { action: "rollback" });
    await new Promise((go) => setTimeout(go, 200));
    expect(await two.runs.get(OWNER, run.run_id)).toMatchObject({ status: "running" });
    await held.release();
    await until(isGone(two, run.run_id));
    expect(await storedTexts(two)).toEqual(["hello", "re: hello"]);
  });

  test("is given back by a worker that has to go, and undone by the next", async () => {
    const { run, api, other } = await givenBack();
    const held = await hold(api);
    await api.runs.cancel(OWNER, run.run_id, { action: "rollback" });
    const two = await other();
    await until(isTaken(two, run.run_id));
    await two.close(50);
    expect(await api.runs.get(OWNER, run.run_id)).toMatchObject({ status: "pending", cancel: "rollback" });
    await held.release();
    const three = await other();
    await until(isGone(three, run.run_id));
    expect(await storedTexts(three)).toEqual(["hello", "re: hello"]);
  });

  test("is left alone by a worker that lost it", async () => {
    const { run, api, other } = await givenBack({ claimTtl: 0.6 });
    const held = await hold(api);
    await api.runs.cancel(OWNER, run.run_id, { action: "rollback" });
    const two = await other();
    await until(isTaken(two, run.run_id));
    const texts = await storedTexts(two);
    await api.records.runs.delete(OWNER, run.run_id);
    await held.release();
    await until(() => two.runs.active === 0);
    expect(await storedTexts(two)).toEqual(texts);
  });
});
