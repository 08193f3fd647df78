/** Runs from their start to their end, on a real file. */
import { ToolMessage } from "@langchain/core/messages";
import { callTool, say } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import {
  agentOf,
  begin,
  eventsOf,
  gate,
  namesOf,
  OWNER,
  openSite,
  simpleTool,
  textsOf,
  userSays,
} from "./service-for-tests.ts";

const echo = ({ messages }: { messages: readonly any[] }) => say(`re: ${messages.at(-1)?.text}`);

describe("a run", () => {
  test("has metadata first and end last, and leaves its values in the thread", async () => {
    const site = await openSite({ agent: agentOf(echo).agent });
    const run = await begin(site, "t1", { input: userSays("hello") });
    const events = await eventsOf(site, run.run_id);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(namesOf(events).at(0)).toBe("metadata");
    expect(JSON.parse(events[0]!.data)).toMatchObject({ run_id: run.run_id, thread_id: "t1", attempt: 1 });
    expect(namesOf(events).at(-1)).toBe("end");
    expect(namesOf(events)).toContain("values");
    expect(await textsOf(site, "t1")).toEqual(["hello", "re: hello"]);
    expect(await site.runs.get(OWNER, run.run_id)).toMatchObject({ status: "success", attempts: 1 });
    const outcome = await site.runs.wait(OWNER, run.run_id);
    expect((outcome as any).messages.map((message: any) => message.type)).toEqual(["human", "ai"]);
  });

  test("a second reader from any number on sees what is left, without gap or duplicate", async () => {
    const site = await openSite({ agent: agentOf(echo).agent });
    const run = await begin(site, "t1", {
      input: userSays("hello"),
      stream_mode: ["values", "updates", "messages-tuple"],
    });
    const whole = await eventsOf(site, run.run_id);
    for (let after = 0; after <= whole.length; after += 1)
      expect(await eventsOf(site, run.run_id, after)).toEqual(whole.slice(after));
  });

  test("without a thread gives its values, and its thread expires", async () => {
    const site = await openSite({ agent: agentOf(echo).agent });
    const run = await begin(site, undefined, { input: userSays("alone") });
    const outcome = (await site.runs.wait(OWNER, run.run_id)) as { messages: { content: string }[] };
    expect(outcome.messages.at(-1)?.content).toBe("re: alone");
  });

  test("that fails says why, without secrets", async () => {
    const site = await openSite(
      { agent: agentOf([new Error("Bad key s3cret-value-1 given")]).agent },
      { environment: { MY_API_KEY: "s3cret-value-1" } },
    );
    const run = await begin(site, "t1", { input: userSays("hello") });
    const events = await eventsOf(site, run.run_id);
    expect(namesOf(events).slice(-2)).toEqual(["error", "end"]);
    expect(JSON.stringify(events)).not.toContain("s3cret-value-1");
    expect(await site.runs.get(OWNER, run.run_id)).toMatchObject({ status: "error" });
    expect(await site.runs.wait(OWNER, run.run_id)).toHaveProperty("__error__.message");
    expect(await site.records.threads.get(OWNER, "t1")).toMatchObject({ status: "error" });
  });

  test("of another owner is not there", async () => {
    const site = await openSite({ agent: agentOf(echo).agent });
    const run = await begin(site, "t1", { input: userSays("hello") });
    await site.runs.wait(OWNER, run.run_id);
    const missing = { code: "NOT_FOUND" };
    await expect(site.runs.wait("eve", run.run_id)).rejects.toMatchObject(missing);
    await expect(site.runs.cancel("eve", run.run_id)).rejects.toMatchObject(missing);
    await expect(site.runs.steer("eve", "t1", { content: "hi" })).rejects.toMatchObject(missing);
    await expect(begin(site, "t1", { input: userSays("x") }, { owner: "eve" })).rejects.toMatchObject(
      missing,
    );
    expect(await site.runs.delete("eve", run.run_id)).toBe(false);
  });

  test("knows who runs it: user, assistant, context", async () => {
    let seen: any;
    const look = simpleTool("look", (_, runtime) => {
      seen = {
        info: runtime.serverInfo ?? runtime.config?.serverInfo,
        context: runtime.context,
        configurable: runtime.configurable ?? runtime.config?.configurable,
      };
      return "seen";
    });
    const site = await openSite({ agent: agentOf([callTool("look"), say("ok")], { tools: [look] }).agent });
    const run = await begin(site, "t1", {
      input: userSays("hello"),
      context: { tone: "kind" },
      config: {
        configurable: { colour: "red", __pregel_x: 1, thread_id: "other", langgraph_auth_user_id: "eve" },
      },
    });
    await site.runs.wait(OWNER, run.run_id);
    expect(seen.info).toMatchObject({
      user: { identity: OWNER },
      assistantId: run.assistant_id,
      graphId: "agent",
    });
    expect(seen.context).toMatchObject({ tone: "kind" });
    expect(seen.configurable).toMatchObject({
      colour: "red",
      thread_id: "t1",
      langgraph_auth_user_id: OWNER,
    });
    expect(seen.configurable).not.toHaveProperty("__pregel_x");
  });

  test("R-11: the same key gives the same run; other words under it are refused", async () => {
    const site = await openSite({ agent: agentOf(echo).agent });
    const key = { idempotencyKey: "k" };
    const first = await begin(site, "t1", { input: userSays("one") }, key);
    const again = await begin(site, "t1", { input: userSays("one") }, key);
    expect(again.run_id).toBe(first.run_id);
    await expect(begin(site, "t1", { input: userSays("two") }, key)).rejects.toMatchObject({
      code: "KEY_REUSED",
    });
    await site.runs.wait(OWNER, first.run_id);
    expect(await textsOf(site, "t1")).toEqual(["one", "re: one"]);
  });

  test("begins no earlier than it may", async () => {
    const site = await openSite({ agent: agentOf(echo).agent });
    const asked = performance.now();
    const run = await begin(site, "t1", { input: userSays("later"), after_seconds: 0.5 });
    await site.runs.wait(OWNER, run.run_id);
    expect(performance.now() - asked).toBeGreaterThan(450);
  });
});

describe("two runs on one thread", () => {
  const gated = () => {
    const { open, opened } = gate();
    const begun = gate();
    const wait = simpleTool("wait", async (_, runtime) => {
      begun.open();
      await Promise.race([
        opened,
        new Promise((_, reject) =>
          runtime.signal?.addEventListener("abort", () => reject(runtime.signal.reason)),
        ),
      ]);
      return "waited";
    });
    const script = ({ messages }: { messages: readonly any[] }) => {
      const last = messages.at(-1);
      if (ToolMessage.isInstance(last)) return say("done");
      return last.text === "slow" ? callTool("wait") : say(`re: ${last.text}`);
    };
    return { open, begun: begun.opened, agent: agentOf(script, { tools: [wait] }).agent };
  };

  test("R-09: reject refuses the second", async () => {
    const { agent, begun, open } = gated();
    const site = await openSite({ agent });
    const first = await begin(site, "t1", { input: userSays("slow") });
    await begun;
    const second = begin(site, "t1", { input: userSays("fast"), multitask_strategy: "reject" });
    await expect(second).rejects.toMatchObject({ code: "THREAD_BUSY" });
    open();
    await site.runs.wait(OWNER, first.run_id);
    expect((await textsOf(site, "t1")).at(-1)).toBe("done");
  });

  test("R-09: enqueue has all of them one after the other, in order", async () => {
    const { agent, begun, open } = gated();
    const site = await openSite({ agent });
    await begin(site, "t1", { input: userSays("slow") });
    await begun;
    const rest = [];
    for (const text of ["a", "b", "c"]) rest.push(await begin(site, "t1", { input: userSays(text) }));
    open();
    for (const run of rest) await site.runs.wait(OWNER, run.run_id);
    const texts = await textsOf(site, "t1");
    expect(texts.filter((text) => /^(?:slow|done|re: )/.test(text))).toEqual([
      "slow",
      "done",
      "re: a",
      "re: b",
      "re: c",
    ]);
  });

  test("interrupt ends the first and keeps what it did", async () => {
    const { agent, begun } = gated();
    const site = await openSite({ agent });
    const first = await begin(site, "t1", { input: userSays("slow") });
    await begun;
    const second = await begin(site, "t1", { input: userSays("fast"), multitask_strategy: "interrupt" });
    await site.runs.wait(OWNER, second.run_id);
    expect(await site.runs.get(OWNER, first.run_id)).toMatchObject({ status: "interrupted" });
    const texts = await textsOf(site, "t1");
    expect(texts[0]).toBe("slow");
    expect(texts.at(-1)).toBe("re: fast");
  });

  test("rollback removes the first with what it did", async () => {
    const { agent, begun } = gated();
    const site = await openSite({ agent });
    await site.runs.wait(OWNER, (await begin(site, "t1", { input: userSays("before") })).run_id);
    const first = await begin(site, "t1", { input: userSays("slow") });
    await begun;
    const second = await begin(site, "t1", { input: userSays("fast"), multitask_strategy: "rollback" });
    await site.runs.wait(OWNER, second.run_id);
    expect(await site.runs.get(OWNER, first.run_id)).toBeUndefined();
    expect(await textsOf(site, "t1")).toEqual(["before", "re: before", "fast", "re: fast"]);
  });

  test("cancelled in the middle of a tool, it ends soon and says so", async () => {
    const { agent, begun } = gated();
    const site = await openSite({ agent });
    const run = await begin(site, "t1", { input: userSays("slow") });
    await begun;
    expect(await site.runs.cancel(OWNER, run.run_id, { wait: true })).toBe(true);
    expect(await site.runs.get(OWNER, run.run_id)).toMatchObject({ status: "interrupted" });
    expect(namesOf(await eventsOf(site, run.run_id)).at(-1)).toBe("end");
    expect(await site.runs.cancel(OWNER, run.run_id)).toBe(false);
    const next = await begin(site, "t1", { input: userSays("fast") });
    await site.runs.wait(OWNER, next.run_id);
    expect((await textsOf(site, "t1")).at(-1)).toBe("re: fast");
  });

  test("cancelled from another process", async () => {
    const { agent, begun } = gated();
    const site = await openSite({ agent });
    const other = await openSite({ agent }, { directory: site.directory, role: "api" });
    const run = await begin(other, "t1", { input: userSays("slow") });
    await begun;
    await other.runs.cancel(OWNER, run.run_id, { action: "rollback", wait: true });
    await until(async () => (await other.runs.get(OWNER, run.run_id)) === undefined);
    expect(await textsOf(site, "t1")).toEqual([]);
  });

  test("20 threads at a time", async () => {
    const site = await openSite({ agent: agentOf(echo).agent });
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const runs = await Promise.all(ids.map((id) => begin(site, id, { input: userSays(id) })));
    await Promise.all(runs.map((run) => site.runs.wait(OWNER, run.run_id)));
    for (const id of ids) expect(await textsOf(site, id)).toEqual([id, `re: ${id}`]);
    expect(site.errors).toEqual([]);
  });
});
