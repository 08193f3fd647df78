/** Runs that begin by themselves after one that failed or was ended. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolMessage } from "@langchain/core/messages";
import type { AsyncTask } from "deepwright";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { helperAgent } from "../background-agents-for-tests.ts";
import { MAIL_KINDS } from "../mail/steering.ts";
import {
  agentOf,
  begin,
  gate,
  OWNER,
  openSite,
  type Site,
  type SiteOptions,
  simpleTool,
  textsOf,
  userSays,
} from "../service-for-tests.ts";

const PAGE = { limit: 100, offset: 0 };

const runsOf = async ({ runs }: Site, threadId: string) =>
  (await runs.list(OWNER, threadId, PAGE)).map(({ status }) => status);
const waiting = async ({ records }: Site, threadId: string) =>
  (await records.mail.waiting(threadId, MAIL_KINDS)).map(({ kind }) => kind);
const threadStatus = async ({ records }: Site, threadId: string) =>
  (await records.threads.get(OWNER, threadId))?.status;
const newsIn = async (site: Site, threadId: string) =>
  (await textsOf(site, threadId)).filter((text) => text.startsWith("[Background task"));

/** Long enough for several rounds of the housekeeping. */
const rounds = () => new Promise((go) => setTimeout(go, 800));

interface Failing {
  /** When the model is asked again after it has given a task. */
  readonly after?: Promise<void>;
  /** Also when it hears of the end. */
  readonly always?: boolean;
}

/** A supervisor that gives a task, `wait <file>`, and fails then. */
function openFailing({ after, always = false }: Failing, options: SiteOptions = {}): Promise<Site> {
  const model = scriptedModel(
    async ({ messages }) => {
      const last = messages.at(-1);
      if (ToolMessage.isInstance(last)) {
        await after;
        throw new Error("the model is gone");
      }
      const text = String(last?.text);
      if (always && !text.startsWith("wait ")) throw new Error("the model is gone");
      if (!text.startsWith("wait ")) return say("heard");
      return callTool("start_async_task", { description: text, subagent_type: "helper" });
    },
    { record: false },
  );
  const subagents = [{ name: "helper", description: "The agent helper.", graphId: "helper" }];
  return openSite(
    { boss: () => createDeepAgent({ model, subagents }), helper: () => helperAgent() },
    options,
  );
}

const file = (site: Site): string => join(site.directory, "go");
const giveTask = (site: Site) =>
  begin(site, "t1", { assistant_id: "boss", input: userSays(`wait ${file(site)}`) });

async function taskOf(site: Site): Promise<string> {
  const agent = await site.registry.load("boss");
  const { values } = await agent.getState({ configurable: { thread_id: "t1" } });
  return Object.values((values?.asyncTasks ?? {}) as Record<string, AsyncTask>)[0]?.taskId ?? "";
}

describe("a run of a supervisor that fails", () => {
  test("and has not read that a task ended meanwhile: a run is begun that does", async () => {
    const door = gate();
    const site = await openFailing({ after: door.opened });
    const run = await giveTask(site);
    writeFileSync(file(site), "");
    await until(async () => (await waiting(site, "t1")).includes("task-end"));
    door.open();
    await site.runs.wait(OWNER, run.run_id);
    await until(async () => (await newsIn(site, "t1")).length === 1);
    await until(async () => (await threadStatus(site, "t1")) === "idle");
    expect(await runsOf(site, "t1")).toEqual(["success", "error"]);
    expect((await textsOf(site, "t1")).at(-1)).toBe("heard");
    expect(await waiting(site, "t1")).toEqual([]);
    expect(await site.records.background.openOn(OWNER, "t1")).toBe(0);
  });

  test("and the run that is to tell it too: it is not tried again until something else ends", async () => {
    const door = gate();
    const site = await openFailing({ after: door.opened, always: true });
    const run = await giveTask(site);
    writeFileSync(file(site), "");
    await until(async () => (await waiting(site, "t1")).includes("task-end"));
    door.open();
    await site.runs.wait(OWNER, run.run_id);
    await until(async () => (await runsOf(site, "t1")).join() === "error,error");
    await rounds();
    expect(await runsOf(site, "t1")).toEqual(["error", "error"]);
    await site.runs.deliver(OWNER, "t1", { id: "d1", message: "another is done" });
    await until(async () => (await runsOf(site, "t1")).join() === "error,error,error");
    await rounds();
    expect(await runsOf(site, "t1")).toHaveLength(3);
    expect(await threadStatus(site, "t1")).toBe("error");
  });

  test("and a process that dies when the task has ended: any that lives begins the run", async () => {
    const site = await openFailing({});
    await site.runs.wait(OWNER, (await giveTask(site)).run_id);
    const taskId = await taskOf(site);
    await until(async () => (await runsOf(site, taskId))[0] === "running");
    await site.close();
    const { directory } = site;
    const gone = await openFailing({}, { directory, works: false });
    const claim = await gone.records.runs.claimNext(taskId, "gone", 600_000);
    await gone.records.runs.finish(claim!, { status: "success", threadStatus: "idle" }, []);
    expect(await threadStatus(gone, "t1")).toBe("error");
    await gone.close();
    const other = await openFailing({}, { directory });
    await until(async () => (await newsIn(other, "t1")).length === 1);
    await until(async () => (await threadStatus(other, "t1")) === "idle");
    expect(await runsOf(other, "t1")).toEqual(["success", "error"]);
  });

  test("and has read the end before: nothing is begun, and nothing waits", async () => {
    const site = await openFailing({ always: true });
    await site.runs.wait(OWNER, (await giveTask(site)).run_id);
    const taskId = await taskOf(site);
    writeFileSync(file(site), "");
    await until(async () => (await runsOf(site, taskId))[0] === "success");
    await until(async () => (await runsOf(site, "t1")).join() === "error,error");
    await until(async () => (await waiting(site, "t1")).length === 0);
    await rounds();
    expect(await newsIn(site, "t1")).toHaveLength(1);
    expect(await runsOf(site, "t1")).toEqual(["error", "error"]);
    expect(await threadStatus(site, "t1")).toBe("error");
  });

  test("leaves what a client has said to the next run", async () => {
    const door = gate();
    const site = await openFailing({ after: door.opened });
    const run = await giveTask(site);
    await until(async () => (await taskOf(site)) !== "");
    door.open();
    await site.runs.wait(OWNER, run.run_id);
    await site.records.mail.post(OWNER, "t1", { id: "m", kind: "steer", message: "left" });
    await rounds();
    expect(await runsOf(site, "t1")).toEqual(["error"]);
    expect(await waiting(site, "t1")).toEqual(["steer"]);
  });
});

describe("a run that is ended by a client", () => {
  /** At work on `t1` until the door is opened, with a steer it has not read. */
  const openAtWork = async () => {
    const door = gate();
    const begun = gate();
    const wait = simpleTool("wait", async () => {
      begun.open();
      await door.opened;
      return "waited";
    });
    const { agent } = agentOf(
      ({ messages }) => (messages.at(-1)?.text === "slow" ? callTool("wait") : say("done")),
      { tools: [wait] },
    );
    const site = await openSite({ agent });
    const run = await begin(site, "t1", { input: userSays("slow") });
    await begun.opened;
    await site.runs.steer(OWNER, "t1", { id: "m", content: "left" });
    return { site, run };
  };
  const nextTexts = async (site: Site) => {
    const next = await begin(site, "t1", { input: userSays("next") });
    await site.runs.wait(OWNER, next.run_id);
    return (await textsOf(site, "t1")).slice(-3);
  };

  test("leaves a steer that it has not read to the next run, and none is begun for it", async () => {
    const { site, run } = await openAtWork();
    await site.runs.cancel(OWNER, run.run_id, { wait: true });
    await rounds();
    expect(await runsOf(site, "t1")).toEqual(["interrupted"]);
    expect(await nextTexts(site)).toEqual(["left", "next", "done"]);
  });

  test("with everything on its thread takes the steer with it", async () => {
    const { site, run } = await openAtWork();
    await site.runs.cancel(OWNER, run.run_id, { wait: true, tasks: true });
    expect(await waiting(site, "t1")).toEqual([]);
    await rounds();
    expect(await runsOf(site, "t1")).toEqual(["interrupted"]);
    expect(await nextTexts(site)).not.toContain("left");
  });

  test("before it began: a steer begins none in its place", async () => {
    const site = await openSite({ agent: agentOf(() => say("done")).agent }, { works: false });
    const run = await begin(site, "t1", { input: userSays("a") });
    await site.runs.steer(OWNER, "t1", { content: "left" });
    await site.runs.cancel(OWNER, run.run_id);
    await site.runs.open();
    await rounds();
    expect(await runsOf(site, "t1")).toEqual(["interrupted"]);
  });
});

test("a task that its supervisor has cancelled is not revived by what it was told meanwhile", async () => {
  const site = await openSite({
    boss: () => {
      const model = scriptedModel(({ messages }) => {
        const last = messages.at(-1);
        if (ToolMessage.isInstance(last)) return say("ok");
        const [name = "", args = "{}"] = String(last?.text).split(/ (.*)/s);
        return callTool(name, JSON.parse(args));
      });
      const subagents = [{ name: "helper", description: "The agent helper.", graphId: "helper" }];
      return createDeepAgent({ model, subagents });
    },
    helper: () => helperAgent(),
  });
  const order = async (tool: string, args: object) => {
    const input = userSays(`${tool} ${JSON.stringify(args)}`);
    const run = await begin(site, "t1", { assistant_id: "boss", input });
    await site.runs.wait(OWNER, run.run_id);
  };
  await order("start_async_task", { description: `wait ${file(site)}`, subagent_type: "helper" });
  const taskId = await taskOf(site);
  await until(async () => (await runsOf(site, taskId))[0] === "running");
  await site.runs.steer(OWNER, taskId, { content: "left" });
  await order("cancel_async_task", { task_id: taskId });
  await rounds();
  expect(await runsOf(site, taskId)).toEqual(["interrupted"]);
  expect(await waiting(site, taskId)).toEqual([]);
  expect(await runsOf(site, "t1")).toEqual(["success", "success"]);
});
