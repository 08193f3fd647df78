/** The protocol over HTTP: sessions of clients, each with a server of its own and one owner. */
import { randomUUID } from "node:crypto";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { loadServerSdk } from "./load-mcp.ts";

export interface McpEndpointOptions {
  /** For a new session. */
  readonly open: (owner: string, user: SessionCaller["user"]) => Promise<Server>;
  /** Of one owner at a time; the one that was used longest ago makes room. Default 64. */
  readonly sessions?: number;
}

/** Who asks: a session has one owner, and knows what was said of it when it began. */
export interface SessionCaller {
  readonly owner: string;
  readonly user?: Readonly<Record<string, unknown>> | undefined;
}

export interface McpEndpoint {
  /** `body` is the JSON of a POST. */
  handle(request: Request, caller: SessionCaller, body: unknown): Promise<Response>;
  /** Ends all sessions. Safe twice. */
  close(): Promise<void>;
}

interface Session {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

const SESSIONS = 64;

/** A session lives in this process: a client that comes to another one is told to begin anew, as the protocol has it. */
export function createMcpEndpoint({ open, sessions: most = SESSIONS }: McpEndpointOptions): McpEndpoint {
  /** The one that was used last is the last. */
  const sessions = new Map<string, Session>();
  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.server.close();
  };
  const begin = async ({ owner, user }: SessionCaller): Promise<WebStandardStreamableHTTPServerTransport> => {
    const own = [...sessions].filter(([, session]) => session.owner === owner).map(([id]) => id);
    for (const id of own.slice(0, Math.max(0, own.length - most + 1))) await end(id);
    const [sdk, server] = await Promise.all([loadServerSdk(), open(owner, user)]);
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { owner, transport, server }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await server.connect(transport as never);
    return transport;
  };
  return {
    async handle(request, caller, body) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) {
        const transport = await begin(caller);
        return transport.handleRequest(request, { parsedBody: body });
      }
      const session = sessions.get(id);
      if (session === undefined || session.owner !== caller.owner) return noSession();
      sessions.delete(id);
      sessions.set(id, session);
      return session.transport.handleRequest(request, { parsedBody: body });
    },
    async close() {
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}

/** The same for one that is somebody else's. */
function noSession(): Response {
  const error = { code: -32_001, message: "There is no such session: begin a new one." };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}
