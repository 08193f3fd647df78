/** A server on this machine that answers as the providers do, streaming included. For tests only. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  anthropicEvents,
  googleEvents,
  ollamaLines,
  openaiChunks,
  responsesEvents,
} from "./provider-wire.ts";

/** One answer: words, a tool call, or a status that says no. */
export interface Answer {
  /** Id of the message, for OpenAI's chat completions; absent: the same for all. */
  readonly id?: string;
  /** In the pieces it is streamed in. */
  readonly text?: readonly string[];
  readonly call?: { readonly name: string; readonly args: Record<string, unknown> };
  readonly status?: number;
  /** The body that goes with `status`. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Waited for before the last piece is sent. */
  readonly hold?: Promise<void>;
  /** Why the model stopped, in the provider's own word; absent: the usual one. */
  readonly stopReason?: string;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: any;
}

export interface ProviderServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Requests that called a model. */
  asked(): readonly SeenRequest[];
  close(): Promise<void>;
}

/** Answers in order; the last one is repeated. `models` is what the server says it has. */
export async function providerServer(
  answers: readonly Answer[],
  models: readonly string[] = [],
): Promise<ProviderServer> {
  const requests: SeenRequest[] = [];
  let turn = 0;
  const server = createServer(async (request, response) => {
    const seen = await readRequest(request);
    requests.push(seen);
    if (answerList(seen, models, response)) return;
    const answer = answers[Math.min(turn++, answers.length - 1)] ?? {};
    await answerModel(seen, answer, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    asked: () => requests.filter(({ method, path }) => method === "POST" && path !== "/api/show"),
    close: () => closed(server),
  };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  const { method = "", url = "", headers } = request;
  return { method, path: url, headers, body: text === "" ? undefined : JSON.parse(text) };
}

function answerList(seen: SeenRequest, models: readonly string[], response: ServerResponse): boolean {
  if (seen.path.endsWith("/api/tags"))
    return json(response, 200, { models: models.map((name) => ({ name })) });
  if (seen.path.endsWith("/api/show"))
    return json(response, 200, {
      capabilities: String(seen.body?.model).includes("tools") ? ["completion", "tools"] : ["completion"],
    });
  if (seen.method === "GET") return json(response, 200, { data: models.map((id) => ({ id })) });
  return false;
}

async function answerModel(seen: SeenRequest, answer: Answer, response: ServerResponse): Promise<void> {
  if (answer.status !== undefined) {
    json(response, answer.status, answer.body ?? { error: { message: "no" } }, answer.headers);
    return;
  }
  if (seen.path.includes("/chat/completions") && seen.body?.stream !== true) {
    await answer.hold;
    json(response, 200, wholeCompletion(answer));
    return;
  }
  const pieces = wireOf(seen, answer);
  const type = seen.path.includes("/api/chat") ? "application/x-ndjson" : "text/event-stream";
  response.writeHead(200, { "content-type": type });
  for (const [i, piece] of pieces.entries()) {
    if (i === Math.max(pieces.length - 3, 1)) await answer.hold;
    response.write(piece);
  }
  response.end();
}

/** A reply of OpenAI's protocol that is not streamed. */
function wholeCompletion({ text = [], call, stopReason }: Answer): object {
  const made = call && {
    id: "call_1",
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.args) },
  };
  const message = { role: "assistant", content: text.join(""), ...(made ? { tool_calls: [made] } : {}) };
  const reason = stopReason ?? (made ? "tool_calls" : "stop");
  return {
    id: "completion",
    object: "chat.completion",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, message, finish_reason: reason }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  };
}

function wireOf({ path }: SeenRequest, answer: Answer): readonly string[] {
  if (path.includes("/messages")) return anthropicEvents(answer);
  if (path.includes("/responses")) return responsesEvents(answer);
  if (path.includes("/chat/completions")) return openaiChunks(answer);
  if (path.includes("GenerateContent")) return googleEvents(answer);
  if (path.includes("/api/chat")) return ollamaLines(answer);
  throw new Error(`No provider answers ${path}.`);
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): true {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
  return true;
}
