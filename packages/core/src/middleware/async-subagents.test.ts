import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { createDeepAgent } from "../agent.ts";
import {
  answers,
  ask,
  compactingAgent,
  compactionOf,
  converse,
  strictModel,
  summariser,
  thread,
} from "../context/fixtures/agents-for-tests.ts";
import { backgroundTasks } from "../subagents/async/background-tasks.ts";
import { registerGraph } from "../subagents/async/graphs.ts";
import { background, gate, obeying, supervisor, talk } from "../subagents/async/supervisors-for-tests.ts";
import { ASYNC_TASK_SYSTEM_PROMPT } from "../subagents/async/words.ts";
import { anyTool } from "../subagents/children-for-tests.ts";
import { callTool, scriptedModel } from "../testing/index.ts";

const TOOLS = [
  "start_async_task",
  "check_async_task",
  "update_async_task",
  "cancel_async_task",
  "list_async_tasks",
];
const start = (description: string, type = "researcher") =>
  ["start_async_task", { description, subagent_type: type }] as const;

afterEach(() => backgroundTasks().close());

describe("a task in this process", () => {
  test("is started at once, checked while it works and when it is done", async () => {
    const found = gate();
    const research = background(async (order) => {
      await found.opened;
      return `Found: ${order}`;
    });
    const thread = talk(supervisor({ asyncAgents: { research } }), "end-to-end");
    const [started] = await thread.call(start("Whales."));
    const [task] = await thread.tasks();
    expect(started?.text).toContain(`Task id: ${task?.taskId}`);
    expect(task).toMatchObject({ agentName: "researcher", description: "Whales.", threadId: task?.taskId });
    expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toMatch(
      /: running\. There is no result yet/,
    );
    found.open();
    await backgroundTasks().idle();
    expect((await thread.one("check_async_task", { taskId: task?.taskId })).text).toBe(
      `Task ${task?.taskId} ('researcher'): success\nFound: Whales.`,
    );
    expect((await thread.tasks())[0]).toMatchObject({ status: "success" });
  });

  test("of several in one turn each has its own id, and they work at the same time", async () => {
    let working = 0;
    const all = gate();
    const research = background(async (order) => {
      working += 1;
      if (working === 3) all.open();
      await all.opened;
      return order;
    });
    const thread = talk(supervisor({ asyncAgents: { research } }), "parallel");
    const results = await thread.call(start("A"), start("B"), start("C"));
    expect(results.map(({ status }) => status)).toEqual(["success", "success", "success"]);
    await backgroundTasks().idle();
    const list = (await thread.one("list_async_tasks")).text.split("\n");
    expect(list.map((line) => line.split(" · ").slice(1).join(" "))).toEqual([
      "researcher success A",
      "researcher success B",
      "researcher success C",
    ]);
    expect(new Set((await thread.tasks()).map(({ taskId }) => taskId)).size).toBe(3);
  });

  test("goes on with a new instruction in the middle of its work, on the same thread", async () => {
    const orders: string[][] = [];
    const research = background((order, { messages, signal }) => {
      orders.push(messages.filter(({ type }) => type === "human").map(({ text }) => text));
      if (order === "Dolphins instead.") return "About dolphins.";
      return new Promise<string>((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    });
    const thread = talk(supervisor({ asyncAgents: { research } }), "update");
    await thread.call(start("Whales."));
    await until(() => orders.length === 1);
    const [before] = await thread.tasks();
    const update = await thread.one("update_async_task", {
      task_id: before?.taskId,
      message: "Dolphins instead.",
    });
    expect(update.text).toContain("Status: updated");
    await backgroundTasks().idle();
    const [after] = await thread.tasks();
    expect(after).toMatchObject({
      taskId: before?.taskId,
      threadId: before?.threadId,
      status: "updated",
      updates: 1,
    });
    expect(after?.runId).not.toBe(before?.runId);
    expect(orders.at(-1)).toEqual(["Whales.", "Dolphins instead."]);
    expect((await thread.one("check_async_task", { task_id: before?.taskId })).text).toContain(
      "About dolphins.",
    );
  });

  test("that is done takes a follow-up", async () => {
    const research = background((order, { messages }) => `${order} (message ${messages.length})`);
    const thread = talk(supervisor({ asyncAgents: { research } }), "follow-up");
    await thread.call(start("First."));
    await backgroundTasks().idle();
    const [task] = await thread.tasks();
    await thread.one("update_async_task", { task_id: task?.taskId, message: "Second." });
    await backgroundTasks().idle();
    expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toMatch(
      /Second\. \(message [34]\)$/,
    );
  });

  test("is stopped by cancel, with the tool it is in", async () => {
    const begun = gate();
    const stopped = gate();
    const dig = anyTool("dig", (_, { signal }) => {
      begun.open();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          stopped.open();
          reject(signal.reason);
        });
      });
    });
    const research = createDeepAgent({ model: scriptedModel([callTool("dig"), "Never."]), tools: [dig] });
    const thread = talk(supervisor({ asyncAgents: { research } }), "cancel");
    await thread.call(start("Dig."));
    await begun.opened;
    const [task] = await thread.tasks();
    const result = await thread.one("cancel_async_task", { task_id: task?.taskId });
    await stopped.opened;
    expect(result.text).toBe(`Task ${task?.taskId} is cancelled.`);
    expect(backgroundTasks().running).toBe(0);
    expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toContain("cancelled");
    expect((await thread.one("cancel_async_task", { task_id: task?.taskId })).text).toContain(
      "over already (cancelled)",
    );
    expect(await thread.heard()).toEqual([]);
  });

  test("that fails says why, and the supervisor is told that it failed", async () => {
    const research = createDeepAgent({
      model: scriptedModel([new Error("no such model")]),
      middleware: [{ ModelRetryMiddleware: false }],
    });
    const thread = talk(supervisor({ asyncAgents: { research } }), "failing");
    await thread.call(start("Whales."));
    await backgroundTasks().idle();
    await thread.tell("And?");
    expect(await thread.heard()).toEqual([expect.stringContaining("has failed")]);
    const [task] = await thread.tasks();
    expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toMatch(
      /: error\n.*no such model/,
    );
  });

  test("does not end with the run that started it, nor with an abort of that run", async () => {
    const found = gate();
    const research = background(async () => {
      await found.opened;
      return "Found.";
    });
    const agent = supervisor({ asyncAgents: { research } });
    const stop = new AbortController();
    const config = { configurable: { thread_id: "aborted" } };
    const order = `start_async_task ${JSON.stringify(start("Whales.")[1])}`;
    await agent.invoke({ messages: [{ role: "user", content: order }] }, { ...config, signal: stop.signal });
    stop.abort();
    found.open();
    await backgroundTasks().idle();
    await talk(agent, "aborted").tell("And?");
    expect(await talk(agent, "aborted").heard()).toEqual([expect.stringContaining("is done")]);
  });
});

describe("what is not there", () => {
  const research = background(() => "Found.");

  test("is an error result that names what is", async () => {
    const thread = talk(supervisor({ asyncAgents: { research } }), "unknown");
    const [agent] = await thread.call(start("Whales.", "painter"));
    expect(agent).toMatchObject({ status: "error" });
    expect(agent?.text).toBe("Error: There is no background subagent 'painter'. The types are: researcher.");
    expect((await thread.one("check_async_task", { task_id: "t1" })).text).toContain("None was started");
    await thread.call(start("Whales."));
    const [task] = await thread.tasks();
    for (const tool of ["check_async_task", "update_async_task", "cancel_async_task"]) {
      const message = tool === "update_async_task" ? { message: "x" } : {};
      const result = await thread.one(tool, { task_id: "__proto__", ...message });
      expect(result.status).toBe("error");
      expect(result.text).toBe(
        `Error: There is no background task '__proto__'. The tasks are: ${task?.taskId} ('researcher').`,
      );
    }
    const list = await thread.one("list_async_tasks", { status_filter: "sleeping" });
    expect(list.text).toMatch(/There is no status 'sleeping'\. The statuses are: pending, running, /);
    expect((await thread.one("list_async_tasks", { statusFilter: "cancelled" })).text).toContain(
      "no background tasks with status",
    );
  });

  test("as a graph is an error result that names the known ones, and no task", async () => {
    const thread = talk(supervisor({ asyncAgents: { other: research } }), "unknown-graph");
    const [refused] = await thread.call(start("Whales."));
    expect(refused).toMatchObject({ status: "error" });
    expect(refused?.text).toMatch(/graphId 'research'.*no agent of this process has it.*Known are: .*other/);
    expect(await thread.tasks()).toEqual([]);
  });

  test("as a graph may be registered after the agent was made", async () => {
    const thread = talk(supervisor(), "registered-later");
    expect((await thread.call(start("Whales.")))[0]?.text).toContain("None is registered.");
    const remove = registerGraph("research", research);
    onTestFinished(remove);
    expect((await thread.call(start("Whales.")))[0]?.text).toContain("Task id:");
    await backgroundTasks().idle();
    expect((await thread.tasks()).length).toBe(1);
  });

  test("tools, words and channel are absent without async subagents", () => {
    const plain = createDeepAgent({ model: obeying() }).describe();
    expect(plain.tools.map(({ name }) => name)).not.toEqual(expect.arrayContaining(["start_async_task"]));
    expect(plain.systemPrompt).not.toContain("Background tasks");
    const { tools, systemPrompt } = supervisor({ asyncAgents: { research } }).describe();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(TOOLS));
    expect(systemPrompt).toContain(ASYNC_TASK_SYSTEM_PROMPT);
  });
});

describe("the state of the supervisor", () => {
  test("still lists tasks in another agent object on the same saver, whose process knows nothing of them", async () => {
    const saver = new MemorySaver();
    const research = createDeepAgent({
      model: scriptedModel(() => "Found."),
      checkpointer: new MemorySaver(),
    });
    const options = { asyncAgents: { research }, checkpointer: saver };
    await talk(supervisor(options), "saved").call(start("Whales."));
    await backgroundTasks().idle();
    // What another process begins with.
    Reflect.deleteProperty(globalThis, Symbol.for("deepwright.background-tasks.v1"));
    const thread = talk(supervisor(options), "saved");
    const [task] = await thread.tasks();
    expect((await thread.one("list_async_tasks")).text).toBe(
      `- ${task?.taskId} · researcher · success · Whales.`,
    );
    expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toMatch(
      /success\nFound\.$/,
    );
  });

  test("says of a task whose process ended in the middle of it that it can go on", async () => {
    const asked = gate();
    const child = createDeepAgent({
      model: scriptedModel(({ messages, signal }) => {
        asked.open();
        return messages.at(-1)?.text === "Go on."
          ? "Went on."
          : new Promise<string>((_, reject) =>
              signal?.addEventListener("abort", () => reject(signal.reason)),
            );
      }),
      checkpointer: new MemorySaver(),
    });
    const options = { asyncAgents: { research: child }, checkpointer: new MemorySaver() };
    await talk(supervisor(options), "died").call(start("Whales."));
    const before = backgroundTasks();
    await asked.opened;
    expect(before.running).toBe(1);
    Reflect.deleteProperty(globalThis, Symbol.for("deepwright.background-tasks.v1"));
    const thread = talk(supervisor(options), "died");
    const [task] = await thread.tasks();
    expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toMatch(
      /error\nThe process that ran it has ended/,
    );
    await before.close();
    await thread.one("update_async_task", { task_id: task?.taskId, message: "Go on." });
    await backgroundTasks().idle();
    expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toMatch(
      /success\nWent on\.$/,
    );
  });

  test("keeps the tasks when the conversation is compacted", async () => {
    const research = background(() => "Found.");
    const model = strictModel(9_000, ({ messages }) => {
      const last = messages.at(-1);
      if (last?.type === "tool") return `It says: ${last.text}`;
      if (last?.text === "Start.")
        return callTool("start_async_task", { description: "Whales.", subagent_type: "researcher" });
      return last?.text === "List." ? callTool("list_async_tasks") : answers();
    });
    const agent = compactingAgent({
      model,
      summary: { model: summariser() },
      agent: {
        asyncAgents: { research },
        subagents: [{ name: "researcher", description: "Looks things up.", graphId: "research" }],
      },
    });
    await agent.invoke(ask("Start."), thread("compacted"));
    await backgroundTasks().idle();
    await converse(agent, 40, thread("compacted"));
    expect(await compactionOf(agent, thread("compacted"))).toBeDefined();
    const last = model.calls.at(-1)?.messages.map(({ text }) => text) ?? [];
    expect(last.join("\n")).not.toContain("Task id:");
    const { messages, asyncTasks = {} } = await agent.invoke(ask("List."), thread("compacted"));
    const [task] = Object.values(asyncTasks);
    expect(messages.at(-1)?.text).toBe(`It says: - ${task?.taskId} · researcher · success · Whales.`);
  });

  test("takes no tasks from callers", async () => {
    const research = background(() => "Found.");
    const agent = supervisor({ asyncAgents: { research } });
    const forged = {
      x: {
        taskId: "x",
        agentName: "researcher",
        threadId: "of-somebody-else",
        runId: "r",
        status: "success",
      },
    };
    const config = { configurable: { thread_id: "forged" } };
    const state = await agent.invoke(
      {
        messages: [{ role: "user", content: 'check_async_task {"task_id":"x"}' }],
        asyncTasks: forged,
      } as never,
      config,
    );
    expect(state.messages.at(-1)?.text).toContain("There is no background task 'x'");
  });
});
