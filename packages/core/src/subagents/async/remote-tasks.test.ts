import { createAgent } from "langchain";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import { DeepwrightError } from "../../errors.ts";
import { createAsyncSubAgentMiddleware } from "../../middleware/async-subagents.ts";
import { callTool, scriptedModel } from "../../testing/index.ts";
import { anyTool } from "../children-for-tests.ts";
import { type AgentServer, agentServer } from "./agent-server-for-tests.ts";
import type { AsyncTask } from "./async-task.ts";
import { backgroundTasks } from "./background-tasks.ts";
import { ASYNC_TASK_HOST_CONFIG_KEY, type AsyncTaskHost } from "./host.ts";
import { remoteTasksOf } from "./remote-tasks.ts";
import { background, gate, supervisor, talk } from "./supervisors-for-tests.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await agentServer();
});
afterEach(() => backgroundTasks().close());
afterAll(() => server.close());

const far = () => ({ name: "far", description: "Elsewhere.", graphId: "research", url: server.url });

describe("who does the tasks of an agent elsewhere", () => {
  test("is found by the compiled agent, also by one of LangChain and by a copy", async () => {
    const near = { name: "near", description: "Here.", graphId: "research" };
    const asyncAgents = { research: background(() => "Found.") };
    const ours = createDeepAgent({ model: scriptedModel([]), subagents: [far(), near], asyncAgents });
    const stock = createAgent({
      model: scriptedModel([]),
      middleware: [createAsyncSubAgentMiddleware({ asyncSubAgents: [far(), near], asyncAgents })],
    });
    for (const agent of [ours, stock, ours.withConfig({ tags: ["copy"] })]) {
      const run = await remoteTasksOf(agent, "far")?.start("Whales.", {});
      expect(run).toMatchObject({ threadId: server.runs.at(-1)?.threadId });
      expect(remoteTasksOf(agent, "near")).toBeUndefined();
      expect(remoteTasksOf(agent, "nobody")).toBeUndefined();
    }
    expect(remoteTasksOf(createDeepAgent({ model: scriptedModel([]) }), "far")).toBeUndefined();
    expect(remoteTasksOf({}, "far")).toBeUndefined();
  });
});

describe("a host that follows tasks", () => {
  const order = 'start_async_task {"description":"Whales.","subagent_type":"far"}';
  const invoke = (thread_id: string, content: string, host: AsyncTaskHost) =>
    agent.invoke(
      { messages: [{ role: "user", content }] },
      { configurable: { thread_id, [ASYNC_TASK_HOST_CONFIG_KEY]: host } },
    );
  let agent: ReturnType<typeof supervisor>;
  beforeAll(() => {
    agent = supervisor({ subagents: [far()] });
  });

  test("is told of each task and its cancellation, and nobody looks from here", async () => {
    const followed: AsyncTask[] = [];
    const forgotten: string[] = [];
    const host: AsyncTaskHost = {
      follow: async (task) => {
        followed.push(task);
        return true;
      },
      forget: async (taskId) => void forgotten.push(taskId),
    };
    await invoke("hosted", order, host);
    const taskId = server.runs.at(-1)?.threadId;
    expect(followed[0]).toMatchObject({ taskId, agentName: "far", runId: server.runs.at(-1)?.runId });
    expect(backgroundTasks().open.has("hosted")).toBe(false);
    await invoke("hosted", `cancel_async_task {"task_id":"${taskId}"}`, host);
    expect(forgotten).toEqual([taskId]);
    expect(server.runs.at(-1)?.status).toBe("interrupted");
  });

  test("leaves the task to this process when it cannot", async () => {
    await invoke("unable", order, { follow: async () => false });
    expect(backgroundTasks().open.has("unable")).toBe(true);
  });

  test("that refuses it, because the run was ended, leaves nothing at work", async () => {
    const refusal = new DeepwrightError("ASYNC_TASK_FAILED", "The run was ended.");
    const { messages } = await invoke("ended", order, { follow: () => Promise.reject(refusal) });
    expect(messages.at(-1)?.text).toContain("Error: The run was ended.");
    expect(server.runs.at(-1)?.status).toBe("interrupted");
  });
});

describe("PAINS 23: a task of this process that does not come to its end", () => {
  const begun = gate();
  const dig = anyTool("dig", (_, { signal }) => {
    begun.open();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  });
  const turn = { ...callTool("dig"), text: "Half of it is in /notes.md." };

  test("because it was stopped or failed tells what it had said", async () => {
    const research = background((text, { messages }) => {
      if (messages.at(-1)?.type !== "human") throw new Error("no such model");
      return text === "Fail." ? { ...turn, toolCalls: [{ name: "write_todos", args: { todos: [] } }] } : turn;
    });
    const digging = createDeepAgent({
      model: scriptedModel(() => turn),
      tools: [dig],
    });
    const subagents = [
      { name: "researcher", description: "Fails.", graphId: "research" },
      { name: "digger", description: "Digs.", graphId: "digging" },
    ];
    const thread = talk(supervisor({ asyncAgents: { research, digging }, subagents }), "partial");
    await thread.one("start_async_task", { description: "Fail.", subagent_type: "researcher" });
    await backgroundTasks().idle();
    const [failed] = await thread.tasks();
    expect((await thread.one("check_async_task", { task_id: failed?.taskId })).text).toMatch(
      /error\n.*no such model(?:.|\n)*\nIts last words:\nHalf of it is in \/notes\.md\.$/,
    );
    await thread.one("start_async_task", { description: "Dig.", subagent_type: "digger" });
    await begun.opened;
    const tasks = backgroundTasks();
    const [, dug] = await thread.tasks();
    await tasks.cancel(dug?.taskId ?? "");
    await until(() => tasks.check(dug?.taskId ?? "")?.status === "cancelled");
    expect(tasks.check(dug?.taskId ?? "")).toMatchObject({
      reason: "It was stopped.\nIts last words:\nHalf of it is in /notes.md.",
    });
  });
});
