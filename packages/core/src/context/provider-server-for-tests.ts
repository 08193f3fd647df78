/**
 * A server on this machine that answers, counts, caches and refuses as Anthropic, OpenAI (both APIs) and
 * Gemini do. What the model says is a function of the request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Counted, PromptCache, tokensOf } from "./provider-server-cache-for-tests.ts";
import { type ReadRequest, readRequest } from "./provider-server-read-for-tests.ts";
import { refusalOf } from "./provider-server-rules-for-tests.ts";
import {
  errorBody,
  overflowBody,
  type ProviderAnswer,
  type Reply,
  WIRES,
} from "./provider-server-wire-for-tests.ts";

export type { ProviderAnswer } from "./provider-server-wire-for-tests.ts";

export interface SeenRequest extends ReadRequest {
  readonly path: string;
  /** How many requests were answered before this one. */
  readonly turn: number;
  readonly counted: Counted;
  /** 200, or why not. */
  readonly status: number;
  readonly refusal: string | undefined;
}

export interface ProviderServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** All that came, refused ones too. */
  readonly requests: readonly SeenRequest[];
  /** The reasons of all refusals that were not scripted and no overflow. */
  readonly refusals: readonly string[];
  /** How many requests were larger than the window. */
  readonly overflows: number;
  /** Of the tokens of all requests that were answered, those that came from the cache: 0 to 1. */
  cachedShare(): number;
  close(): Promise<void>;
}

export interface ProviderServerOptions {
  readonly answer: (request: Omit<SeenRequest, "status" | "refusal">) => ProviderAnswer;
  /** Tokens of a request at most; default: any number. */
  readonly window?: number;
  /** Tokens of this provider for one of o200k; default 1. */
  readonly factor?: number;
}

export async function providerServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const desk = new Desk(options);
  const server = createServer((request, response) => {
    desk.handle(request, response).catch((error: Error) => {
      desk.refusals.push(`the server failed: ${error.stack}`);
      sendJson(response, 500, { error: { message: error.message } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: desk.requests,
    refusals: desk.refusals,
    get overflows() {
      return desk.overflows;
    },
    cachedShare: () => desk.cachedShare(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

class Desk {
  readonly requests: SeenRequest[] = [];
  readonly refusals: string[] = [];
  overflows = 0;
  private turn = 0;
  private readonly cache: PromptCache;
  private readonly window: number;

  constructor(private readonly options: ProviderServerOptions) {
    this.cache = new PromptCache(options.factor ?? 1);
    this.window = options.window ?? Number.POSITIVE_INFINITY;
  }

  async handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const piece of incoming.setEncoding("utf8")) text += piece;
    const path = incoming.url ?? "";
    const request = readRequest(path, JSON.parse(text));
    const refusal = refusalOf(request);
    const counted = refusal === undefined ? this.cache.count(request) : { total: 0, read: 0, written: 0 };
    const seen = { ...request, path, turn: this.turn, counted };
    const record = (status: number, reason?: string) =>
      this.requests.push({ ...seen, status, refusal: reason });
    if (refusal !== undefined) {
      this.refusals.push(refusal);
      record(400, refusal);
      return sendJson(response, 400, errorBody(request.api, refusal));
    }
    if (counted.total > this.window) {
      this.overflows += 1;
      record(400, "overflow");
      return sendJson(response, 400, overflowBody(request.api, counted.total, this.window));
    }
    const answer = this.options.answer(seen);
    record(answer.status ?? 200);
    if (answer.status !== undefined)
      return sendJson(response, answer.status, answer.body ?? {}, answer.headers);
    if (answer.fate === "silent") return;
    if (answer.fate === "reset") return void response.destroy();
    const reply = this.reply(request, answer, counted);
    if (answer.raw !== undefined) return sendRaw(seen, reply, response, answer);
    if (answer.fate === undefined) this.turn += 1;
    this.send(seen, reply, response, answer.fate);
  }

  cachedShare(): number {
    const answered = this.requests.filter(({ status }) => status === 200);
    const sum = (field: keyof Counted) => answered.reduce((all, { counted }) => all + counted[field], 0);
    return sum("read") / sum("total");
  }

  private reply({ api }: ReadRequest, { text = "", calls = [] }: ProviderAnswer, counted: Counted): Reply {
    const prefix = api === "anthropic" ? "toolu" : "call";
    const named = calls.map((call, index) => ({ ...call, id: `${prefix}_${this.turn}_${index}` }));
    const output = tokensOf(text) + tokensOf(JSON.stringify(calls));
    return { text, calls: named, number: this.turn, counted, output };
  }

  private send(
    { api, stream }: ReadRequest,
    reply: Reply,
    response: ServerResponse,
    fate: ProviderAnswer["fate"],
  ): void {
    if (fate !== undefined) {
      const text = stream ? WIRES[api].streamed(reply).join("") : JSON.stringify(WIRES[api].whole(reply));
      response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" });
      if (fate === "slow") trickle(response, text);
      else
        response.write(text.slice(0, Math.ceil(text.length / 2)), () => {
          if (fate === "broken") response.destroy();
        });
      return;
    }
    if (!stream) {
      sendJson(response, 200, WIRES[api].whole(reply));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of WIRES[api].streamed(reply)) response.write(piece);
    response.end();
  }
}

function sendRaw(
  { api, stream }: ReadRequest,
  reply: Reply,
  response: ServerResponse,
  { raw, contentType }: ProviderAnswer,
): void {
  const pieces = stream ? WIRES[api].streamed(reply) : [JSON.stringify(WIRES[api].whole(reply))];
  const usual = stream ? "text/event-stream" : "application/json";
  const body = raw?.(pieces);
  response.writeHead(200, { "content-type": contentType ?? usual });
  response.end(body);
}

function trickle(response: ServerResponse, text: string, size: number = Math.ceil(text.length / 12)): void {
  response.write(text.slice(0, size));
  if (text.length <= size) response.end();
  else setTimeout(() => trickle(response, text.slice(size), size), 150);
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
