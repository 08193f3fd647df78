/** Messages while a run goes on, and questions to people. */
import { ToolMessage } from "@langchain/core/messages";
import { callTool, say } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import {
  agentOf,
  begin,
  eventsOf,
  gate,
  mailSeen,
  namesOf,
  OWNER,
  openSite,
  simpleTool,
  textsOf,
  userSays,
} from "../service-for-tests.ts";

/** Calls a tool that waits, then repeats what it was last told. */
function waiting() {
  const door = gate();
  const begun = gate();
  const wait = simpleTool("wait", async () => {
    begun.open();
    await door.opened;
    return "waited";
  });
  const { agent, model } = agentOf(
    ({ messages }) => {
      const last = messages.at(-1) as any;
      if (ToolMessage.isInstance(last)) return say("done");
      return last.text === "slow" ? callTool("wait") : say(`re: ${last.text}`);
    },
    { tools: [wait] },
  );
  return { agent, model, open: door.open, begun: begun.opened };
}

describe("steer", () => {
  test("is read before the next model call, in order, and no call is broken off", async () => {
    const { agent, model, open, begun } = waiting();
    const site = await openSite({ agent });
    const run = await begin(site, "t1", { input: userSays("slow"), stream_mode: "updates" });
    await begun;
    const first = await site.runs.steer(OWNER, "t1", { content: "left" });
    expect(first).toMatchObject({ kind: "steer", run_id: run.run_id });
    await site.runs.steer(OWNER, "t1", { content: "right", id: "mail-2" });
    expect(await site.runs.steer(OWNER, "t1", { content: "right", id: "mail-2" })).toMatchObject({
      run_id: null,
    });
    open();
    const events = await eventsOf(site, run.run_id);
    expect(await textsOf(site, "t1")).toEqual(["slow", "", "waited", "left", "right", "re: right"]);
    expect(model.callCount).toBe(2);
    expect(namesOf(events).filter((name) => name === "steer")).toHaveLength(2);
    expect(events.some(({ data }) => data.includes('"__interrupt__":[]'))).toBe(false);
    expect(await site.records.mail.waiting("t1", ["steer"])).toEqual([]);
    expect(await site.runs.list(OWNER, "t1", { limit: 10, offset: 0 })).toHaveLength(1);
  });

  test("and the run's own words stand in the order they came, whoever begins when", async () => {
    const { agent } = waiting();
    const site = await openSite({ agent }, { works: false });
    await begin(site, "t1", { input: userSays("one") });
    await site.runs.steer(OWNER, "t1", { content: "two" });
    await begin(site, "t1", { input: userSays("three") });
    await site.runs.steer(OWNER, "t1", { content: "four" });
    await site.close();
    const other = await openSite({ agent }, { directory: site.directory });
    await until(async () => (await textsOf(other, "t1")).includes("re: three"));
    expect(await textsOf(other, "t1")).toEqual(["one", "two", "four", "re: four", "three", "re: three"]);
  });

  test("that comes before anybody has begun the run is read after its words, in its first turn", async () => {
    const { agent, model } = waiting();
    const site = await openSite({ agent });
    for (let n = 0; n < 20; n += 1) {
      const run = await begin(site, `t${n}`, { input: userSays("a") });
      // At any moment between the start and the first call.
      if (n % 4 > 0) await new Promise((go) => setTimeout(go, (n % 4) * 2));
      await site.runs.steer(OWNER, `t${n}`, { content: "b" });
      await site.runs.wait(OWNER, run.run_id);
      await until(async () => (await textsOf(site, `t${n}`)).includes("re: b"));
      const texts = await textsOf(site, `t${n}`);
      expect([
        ["a", "b", "re: b"],
        ["a", "re: a", "b", "re: b"],
      ]).toContainEqual(texts);
    }
    expect(model.callCount).toBeGreaterThanOrEqual(20);
  });

  test("of a thread at rest begins a run", async () => {
    const { agent } = waiting();
    const site = await openSite({ agent });
    await site.runs.wait(OWNER, (await begin(site, "t1", { input: userSays("a") })).run_id);
    const { run_id } = await site.runs.steer(OWNER, "t1", { content: "b" });
    await site.runs.wait(OWNER, run_id as string);
    expect(await textsOf(site, "t1")).toEqual(["a", "re: a", "b", "re: b"]);
  });

  test("that comes from another process reaches the run", async () => {
    const { agent, open, begun } = waiting();
    const site = await openSite({ agent });
    const other = await openSite({ agent }, { directory: site.directory, role: "api" });
    const run = await begin(site, "t1", { input: userSays("slow") });
    await begun;
    await other.runs.steer(OWNER, "t1", { content: "left" });
    await mailSeen(site);
    open();
    await other.runs.wait(OWNER, run.run_id);
    expect((await textsOf(site, "t1")).slice(-2)).toEqual(["left", "re: left"]);
  });

  test("sixteen completions in one tick are each told once", async () => {
    const { agent, model } = waiting();
    const site = await openSite({ agent });
    await site.runs.wait(OWNER, (await begin(site, "t1", { input: userSays("a") })).run_id);
    const ids = Array.from({ length: 16 }, (_, index) => `task-${index}`);
    await Promise.all(ids.map((id) => site.runs.deliver(OWNER, "t1", { id, message: `${id} is done` })));
    await until(
      async () =>
        (await site.records.threads.get(OWNER, "t1"))?.status === "idle" &&
        (await site.records.mail.waiting("t1", ["completion"])).length === 0,
    );
    expect(await site.runs.deliver(OWNER, "t1", { id: "task-3", message: "again" })).toBe(false);
    await until(async () =>
      (await site.runs.list(OWNER, "t1", { limit: 50, offset: 0 })).every(
        ({ status }) => status === "success",
      ),
    );
    const texts = await textsOf(site, "t1");
    for (const id of ids) expect(texts.filter((text) => text === `${id} is done`)).toHaveLength(1);
    expect(model.callCount).toBeLessThanOrEqual(17);
    expect(site.errors).toEqual([]);
  });

  test("follow-ups are runs after this one, in order and once", async () => {
    const { agent, open, begun } = waiting();
    const site = await openSite({ agent });
    await begin(site, "t1", { input: userSays("slow") });
    await begun;
    const one = await site.runs.followUp(OWNER, "t1", { content: "one", id: "f1" });
    const two = await site.runs.followUp(OWNER, "t1", { content: "two" });
    expect((await site.runs.followUp(OWNER, "t1", { content: "one", id: "f1" })).run_id).toBe(one.run_id);
    open();
    await site.runs.wait(OWNER, two.run_id as string);
    expect(await textsOf(site, "t1")).toEqual([
      "slow",
      "",
      "waited",
      "done",
      "one",
      "re: one",
      "two",
      "re: two",
    ]);
  });
});

describe("a run that is ended after it has read mail", () => {
  /** Naps so often, each time as long as the test wants. */
  const napping = (times: number) => {
    const doors = Array.from({ length: times }, gate);
    let naps = 0;
    const nap = simpleTool("nap", async () => {
      naps += 1;
      await doors[naps - 1]?.opened;
      return "slept";
    });
    const { agent } = agentOf(
      ({ messages }) => {
        const words = messages.filter((message) => message.getType() === "human");
        const isWork = words.some((message) => message.text === "work");
        return isWork && naps < times ? callTool("nap") : say("done");
      },
      { tools: [nap] },
    );
    return { agent, doors, naps: () => naps };
  };
  const letters = (texts: readonly string[]) => texts.filter((text) => /^(?:first|second)$/.test(text));
  const begunWith = async (action: "interrupt" | "rollback") => {
    const { agent, doors, naps } = napping(4);
    const site = await openSite({ agent });
    const before = await begin(site, "t1", { input: userSays("hello") });
    await site.runs.wait(OWNER, before.run_id);
    const run = await begin(site, "t1", { input: userSays("work") });
    for (const [index, content] of ["first", "second"].entries()) {
      await until(() => naps() === index + 1);
      await site.runs.steer(OWNER, "t1", { id: content, content });
      doors[index]?.open();
    }
    await until(() => naps() === 3);
    await site.runs.cancel(OWNER, run.run_id, { action, wait: true });
    const open = () => {
      for (const door of doors) door.open();
    };
    return { site, open };
  };

  test("and is rolled back: all of it is read again, in its order", async () => {
    const { site, open } = await begunWith("rollback");
    open();
    await expect.poll(() => textsOf(site, "t1")).toEqual(["hello", "done", "first", "second", "done"]);
    await until(async () => (await site.records.mail.waiting("t1", ["steer"])).length === 0);
  });

  test("and keeps what it did: none of it is read again", async () => {
    const { site, open } = await begunWith("interrupt");
    open();
    expect(await site.records.mail.waiting("t1", ["steer"])).toEqual([]);
    expect(letters(await textsOf(site, "t1"))).toEqual(["first", "second"]);
  });
});

describe("an interrupt", () => {
  const asking = () => {
    let effects = 0;
    const send = simpleTool("send", () => {
      effects += 1;
      return "sent";
    });
    const { agent } = agentOf(
      ({ messages }) => (ToolMessage.isInstance(messages.at(-1)) ? say("done") : callTool("send")),
      { tools: [send], interruptOn: { send: true } },
    );
    return { agent, effects: () => effects };
  };
  const approve = { command: { resume: { decisions: [{ type: "approve" }] } } };

  test("is listed, answered in another process, and done once", async () => {
    const { agent, effects } = asking();
    const site = await openSite({ agent });
    const run = await begin(site, "t1", { input: userSays("send it") });
    const outcome = await site.runs.wait(OWNER, run.run_id);
    expect(outcome).toHaveProperty("__interrupt__.0.value");
    expect(await site.runs.get(OWNER, run.run_id)).toMatchObject({ status: "interrupted" });
    expect(await site.records.threads.get(OWNER, "t1")).toMatchObject({ status: "interrupted" });
    await site.close();
    const other = await openSite({ agent }, { directory: site.directory });
    const answer = await begin(other, "t1", approve);
    await other.runs.wait(OWNER, answer.run_id);
    expect((await textsOf(other, "t1")).at(-1)).toBe("done");
    expect(effects()).toBe(1);
    await expect(begin(other, "t1", approve)).rejects.toMatchObject({
      code: "NOTHING_TO_RESUME",
      status: 409,
    });
  });

  test("R-10: of many answers at once one counts, the others are refused", async () => {
    const { agent, effects } = asking();
    const site = await openSite({ agent });
    for (const thread of ["t1", "t2", "t3"]) {
      await site.runs.wait(OWNER, (await begin(site, thread, { input: userSays("send it") })).run_id);
      const before = effects();
      const answers = await Promise.allSettled(Array.from({ length: 5 }, () => begin(site, thread, approve)));
      const taken = answers.filter(({ status }) => status === "fulfilled");
      expect(taken).toHaveLength(1);
      for (const answer of answers) if (answer.status === "rejected") expect(answer.reason.status).toBe(409);
      await site.runs.wait(OWNER, (taken[0] as PromiseFulfilledResult<any>).value.run_id);
      expect(effects() - before).toBe(1);
    }
  });

  test("answers that answer nothing are refused before anything is written", async () => {
    const { agent, effects } = asking();
    const site = await openSite({ agent });
    await site.runs.wait(OWNER, (await begin(site, "t1", { input: userSays("send it") })).run_id);
    for (const resume of [null, "", {}, 0, false])
      await expect(begin(site, "t1", { command: { resume } })).rejects.toMatchObject({ status: 400 });
    const stale = { ["0".repeat(32)]: { decisions: [{ type: "approve" }] } };
    await expect(begin(site, "t1", { command: { resume: stale } })).rejects.toMatchObject({ status: 409 });
    expect(effects()).toBe(0);
    const answer = await begin(site, "t1", approve);
    await site.runs.wait(OWNER, answer.run_id);
    expect(effects()).toBe(1);
  });

  test("mail for a thread that waits for a person is read after the answer", async () => {
    const { agent } = asking();
    const site = await openSite({ agent });
    await site.runs.wait(OWNER, (await begin(site, "t1", { input: userSays("send it") })).run_id);
    await site.runs.deliver(OWNER, "t1", { id: "task-1", message: "background is done" });
    const answer = await begin(site, "t1", approve);
    await site.runs.wait(OWNER, answer.run_id);
    await until(async () => (await textsOf(site, "t1")).includes("background is done"));
    expect(await site.records.mail.waiting("t1", ["completion"])).toEqual([]);
  });
});
