/** Background tasks on a server of the agent protocol, which this program plays itself. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { MemorySaver } from "@langchain/langgraph";
import { type AsyncTask, createDeepAgent } from "library";
import { outline, results, withoutDates } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const THREAD = "11111111-1111-4111-8111-111111111111";
const RUN = "22222222-2222-4222-8222-222222222222";
const SECOND_RUN = "33333333-3333-4333-8333-333333333333";

/** Answers as a server would. Its first run has ended well, and the second one still runs. */
function startServer(log: string[]) {
  const run = {
    run_id: RUN,
    thread_id: THREAD,
    assistant_id: "far",
    status: "success",
    metadata: {},
    kwargs: {},
  };
  const messages = [
    { type: "human", content: "?" },
    { type: "ai", content: "far report" },
  ];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", () => {
      const path = (request.url ?? "").split("?")[0] ?? "";
      log.push(`${request.method} ${path} ${request.headers["x-key"] ?? ""}`);
      if (path.endsWith("/cancel")) run.status = "interrupted";
      if (path.endsWith("/runs") && request.method === "POST") {
        Object.assign(run, body.includes("further") ? { status: "running", run_id: SECOND_RUN } : {});
        const { assistant_id, input } = JSON.parse(body);
        log.push(
          JSON.stringify([assistant_id, input?.messages?.map((one: { content: string }) => one.content)]),
        );
      }
      const thread = { thread_id: THREAD, status: "idle", metadata: {}, values: { messages } };
      const answer = path.includes("/runs")
        ? run
        : path.endsWith("/state")
          ? { values: { messages }, next: [], tasks: [] }
          : thread;
      response.setHeader("content-type", "application/json");
      response.end(path.endsWith("/cancel") ? "null" : JSON.stringify(answer));
    });
  });
  return new Promise<typeof server>((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

export default async function program() {
  const log: string[] = [];
  const server = await startServer(log);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const model = scripted([
    call("start_async_task", { agentName: "far", description: "Look far." }),
    call("check_async_task", { taskId: THREAD }),
    call("update_async_task", { taskId: THREAD, message: "Look further." }),
    call("list_async_tasks", {}),
    call("cancel_async_task", { taskId: THREAD }),
    call("check_async_task", { taskId: "unknown" }),
    call("start_async_task", { agentName: "nobody", description: "?" }),
    "done",
  ]);
  const agent = createDeepAgent({
    model,
    checkpointer: new MemorySaver(),
    subagents: [{ name: "far", description: "far", graphId: "far", url, headers: { "x-key": "k" } }],
  });
  const config = { configurable: { thread_id: "t" } };
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }] }, config);
  server.close();
  const { asyncTasks } = (await agent.graph.getState(config)).values as {
    asyncTasks?: Record<string, AsyncTask>;
  };
  return withoutDates({
    log: log.filter((line) => line.startsWith("[") || line.startsWith("POST")),
    outline: outline(result.messages),
    report: results(result.messages, "check_async_task")[0]?.includes("far report"),
    list: results(result.messages, "list_async_tasks")[0]?.includes(THREAD),
    tasks: Object.values(asyncTasks ?? {}).map(({ taskId, agentName, threadId, runId, status }) => [
      taskId,
      agentName,
      threadId,
      runId,
      status,
    ]),
  });
}
