import { createAgent } from "langchain";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { createDeepAgent } from "../agent.ts";
import { type AgentServer, agentServer } from "../subagents/async/agent-server-for-tests.ts";
import { backgroundTasks } from "../subagents/async/background-tasks.ts";
import { ASYNC_TASK_HOST_CONFIG_KEY } from "../subagents/async/host.ts";
import { createMemoryMailbox } from "../subagents/async/mailbox.ts";
import { supervisor, talk } from "../subagents/async/supervisors-for-tests.ts";
import { tellEnd, tellsEnds } from "../subagents/async/tell-completion.ts";
import { scriptedModel } from "../testing/index.ts";
import { createCompletionCallbackMiddleware } from "./completion-callback.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await agentServer();
});
afterEach(() => backgroundTasks().close());
afterAll(() => server.close());

const worker = (options: object, model = scriptedModel(() => "Found.")) =>
  createDeepAgent({
    model,
    middleware: [
      { ModelRetryMiddleware: false },
      createCompletionCallbackMiddleware({ callbackGraphId: "supervisor", ...options }),
    ],
  });
const input = (callbackThreadId?: string) => ({
  messages: [{ role: "user", content: "Whales." }],
  ...(callbackThreadId && { callbackThreadId }),
});
const configurable = { run_id: "run-1" };

describe("an agent that tells of its end", () => {
  test("begins a run on the thread that is in its state, with a message of a fixed id", async () => {
    const headers = { authorization: "Bearer abc" };
    await worker({ url: server.url, headers }).invoke(input("thread-1"), { configurable });
    const run = server.runs.at(-1);
    expect(run).toMatchObject({ threadId: "thread-1", headers });
    expect(run?.body).toMatchObject({ assistant_id: "supervisor", multitask_strategy: "enqueue" });
    const [message] = run?.body.input.messages ?? [];
    expect(message.content).toMatch(/is done/);
    expect(run?.headers["idempotency-key"]).toBe(message.id);
  });

  test("tells that its model could not be asked, and fails as it would have", async () => {
    const agent = worker({ url: server.url }, scriptedModel([new Error("no such model")]));
    await expect(agent.invoke(input("thread-2"), { configurable })).rejects.toThrow("no such model");
    expect(server.runs.at(-1)?.body.input.messages[0].content).toMatch(/has failed/);
  });

  test("tells nobody without a thread in its state", async () => {
    const before = server.requests.length;
    await worker({ url: server.url }).invoke(input());
    expect(server.requests.length).toBe(before);
  });

  test("is not held up by a server that refuses", async () => {
    server.answer = (_, response) => void response.writeHead(500).end();
    const state = await worker({ url: server.url }).invoke(input("thread-3"));
    server.answer = undefined;
    expect(state.messages.at(-1)?.text).toBe("Found.");
  });

  test("in this process its thread hears of it once, though it is watched as well", async () => {
    const thread = talk(supervisor({ asyncAgents: { research: worker({}) } }), "both");
    await thread.one("start_async_task", { description: "Whales.", subagent_type: "researcher" });
    await until(() => !backgroundTasks().open.has("both"));
    await thread.tell("And?");
    await thread.tell("And?");
    expect(await thread.heard()).toHaveLength(1);
  });
});

describe("a host that tells of ends itself", () => {
  const end = { id: "async-task-t-r", taskId: "t", runId: "r", status: "timeout" } as const;
  const mailbox = createMemoryMailbox();

  test("has the agent say nothing, and finds whom to tell by the agent, also by one of LangChain", async () => {
    const host = { tellsEnd: async () => true };
    const before = server.runs.length;
    const agent = worker({ url: server.url });
    const hosted = { configurable: { ...configurable, [ASYNC_TASK_HOST_CONFIG_KEY]: host } };
    await agent.invoke(input("thread-4"), hosted);
    expect(server.runs).toHaveLength(before);
    const callback = createCompletionCallbackMiddleware({ callbackGraphId: "s", url: server.url });
    const stock = createAgent({ model: scriptedModel([]), middleware: [callback] as never });
    for (const [index, each] of [agent, stock].entries()) {
      expect(tellsEnds(each)).toBe(true);
      await tellEnd(each, `thread-5-${index}`, { ...end, id: `${end.id}-${index}` }, mailbox);
      expect(server.runs.at(-1)).toMatchObject({ threadId: `thread-5-${index}` });
      expect(server.runs.at(-1)?.body.input.messages[0].content).toMatch(/t has run out of time/);
    }
    expect(tellsEnds(createDeepAgent({ model: scriptedModel([]) }))).toBe(false);
  });

  test("is told when it could not be heard, and has mailboxes of its own", async () => {
    server.answer = (_, response) => void response.writeHead(500).end();
    await expect(tellEnd(worker({ url: server.url }), "thread-6", end, mailbox)).rejects.toThrow("500");
    server.answer = undefined;
    await tellEnd(worker({}), "thread-6", end, mailbox);
    expect(await mailbox.unread("thread-6")).toMatchObject([{ ...end, graphId: "supervisor" }]);
  });
});

test.each([
  [{ callbackGraphId: "" }, /needs a 'callbackGraphId'/],
  [{ callbackGraphId: "s", url: "ftp://agents.example" }, /must begin with http/],
  [{ callbackGraphId: "s", url: "http://10.0.0.1" }, /private network/],
  [{ callbackGraphId: "s", uri: "x" }, /has no option 'uri'/],
])("%o is refused", (options, words) => {
  expect(() => createCompletionCallbackMiddleware(options)).toThrow(words);
});
