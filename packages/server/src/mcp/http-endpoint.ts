/** The protocol over HTTP: sessions of clients, each with a server of its own and one owner. */
import { randomUUID } from "node:crypto";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { after, durationMs } from "deepwright/duration";
import { loadServerSdk } from "./load-server-sdk.ts";

export interface McpEndpointOptions {
  /** For a new session. */
  readonly open: (owner: string, user: SessionCaller["user"]) => Promise<Server>;
  /** Sessions of one owner at a time; the one used longest ago makes room. Default 64. */
  readonly sessions?: number;
  /** Milliseconds after which a session without a request and without an open answer ends. Default half an hour. */
  readonly idleMs?: number;
}

/** The caller: a session has one owner, and keeps the facts known at its start. */
export interface SessionCaller {
  readonly owner: string;
  readonly user?: Readonly<Record<string, unknown>> | undefined;
}

export interface McpEndpoint {
  /** `body` is the JSON of a POST. `onEnd` is called once: the client has all of the answer, or is gone. */
  handle(request: Request, caller: SessionCaller, body: unknown, onEnd?: () => void): Promise<Response>;
  /** Ends all sessions. Safe twice. */
  close(): Promise<void>;
}

interface Session {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

const SESSIONS = 64;
const IDLE_MS = 30 * 60_000;

/** A session lives in this process. A client that reaches another process is asked to start a new session, as in the protocol. */
export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { open, sessions: most = SESSIONS } = options;
  const idleMs = durationMs("idleMs", options.idleMs ?? IDLE_MS, { unit: "milliseconds" });
  const sessions = new Sessions(most, idleMs);
  /** A request that begins no session leaves nothing behind. */
  const begin = async (
    request: Request,
    { owner, user }: SessionCaller,
    body: unknown,
  ): Promise<Response> => {
    const [sdk, server] = await Promise.all([loadServerSdk(), open(owner, user)]);
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.add(id, { owner, transport, server }),
      onsessionclosed: (id) => sessions.forget(id),
    });
    await server.connect(transport as never);
    const response = await transport.handleRequest(request, { parsedBody: body });
    if (transport.sessionId === undefined) await server.close();
    return response;
  };
  return {
    async handle(request, caller, body, onEnd = () => {}) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) return watched(await begin(request, caller, body), onEnd);
      const used = sessions.use(id, caller.owner);
      if (used === undefined) return watched(noSession(), onEnd);
      try {
        const response = await used.transport.handleRequest(request, { parsedBody: body });
        return watched(response, () => {
          used.rest();
          onEnd();
        });
      } catch (error) {
        used.rest();
        throw error;
      }
    },
    close: () => sessions.close(),
  };
}

interface OpenSession extends Session {
  /** Answers that are not over. */
  answers: number;
  stopTimer?: () => void;
}

class Sessions {
  /** In the order of use: the most recently used session is last. */
  readonly #open = new Map<string, OpenSession>();
  readonly #most: number;
  readonly #idleMs: number;

  constructor(most: number, idleMs: number) {
    this.#most = most;
    this.#idleMs = idleMs;
  }

  /** Room is made in the same turn: however many begin at once, there are never more. */
  async add(id: string, session: Session): Promise<void> {
    const { owner } = session;
    const own = [...this.#open].filter(([, other]) => other.owner === owner).map(([known]) => known);
    const ended = own.slice(0, Math.max(0, own.length - this.#most + 1)).map((known) => this.#end(known));
    const opened = { ...session, answers: 0 };
    this.#open.set(id, opened);
    this.#waitFor(id, opened);
    await Promise.all(ended);
  }

  /**
   * Holds the session for one request; `rest` is called when its answer is over. Undefined also for another owner's
   * session.
   */
  use(id: string, owner: string): (Session & { rest(): void }) | undefined {
    const session = this.#open.get(id);
    if (session === undefined || session.owner !== owner) return undefined;
    this.#open.delete(id);
    this.#open.set(id, session);
    session.answers += 1;
    session.stopTimer?.();
    const rest = (): void => {
      session.answers -= 1;
      if (session.answers === 0 && this.#open.get(id) === session) this.#waitFor(id, session);
    };
    return { owner, transport: session.transport, server: session.server, rest };
  }

  /** Removes a session that its client has ended. */
  forget(id: string): void {
    this.#open.get(id)?.stopTimer?.();
    this.#open.delete(id);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#end(id)));
  }

  #waitFor(id: string, session: OpenSession): void {
    session.stopTimer = after(this.#idleMs, () => void this.#end(id).catch(() => {}), { ref: false });
  }

  async #end(id: string): Promise<void> {
    const session = this.#open.get(id);
    this.forget(id);
    await session?.server.close();
  }
}

/** The same answer with a call at its end: at once unless it is a stream. */
function watched(response: Response, onEnd: () => void): Response {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (!isStream || response.body === null) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  let over = (): void => {
    over = () => {};
    onEnd();
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        over();
        controller.close();
      } catch (error) {
        over();
        throw error;
      }
    },
    cancel(reason) {
      over();
      return reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

/** The same answer as for another owner's session. */
function noSession(): Response {
  const error = { code: -32_001, message: "There is no such session: begin a new one." };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}
