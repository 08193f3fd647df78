/** Orders for single subagents of a run at work. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { callTool, say } from "deepwright/testing";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import {
  agentOf,
  begin,
  eventsOf,
  gate,
  OWNER,
  openSite,
  simpleTool,
  textsOf,
  userSays,
} from "../service-for-tests.ts";

/** Two subagents whose tool waits until its door opens; `Again` has one model call only. */
function family() {
  const doors: Record<string, ReturnType<typeof gate>> = { one: gate(), two: gate() };
  const begun = new Map<string, string>();
  const wait = simpleTool("wait", async ({ order }: { order: string }, runtime) => {
    const namespace: string = runtime.config.configurable.checkpoint_ns;
    begun.set(order, namespace.split("|").slice(0, -1).join("|"));
    await doors[order]?.opened;
    return "waited";
  });
  const task = (description: string) => ({
    name: "task",
    args: { description, subagent_type: "general-purpose" },
  });
  const { agent, model } = agentOf(
    ({ messages }) => {
      const order = messages.find((message) => HumanMessage.isInstance(message))?.text ?? "";
      const hasResult = messages.some((message) => ToolMessage.isInstance(message));
      if (order === "go") return hasResult ? say("done") : { toolCalls: [task("one"), task("two")] };
      return hasResult ? say(`${order}: ${messages.at(-1)?.text}`) : callTool("wait", { order });
    },
    { tools: [wait] },
  );
  const namespace = async (order: string) => {
    await until(() => begun.has(order));
    return begun.get(order) ?? "";
  };
  return { agent, model, doors, namespace };
}

test("one subagent is stopped and another is told something, from another process; the run goes on", async () => {
  const { agent, doors, namespace } = family();
  const site = await openSite({ agent });
  const other = await openSite({ agent }, { directory: site.directory, role: "api" });
  const run = await begin(site, "t1", {
    input: userSays("go"),
    stream_mode: "updates",
    stream_subgraphs: true,
  });
  const [one, two] = [await namespace("one"), await namespace("two")];
  expect(await other.runs.orderSubagent(OWNER, "t1", { subagent: one })).toMatchObject({
    run_id: run.run_id,
  });
  const said = { id: "m1", subagent: two, content: "look left" };
  for (let n = 0; n < 2; n += 1) await other.runs.orderSubagent(OWNER, "t1", said);
  await until(async () => {
    const rows = await site.records.mail.waiting("t1", ["subagent"]);
    return rows.length === 2;
  });
  await site.runs.orderSubagent(OWNER, "t1", { subagent: two, id: "m2", content: "and right" });
  doors.two?.open();
  const events = await eventsOf(site, run.run_id);
  const texts = await textsOf(site, "t1");
  expect(texts.some((text) => text.includes("did not finish. The user stopped it."))).toBe(true);
  expect(texts).toContain("two: and right");
  expect(texts.at(-1)).toBe("done");
  const told = events.filter(({ event, data }) => event.includes(two) && data.includes("look left"));
  expect(told.length).toBeGreaterThan(0);
  expect(await site.records.mail.waiting("t1", ["subagent"])).toEqual([]);
});

test("without a run, for a thread of somebody else and for a subagent that is not there nothing happens", async () => {
  const { agent, doors, namespace } = family();
  const site = await openSite({ agent });
  const order = (owner: string, thread: string) =>
    site.runs.orderSubagent(owner, thread, { subagent: "tools:none" });
  await expect(order(OWNER, "t1")).rejects.toMatchObject({ code: "NOT_FOUND" });
  const run = await begin(site, "t1", { input: userSays("go") });
  await namespace("two");
  await expect(order("eve", "t1")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await order(OWNER, "t1");
  for (const door of Object.values(doors)) door.open();
  await site.runs.wait(OWNER, run.run_id);
  expect(await site.records.mail.waiting("t1", ["subagent"])).toEqual([]);
  await expect(order(OWNER, "t1")).rejects.toMatchObject({ code: "NOTHING_TO_STEER" });
});
