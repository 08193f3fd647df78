/** An HTTP server on the loopback that stands for a vendor's service, and faults a test can switch on. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface LoopbackRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Body as JSON; `{}` where there is none. */
  json<Value = any>(): Value;
  /** Aborted when the client has closed the connection before the answer. */
  readonly signal: AbortSignal;
  readonly response: ServerResponse;
}

/** `undefined`: the handler has answered by itself. A body that is no string or bytes is sent as JSON. */
export type LoopbackAnswer =
  | { readonly status?: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | undefined;

export type Fault = {
  /** Requests that are meant; default all. */
  readonly when?: (method: string, path: string) => boolean;
  /** How many of them; default all until `clear`. */
  readonly times?: number;
} & (
  | {
      readonly kind: "status";
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
    }
  /** The connection is cut: before the request was looked at, or after it was acted on. */
  | { readonly kind: "drop"; readonly after?: boolean }
  /** Answered as usual, later. */
  | { readonly kind: "slow"; readonly milliseconds: number }
  /** Never answered, though acted on. */
  | { readonly kind: "hang" }
);

/** Faults that are switched on; also of use to servers that do not speak HTTP. */
export class Faults {
  #on: { readonly fault: Fault; left: number }[] = [];

  add(fault: Fault): void {
    this.#on.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
  }

  clear(): void {
    this.#on = [];
  }

  /** The fault of this request, counted as used; undefined: it is served as usual. */
  take(method: string, path: string): Fault | undefined {
    const found = this.#on.find(({ fault, left }) => left > 0 && (fault.when?.(method, path) ?? true));
    if (found !== undefined) found.left -= 1;
    return found?.fault;
  }
}

export class Loopback {
  readonly faults = new Faults();
  /** Every request, as `GET /path`. */
  readonly requests: string[] = [];
  readonly server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(handle: (request: LoopbackRequest) => Promise<LoopbackAnswer>) {
    this.server = createServer((request, response) => {
      this.#serve(request, response, handle).catch((error: unknown) => {
        if (!response.headersSent) send(response, { status: 500, body: { message: String(error) } });
        else response.destroy();
      });
    });
    // Vendors keep idle connections for minutes; with the 5 s of Node a client that is slow may write into a closed one.
    this.server.keepAliveTimeout = 3_600_000;
    this.server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(handle: (request: LoopbackRequest) => Promise<LoopbackAnswer>): Promise<Loopback> {
    const loopback = new Loopback(handle);
    await new Promise<void>((resolve) => loopback.server.listen(0, "127.0.0.1", resolve));
    return loopback;
  }

  /** `http://127.0.0.1:port`, without a slash at its end. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  async #serve(
    incoming: IncomingMessage,
    response: ServerResponse,
    handle: (request: LoopbackRequest) => Promise<LoopbackAnswer>,
  ): Promise<void> {
    const url = new URL(incoming.url ?? "/", "http://loopback");
    const method = incoming.method ?? "GET";
    this.requests.push(`${method} ${url.pathname}`);
    const fault = this.faults.take(method, url.pathname);
    if (fault?.kind === "drop" && !fault.after) {
      incoming.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (fault?.kind === "status") return send(response, fault);
    if (fault?.kind === "slow") await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
    const body = Buffer.concat(chunks);
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableEnded) gone.abort();
    });
    const answer = await handle({
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body,
      json: () => (body.length === 0 ? {} : JSON.parse(body.toString("utf8"))),
      signal: gone.signal,
      response,
    });
    if (fault?.kind === "drop") incoming.socket.destroy();
    else if (fault?.kind !== "hang" && answer !== undefined) send(response, answer);
  }
}

function send(
  response: ServerResponse,
  { status = 200, body, headers = {} }: NonNullable<LoopbackAnswer>,
): void {
  const isBytes = typeof body === "string" || body instanceof Uint8Array;
  const data = body === undefined ? "" : isBytes ? body : JSON.stringify(body);
  const type = isBytes ? "application/octet-stream" : "application/json";
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(data), ...headers });
  response.end(data);
}
