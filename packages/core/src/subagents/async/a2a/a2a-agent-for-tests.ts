/** An agent of somebody else: the server of A2A's own SDK, in one version of the protocol, over HTTP on loopback. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AgentCard, Role, TaskState } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from "@a2a-js/sdk/server";

export interface A2aAgent {
  readonly url: string;
  /** Method and words of each call. */
  readonly calls: readonly { readonly method: string; readonly headers: Record<string, unknown> }[];
  /** Lets tasks that `work` come to their end. */
  release(): void;
  close(): Promise<void>;
}

const text = (value: string) => ({
  content: { $case: "text" as const, value },
  metadata: undefined,
  filename: "",
  mediaType: "",
});

/** `work` works until it is released, `ask` asks, `chat` answers with a message, `fail` fails; all else is done at once. */
function executor(released: Promise<void>): AgentExecutor {
  const cancelled = new Set<string>();
  const status = (taskId: string, contextId: string, state: TaskState, words = "") => {
    const message = words === "" ? undefined : messageOf(words, contextId, taskId);
    return AgentEvent.statusUpdate({
      ...{ taskId, contextId, metadata: undefined },
      status: { state, message, timestamp: undefined },
    });
  };
  return {
    async execute({ taskId, contextId, userMessage }, bus: ExecutionEventBus) {
      const order = String(userMessage.parts[0]?.content?.value);
      if (order === "chat") {
        bus.publish(AgentEvent.message(messageOf("said at once", contextId, "")));
        return;
      }
      const working = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined };
      const task = { id: taskId, contextId, status: working, artifacts: [], history: [userMessage] };
      bus.publish(AgentEvent.task({ ...task, metadata: undefined }));
      const end = (state: TaskState, words?: string) => bus.publish(status(taskId, contextId, state, words));
      if (order === "work") await released;
      if (cancelled.has(taskId)) return;
      if (order === "ask") return end(TaskState.TASK_STATE_INPUT_REQUIRED, "Which one?");
      if (order === "fail") return end(TaskState.TASK_STATE_FAILED, "It broke.");
      const artifact = {
        ...{ artifactId: "answer", name: "", description: "", metadata: undefined, extensions: [] },
        parts: [text(`did: ${order}`)],
      };
      bus.publish(
        AgentEvent.artifactUpdate({
          ...{ taskId, contextId, artifact, metadata: undefined, append: false, lastChunk: true },
        }),
      );
      end(TaskState.TASK_STATE_COMPLETED);
    },
    async cancelTask(taskId, bus) {
      cancelled.add(taskId);
      bus.publish(status(taskId, "", TaskState.TASK_STATE_CANCELED));
    },
  };
}

function messageOf(words: string, contextId: string, taskId: string) {
  const more = { metadata: undefined, extensions: [], referenceTaskIds: [] };
  return {
    ...more,
    ...{ messageId: crypto.randomUUID(), contextId, taskId, role: Role.ROLE_AGENT, parts: [text(words)] },
  };
}

export async function a2aAgent(version: "1.0" | "0.3"): Promise<A2aAgent> {
  const calls: { method: string; headers: Record<string, unknown> }[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let handler: Pick<JsonRpcTransportHandler, "handle"> | Pick<LegacyJsonRpcTransportHandler, "handle">;
  let card = {};
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    response.setHeader("content-type", "application/json");
    if (request.method === "GET") {
      const isThere = request.url === "/agents/one/.well-known/agent-card.json";
      return void response.writeHead(isThere ? 200 : 404).end(JSON.stringify(card));
    }
    calls.push({ method: JSON.parse(body).method, headers: request.headers });
    const context = new ServerCallContext({ requestedVersion: version });
    response.end(JSON.stringify(await handler.handle(body, context)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rpc = `${origin}/rpc`;
  const interfaces = [
    { url: rpc, protocolBinding: "GRPC", protocolVersion: version },
    { url: rpc, protocolBinding: "JSONRPC", protocolVersion: version },
  ];
  card =
    version === "1.0"
      ? { supportedInterfaces: interfaces }
      : { url: rpc, preferredTransport: "JSONRPC", protocolVersion: "0.3.0" };
  const sdkCard = { supportedInterfaces: interfaces, capabilities: {}, defaultInputModes: [], skills: [] };
  const requests = new DefaultRequestHandler(
    sdkCard as unknown as AgentCard,
    new InMemoryTaskStore(),
    executor(released),
  );
  handler =
    version === "1.0" ? new JsonRpcTransportHandler(requests) : new LegacyJsonRpcTransportHandler(requests);
  return {
    url: `${origin}/agents/one`,
    calls,
    release,
    async close() {
      release();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
