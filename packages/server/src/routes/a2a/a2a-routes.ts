/** A2A 1.0 and 0.3 over the runs of the server: agent cards, and tasks by JSON-RPC. */
import { randomUUID } from "node:crypto";
import {
  type Assistant,
  type ProblemCode,
  type RpcRequest,
  type StreamMode,
  sentMessage,
} from "@deepwright/protocol";
import { TASK_KEY, taskIdOf, taskOf } from "../../a2a/a2a-task.ts";
import { newerRequest } from "../../a2a/older-form.ts";
import { invalid, Problem, problemOf } from "../../http/problems.ts";
import { eventResponse, type StreamedEvent } from "../../http/sse-response.ts";
import { waitResponse } from "../../http/wait-response.ts";
import type { PushConfig, RunHead } from "../../records/records.ts";
import { RunTranslator } from "../../runs/wire/thread-events/translate-run.ts";
import { assistantOf } from "../assistant-routes.ts";
import type { Handlers } from "../call.ts";
import { startRun } from "../run-parts.ts";
import { answerInterrupts } from "../thread-work-routes.ts";
import {
  namedRun,
  type RpcCall,
  RpcError,
  reply,
  replyText,
  taskNow,
  taskRun,
  waitingFor,
} from "./a2a-calls.ts";
import { listTasks } from "./list-tasks.ts";
import { createPush, deletePush, getPush, listPush, pushOf } from "./push-configs.ts";

const MODES: StreamMode[] = ["values", "updates", "messages-tuple"];

export const a2aRoutes: Handlers<"a2a"> = {
  "a2a.card": async ({ request, owner, query, services }) => {
    const id = query.assistant_id ?? services.agents.names[0] ?? "";
    return cardOf(await assistantOf(services, owner, id), request);
  },

  "a2a.call": async (call) => {
    const { owner, parameters, services } = call;
    const newer = newerRequest(call.body);
    const body = newer ?? call.body;
    const assistant = await assistantOf(services, owner, parameters.assistant_id);
    const method = METHODS.get(body.method);
    try {
      if (method === undefined) throw new RpcError(-32601, `There is no method '${body.method}' here.`);
      return await method({ ...call, body, assistant, isOlder: newer !== undefined });
    } catch (error) {
      return failure(body, error);
    }
  },
};

const METHODS: ReadonlyMap<string, (call: RpcCall) => Promise<Response>> = new Map([
  ["SendMessage", send],
  ["SendStreamingMessage", stream],
  ["GetTask", async (call: RpcCall) => reply(call, await taskNow(call, await namedRun(call)))],
  ["CancelTask", cancel],
  ["ListTasks", listTasks],
  ["CreateTaskPushNotificationConfig", createPush],
  ["GetTaskPushNotificationConfig", getPush],
  ["ListTaskPushNotificationConfigs", listPush],
  ["DeleteTaskPushNotificationConfig", deletePush],
]);

/** Problems that become JSON-RPC errors. Others stay HTTP errors, whose status says whether a client may try again. */
const ERRORS: Partial<Record<ProblemCode, number>> = {
  INVALID_REQUEST: -32602,
  NOT_FOUND: -32001,
  NOTHING_TO_RESUME: -32004,
  THREAD_BUSY: -32004,
};

function failure({ id }: RpcRequest, error: unknown): Response {
  const { code, message } = error instanceof RpcError ? error : problemOf(error);
  const known = typeof code === "number" ? code : ERRORS[code];
  if (known === undefined) throw error;
  return Response.json({ jsonrpc: "2.0", id, error: { code: known, message } });
}

function cardOf(
  { assistant_id: id, name, description }: Assistant,
  request: Request,
): Record<string, unknown> {
  const { host, protocol } = new URL(request.url);
  const scheme = request.headers.get("x-forwarded-proto") === "https" ? "https:" : protocol;
  const about = description || `The agent '${name}' of a Deepwright server.`;
  const url = `${scheme}//${host}/a2a/${encodeURIComponent(id)}`;
  return {
    name,
    description: about,
    version: "1",
    supportedInterfaces: ["1.0", "0.3"].map((protocolVersion) => {
      return { url, protocolBinding: "JSONRPC", protocolVersion };
    }),
    // Fields of 0.3, which 1.0 has elsewhere or in another form.
    ...{ url, preferredTransport: "JSONRPC", protocolVersion: "0.3.0", security: [{ token: [] }] },
    capabilities: { streaming: true, pushNotifications: true },
    securitySchemes: {
      token: { httpAuthSecurityScheme: { scheme: "Bearer" }, type: "http", scheme: "Bearer" },
    },
    securityRequirements: [{ schemes: { token: { list: [] } } }],
    defaultInputModes: ["text/plain", "application/json"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "task", name, description: about, tags: ["agent"] }],
  };
}

type SentParts = ReturnType<typeof sentMessage.parse>["message"]["parts"];

function textOf(parts: SentParts): string {
  const texts = parts.map(({ text, data }) => {
    if (text !== undefined) return text;
    if (data === undefined) throw new RpcError(-32005, "Parts are texts or data; files are not taken.");
    return JSON.stringify(data);
  });
  return texts.join("\n");
}

/** Starts a new task on the thread of the context, or answers the question of a waiting task. */
async function begin(call: RpcCall): Promise<RunHead> {
  const { message, configuration } = sentMessage.parse(call.body.params);
  const { taskId, contextId, parts } = message;
  const wish = configuration?.taskPushNotificationConfig;
  const push = wish ? pushOf(wish, call.isOlder) : null;
  if (taskId !== undefined) return answer(call, taskId, parts, push);
  const request = {
    assistant_id: call.assistant.assistant_id,
    input: { messages: [{ role: "user", content: textOf(parts) }] },
    if_not_exists: "create",
    stream_mode: MODES,
    push,
  } as const;
  return startRun(call, request, contextId ?? randomUUID());
}

/** Answers with the data of the message, else with its text. If several questions wait, data is `{interrupt_id, value}`. */
async function answer(
  call: RpcCall,
  taskId: string,
  parts: SentParts,
  wish: PushConfig | null,
): Promise<RunHead> {
  const { services, owner } = call;
  const run = await taskRun(call, taskId);
  const before = await services.runs.get(owner, run.run_id);
  const waiting = await waitingFor(call, run);
  const given = parts.find(({ data }) => data !== undefined)?.data ?? textOf(parts);
  const { interrupt_id: named, value } = (given ?? {}) as { interrupt_id?: unknown; value?: unknown };
  if (waiting.length === 0) throw new Problem("NOTHING_TO_RESUME", "The task waits for no input.");
  if (named === undefined && waiting.length > 1)
    throw invalid("data: the task waits for several answers; name one with interrupt_id.");
  const id = named === undefined ? waiting[0]?.id : named;
  return answerInterrupts(call, run.thread_id, {
    answers: { [String(id)]: named === undefined ? given : value },
    metadata: { [TASK_KEY]: taskId },
    stream_mode: MODES,
    push: wish ?? before?.request.push ?? null,
    keyStandsFor: ["a2a", call.body],
  });
}

function send(call: RpcCall): Promise<Response> {
  const { owner, services, cut } = call;
  const { configuration } = sentMessage.parse(call.body.params);
  return services.streams.hold(owner, async (release) => {
    const run = await begin(call);
    if (configuration?.returnImmediately) {
      release();
      return reply(call, { task: await taskNow(call, run) });
    }
    const work = async (signal: AbortSignal) => {
      await services.runs.wait(owner, run.run_id, { signal, mostBytes: services.limits.answerBytes });
      return replyText(call, { task: await taskNow(call, run) });
    };
    return waitResponse(work, { ...services, cut, headers: {}, onEnd: () => release() });
  });
}

function stream(call: RpcCall): Promise<Response> {
  const { owner, services, cut } = call;
  return services.streams.hold(owner, async (release) => {
    const run = await begin(call);
    return eventResponse((signal) => updates(call, run, signal), {
      ...services,
      cut,
      headers: {},
      onEnd: () => release(),
    });
  });
}

/** Events of a stream: the task, the text of the agent piece by piece, and the final status. */
async function* updates(call: RpcCall, run: RunHead, signal: AbortSignal): AsyncGenerator<StreamedEvent> {
  const { services, owner } = call;
  const ids = { taskId: taskIdOf(run), contextId: run.thread_id };
  let count = 0;
  const event = (result: object): StreamedEvent => ({
    id: String(++count),
    event: "message",
    data: replyText(call, result),
  });
  yield event({ task: taskOf({ run, waiting: [], answer: undefined }) });
  const translator = new RunTranslator(call.assistant.graph_id);
  const begun = new Set<unknown>();
  let artifactId: unknown;
  for await (const stored of services.runs.stream(owner, run.run_id, { signal }))
    for (const { method, namespace, data } of translator.translate(stored)) {
      if (method !== "messages" || namespace.length > 0) continue;
      const { event: kind, id, delta } = data as { event: string; id?: string; delta?: { text?: string } };
      if (kind === "message-start") artifactId = id;
      if (kind !== "content-block-delta" || delta?.text === undefined) continue;
      const artifact = { artifactId, parts: [{ text: delta.text }] };
      yield event({
        artifactUpdate: { ...ids, artifact, append: begun.has(artifactId), lastChunk: false },
      });
      begun.add(artifactId);
    }
  if (signal.aborted) return;
  yield event({ statusUpdate: { ...ids, status: (await taskNow(call, run)).status } });
}

async function cancel(call: RpcCall): Promise<Response> {
  const { services, owner, request } = call;
  const run = await namedRun(call);
  if (run.status !== "pending" && run.status !== "running")
    throw new RpcError(-32002, "The task has ended, or waits for input.");
  await services.runs.cancel(owner, run.run_id, { wait: true, signal: request.signal });
  return reply(call, await taskNow(call, run));
}
