/** Construction of agents with background subagents: accepted and refused options. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAgent } from "langchain";
import {
  type AsyncSubAgent,
  createAsyncSubAgentMiddleware,
  createCompletionCallbackMiddleware,
  createDeepAgent,
  isAsyncSubAgent,
} from "library";
import { outcome } from "../../kit/look.ts";
import { scripted } from "../../kit/scripted-model.ts";

const far: AsyncSubAgent = { name: "far", description: "far", graphId: "far" };
const near = { name: "near", description: "near", systemPrompt: "Near." };

export default async function program() {
  const calls: unknown[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data) => (body += data));
    request.on("end", () => {
      const { assistant_id, input } = JSON.parse(body);
      calls.push([request.method, request.url?.split("?")[0], assistant_id, input?.messages?.length]);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ run_id: "r", thread_id: "supervisor-thread", status: "pending" }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const notifier = createCompletionCallbackMiddleware({ callbackGraphId: "supervisor", url });
  const agent = createAgent({ model: scripted(() => "report"), middleware: [notifier] });
  const input = { messages: [{ role: "user", content: "go" }] };
  await agent.invoke({ ...input, callbackThreadId: "supervisor-thread" });
  const withoutThread = await outcome(() => agent.invoke(input));
  server.close();
  const middleware = createAsyncSubAgentMiddleware({
    asyncSubAgents: [{ ...far, url }],
    systemPrompt: "Far ones exist.",
  });
  return {
    guards: [isAsyncSubAgent(far), isAsyncSubAgent(near)],
    withoutUrl: await outcome(() => createDeepAgent({ model: scripted([]), subagents: [far, near] })),
    callbackWithoutUrl: await outcome(() => createCompletionCallbackMiddleware({ callbackGraphId: "x" })),
    none: await outcome(() => createAsyncSubAgentMiddleware({ asyncSubAgents: [] })),
    twice: await outcome(() => createAsyncSubAgentMiddleware({ asyncSubAgents: [far, far] })),
    name: middleware.name,
    tools: middleware.tools?.map((tool) => tool.name).sort(),
    calls,
    withoutThread,
  };
}
