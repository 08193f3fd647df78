import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually, until } from "../../../../../../scripts/test-time.ts";
import { backgroundTasks } from "../background-tasks.ts";
import { supervisor, talk } from "../supervisors-for-tests.ts";
import { type A2aAgent, a2aAgent } from "./a2a-agent-for-tests.ts";
import { a2aTransport } from "./a2a-transport.ts";

afterEach(() => backgroundTasks().close());

const overA2a = (a2a: string, more: object = {}) =>
  supervisor({ subagents: [{ name: "other", description: "Of others.", a2a, ...more }] });

describe.each(["1.0", "0.3"] as const)("an agent that speaks A2A %s", (version) => {
  let agent: A2aAgent;
  beforeAll(async () => {
    agent = await a2aAgent(version);
  });
  afterAll(() => agent.close());
  const methods = (): string[] => agent.calls.map(({ method }) => method.replace(/^(tasks|message)\//, ""));

  test("is given a task, told more in the middle of it, stopped, and asked for its result", async () => {
    const headers = { authorization: "Bearer key-of-ours" };
    const thread = talk(overA2a(agent.url, { headers }), `a2a-${version}`);
    const order = { description: "work", subagent_type: "other" };
    await thread.one("start_async_task", order);
    expect(agent.calls[0]?.headers).toMatchObject({
      ...headers,
      ...(version === "1.0" && { "a2a-version": "1.0" }),
    });
    const [task] = await thread.tasks();
    expect(task?.status).toMatch(/pending|running/);
    const args = { task_id: task?.taskId };
    expect((await thread.one("check_async_task", args)).text).toContain("There is no result yet.");
    await thread.one("update_async_task", { ...args, message: "dolphins" });
    expect(
      methods()
        .slice(-3)
        .map((name) => name.toLowerCase().replace(/message|task/, "")),
    ).toEqual(["get", "cancel", "send"]);
    await eventually(async () =>
      expect((await thread.one("check_async_task", args)).text).toMatch(/: success\ndid: dolphins$/),
    );
    const before = agent.calls.length;
    await thread.one("start_async_task", order);
    const [, second] = await thread.tasks();
    await thread.one("cancel_async_task", { task_id: second?.taskId });
    expect(agent.calls.length).toBeGreaterThan(before);
    expect((await thread.one("list_async_tasks", { status_filter: "cancelled" })).text).toContain(
      second?.taskId,
    );
  });

  test("asks, is answered on the same task, says why it failed, and may answer without a task", async () => {
    const transport = a2aTransport({ url: agent.url, headers: {}, pauses: [5, 20] });
    const asking = await transport.start("ask", {});
    await eventually(async () =>
      expect(await transport.check(asking, {})).toEqual({
        status: "interrupted",
        reason: "It asks: Which one?\nAnswer with `update_async_task`.",
      }),
    );
    const answered = await transport.update(asking, "the blue one", {});
    expect(answered).toMatchObject({ threadId: asking.threadId, runId: asking.runId });
    await eventually(async () =>
      expect(await transport.check(answered, {})).toEqual({ status: "success", result: "did: the blue one" }),
    );
    const failing = await transport.start("fail", {});
    await eventually(async () =>
      expect(await transport.check(failing, {})).toEqual({ status: "error", reason: "It broke." }),
    );
    const chatting = await transport.start("chat", {});
    expect(await transport.check(chatting, {})).toEqual({ status: "success", result: "said at once" });
    const later = a2aTransport({ url: agent.url, headers: {} });
    expect(await later.check(chatting, {})).toMatchObject({ status: "error" });
    await expect(transport.check({ ...failing, runId: "nobody" }, {})).rejects.toMatchObject({
      code: "ASYNC_TASK_FAILED",
      cause: { status: 404 },
    });
  });

  test("tells the supervisor of its end once", async () => {
    const transport = a2aTransport({ url: agent.url, headers: {}, pauses: [5, 20] });
    const begun = await transport.start("work", {});
    const { open, mailbox } = backgroundTasks();
    open.watch(
      version,
      { ...begun, taskId: begun.threadId, agentName: "other", createdAt: "" },
      transport,
      mailbox,
    );
    agent.release();
    await until(() => !open.has(version));
    expect(await mailbox.unread(version)).toMatchObject([{ taskId: begun.threadId, status: "success" }]);
  });
});

describe("an agent that is not as it should be is an error result", () => {
  let server: Server;
  let listener: RequestListener;
  let url: string;
  beforeAll(async () => {
    server = createServer((...given) => listener(...given));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const rpc = (answer: object) => (card: object) => (request: { method?: string }) =>
    request.method === "GET" ? card : answer;
  const spoken = (address: string) => ({
    supportedInterfaces: [{ url: address, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  });

  test.each<[string, () => (request: { method?: string }) => object, RegExp]>([
    ["no card", () => () => ({}), /card without an address/],
    [
      "TR-07: a card that leads the headers elsewhere",
      () => () => spoken("http://169.254.169.254/rpc"),
      /names another origin/,
    ],
    ["no task", () => rpc({ result: { task: { id: "x" } } })(spoken(`${url}/rpc`)), /without a usable task/],
    [
      "a refusal",
      () => rpc({ error: { code: -32602, message: "Not like this." } })(spoken(`${url}/rpc`)),
      /refused: Not like this\./,
    ],
    [
      "an id that is no id",
      () =>
        rpc({
          result: { task: { id: "x", contextId: "../store", status: { state: "TASK_STATE_WORKING" } } },
        })(spoken(`${url}/rpc`)),
      /without a usable 'contextId'/,
    ],
  ])("%s", async (name, answer, words) => {
    listener = (request, response) => void response.end(JSON.stringify(answer()(request)));
    const result = await talk(overA2a(url, { headers: { "x-key": "key-of-ours" } }), name).one(
      "start_async_task",
      { description: "x", subagent_type: "other" },
    );
    expect(result.status).toBe("error");
    expect(result.text).toMatch(words);
    expect(result.text).not.toContain("key-of-ours");
  });

  test.each([
    ["http://10.0.0.1", /private network/],
    ["file:///etc/passwd", /http/],
    [5, /address of an agent/],
  ])("an address that is not allowed is refused when the agent is made: %s", (a2a, words) => {
    expect(() => overA2a(a2a as string)).toThrow(words);
    expect(() => overA2a("https://example.com", { graphId: "x" })).toThrow(/graphId/);
  });
});
