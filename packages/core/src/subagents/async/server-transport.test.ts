import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { type AgentServer, agentServer, type ServedRun } from "./agent-server-for-tests.ts";
import { backgroundTasks } from "./background-tasks.ts";
import { serverTransport } from "./server-transport.ts";
import { supervisor, talk } from "./supervisors-for-tests.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await agentServer();
});
afterEach(() => {
  server.answer = undefined;
  return backgroundTasks().close();
});
afterAll(() => server.close());

const remote = (given: object = {}) =>
  supervisor({
    subagents: [
      {
        name: "researcher",
        description: "Looks things up.",
        graphId: "research",
        url: server.url,
        headers: { "x-api-key": "key-of-ours" },
        ...given,
      },
    ],
  });
const transportOf = (given: object = {}) =>
  serverTransport({
    graphId: "research",
    url: server.url,
    headers: {},
    tellsItself: false,
    pause: [5, 20],
    ...given,
  });

/** A task whose end the thread waits for. */
async function watched(owner: string, given: object = {}) {
  const transport = transportOf(given);
  const begun = await transport.start("Whales.", {});
  const task = { ...begun, taskId: begun.threadId, agentName: "researcher", createdAt: "" };
  const { open, mailbox } = backgroundTasks();
  open.watch(owner, task, transport, mailbox);
  const ended = async () => {
    await until(() => !open.has(owner));
    return mailbox.unread(owner);
  };
  return { run: server.runs.at(-1) as ServedRun, task, transport, ended };
}
const order = { description: "Whales.", subagent_type: "researcher" };

describe("a task on a server", () => {
  test("is started, checked, updated in the middle of its work, and gives its result", async () => {
    const thread = talk(remote(), "server");
    await thread.one("start_async_task", order);
    const run = server.runs.at(-1);
    expect(run?.body).toMatchObject({
      assistant_id: "research",
      input: { messages: [{ role: "user", content: "Whales." }] },
    });
    expect(run?.body.input).not.toHaveProperty("callbackThreadId");
    expect(run?.headers["x-api-key"]).toBe("key-of-ours");
    const [task] = await thread.tasks();
    expect(task).toMatchObject({ taskId: run?.threadId, runId: run?.runId, status: "running" });
    const args = { task_id: task?.taskId };
    expect((await thread.one("check_async_task", args)).text).toContain(": running.");
    await thread.one("update_async_task", { ...args, message: "Dolphins." });
    const next = server.runs.at(-1) as NonNullable<typeof run>;
    expect(next).toMatchObject({ threadId: run?.threadId, body: { multitask_strategy: "interrupt" } });
    expect(run?.status).toBe("interrupted");
    server.finish(next, "About dolphins.");
    expect((await thread.one("check_async_task", args)).text).toMatch(/: success\nAbout dolphins\.$/);
    expect((await thread.one("list_async_tasks", { status_filter: "success" })).text).toContain(task?.taskId);
  });

  test("is the same one when the call is made again after a crash", async () => {
    const transport = serverTransport({
      graphId: "research",
      url: server.url,
      headers: {},
      tellsItself: false,
    });
    const call = { ownerThreadId: "crashed", callId: "call_1" };
    const first = await transport.start("Whales.", call);
    expect(await transport.start("Whales.", call)).toEqual(first);
    expect((await transport.start("Whales.", { ...call, callId: "call_2" })).threadId).not.toBe(
      first.threadId,
    );
    expect(server.runs.filter(({ threadId }) => threadId === first.threadId)).toHaveLength(1);
  });

  test("is cancelled there", async () => {
    const thread = talk(remote(), "server-cancel");
    await thread.one("start_async_task", order);
    const [task] = await thread.tasks();
    await thread.one("cancel_async_task", { task_id: task?.taskId });
    expect(server.runs.at(-1)?.status).toBe("interrupted");
    expect((await thread.one("list_async_tasks")).text).toContain("cancelled");
  });

  test("that fails there says why", async () => {
    const thread = talk(remote(), "server-fails");
    await thread.one("start_async_task", order);
    server.fail(server.runs.at(-1) as never, "The model is gone.");
    const [task] = await thread.tasks();
    expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toMatch(
      /error\nThe model is gone\.$/,
    );
  });

  test("PAINS 23: that fails there says what it had said until then", async () => {
    const transport = transportOf();
    const begun = await transport.start("Whales.", {});
    const run = server.runs.at(-1) as ServedRun;
    server.finish(run, "Half of it is in /notes.md.");
    server.fail(run, "The model is gone.");
    expect(await transport.check(begun, {})).toEqual({
      status: "error",
      reason: "The model is gone.\nIts last words:\nHalf of it is in /notes.md.",
    });
  });

  test("tells the supervisor of its end once, though nobody checked it", async () => {
    const transport = serverTransport({
      graphId: "research",
      url: server.url,
      headers: {},
      tellsItself: false,
      pause: [5, 20],
    });
    const run = await transport.start("Whales.", {});
    const task = { ...run, taskId: run.threadId, agentName: "researcher", createdAt: "" };
    const { open, mailbox } = backgroundTasks();
    open.watch("owner", task, transport, mailbox);
    open.watch("owner", task, transport, mailbox);
    server.answer = (_, response) => void response.writeHead(503).end();
    const seen = server.requests.length;
    await until(() => server.requests.length > seen);
    server.answer = undefined;
    server.finish(server.runs.at(-1) as never, "Found.");
    await until(() => !open.has("owner"));
    expect(await mailbox.unread("owner")).toEqual([
      expect.objectContaining({ taskId: run.threadId, runId: run.runId, status: "success" }),
    ]);
  });

  test("with an agent that tells of its end itself is given the thread to tell, and looked at all the same", async () => {
    const thread = talk(remote({ callback: true }), "thread-of-ours");
    await thread.one("start_async_task", order);
    expect(server.runs.at(-1)?.body.input.callbackThreadId).toBe("thread-of-ours");
    expect(backgroundTasks().open.has("thread-of-ours")).toBe(true);
    const [slow, quick] = [true, false].map((tellsItself) => transportOf({ tellsItself, pause: undefined }));
    expect(slow?.pauses?.[0]).toBeGreaterThan(10 * (quick?.pauses?.[0] ?? Infinity));
  });

  test("whose agent was to tell of its end, and died before, is told of", async () => {
    const { run, ended } = await watched("owner-of-dead", { tellsItself: true });
    server.fail(run, "The process is gone.");
    expect(await ended()).toMatchObject([{ runId: run.runId, status: "error" }]);
  });

  test("is not done while its server says that its agent has tasks of its own at work", async () => {
    const { run, ended, task, transport } = await watched("owner-of-middle");
    server.notes.set(run.threadId, { open_tasks: 1 });
    server.finish(run, "Started.");
    expect(await transport.check(task, {})).toEqual({ status: "running" });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(await backgroundTasks().mailbox.unread("owner-of-middle")).toEqual([]);
    server.notes.delete(run.threadId);
    expect(await ended()).toMatchObject([{ status: "success" }]);
  });

  test.each([
    [{ status: "busy" }, "running"],
    [{ status: "interrupted" }, "interrupted"],
    [{ status: "error" }, "error"],
    [{ status: "idle" }, "success"],
  ])("that has ended is as its thread is: %o is %s", async (note, status) => {
    const transport = transportOf();
    const begun = await transport.start("Whales.", {});
    server.finish(server.runs.at(-1) as never, "Found.");
    server.notes.set(begun.threadId, note);
    expect(await transport.look?.(begun, undefined)).toEqual({ status });
  });

  test("that waited for a person, and was answered in another run, is as that run is", async () => {
    const transport = transportOf();
    const begun = await transport.start("Whales.", {});
    const first = server.runs.at(-1) as ServedRun;
    first.status = "interrupted";
    expect(await transport.look?.(begun, undefined)).toEqual({ status: "cancelled" });
    server.notes.set(begun.threadId, { status: "interrupted" });
    expect(await transport.look?.(begun, undefined)).toEqual({ status: "interrupted" });
    server.notes.delete(begun.threadId);
    await transport.update(begun, "Yes.", {});
    expect(await transport.look?.(begun, undefined)).toEqual({ status: "running" });
    server.finish(server.runs.at(-1) as never, "Found.");
    expect(await transport.look?.(begun, undefined)).toEqual({ status: "success" });
  });

  test("of a server that has nothing to say of threads is as its run is", async () => {
    const transport = transportOf();
    const begun = await transport.start("Whales.", {});
    server.finish(server.runs.at(-1) as never, "Found.");
    server.answer = (request, response) => {
      const isRun = /\/runs\//.test(request.url ?? "");
      response.writeHead(isRun ? 200 : 404).end(isRun ? '{"status":"success"}' : "{}");
    };
    expect(await transport.look?.(begun, undefined)).toEqual({ status: "success" });
  });
});

describe("a server that does not answer as it should is an error result", () => {
  const big = Buffer.alloc(17 * 1024 * 1024, " ");
  test.each<[string, NonNullable<AgentServer["answer"]>, RegExp]>([
    [
      "an error with a reason",
      (_, response) => void response.writeHead(403).end('{"detail":"Not for you."}'),
      /status 403: Not for you\./,
    ],
    ["an error without", (_, response) => void response.writeHead(500).end("<html>"), /status 500\.$/],
    ["something else", (_, response) => void response.end("<html>"), /not JSON/],
    [
      "no id",
      (_, response) => void response.end('{"thread_id":"../../store"}'),
      /without a usable 'thread_id'/,
    ],
    [
      "TR-07: a redirect, wherever it leads",
      (_, response) => void response.writeHead(302, { location: "http://169.254.169.254/threads" }).end(),
      /redirect, which is not followed/,
    ],
    ["TR-07: more than 16 MiB", (_, response) => void response.end(big), /more than 16 MiB/],
    [
      "TR-07: more than 16 MiB when unpacked",
      (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(big)),
      /more than 16 MiB/,
    ],
    ["nothing", (request) => void request.socket.destroy(), /cannot be reached/],
  ])("%s", async (name, answer, words) => {
    server.answer = answer;
    const result = await talk(remote(), name).one("start_async_task", order);
    expect(result.status).toBe("error");
    expect(result.text).toMatch(/^Error: The server of the subagent /);
    expect(result.text).toMatch(words);
    expect(result.text).not.toContain("key-of-ours");
  });

  test("an abort of the run ends the request", async () => {
    server.answer = () => undefined;
    const stop = new AbortController();
    const content = `start_async_task ${JSON.stringify(order)}`;
    const input = { messages: [{ role: "user", content }] };
    const seen = server.requests.length;
    const run = remote().invoke(input, { configurable: { thread_id: "hangs" }, signal: stop.signal });
    await until(() => server.requests.length > seen);
    stop.abort();
    await expect(run).rejects.toThrow();
  });
});
