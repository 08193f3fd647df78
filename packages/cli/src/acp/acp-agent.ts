/** The methods of the protocol as calls of sessions. */
import {
  type AgentApp,
  type AgentCapabilities,
  type AuthMethod,
  agent,
  type ClientCapabilities,
  type InitializeRequest,
  type InitializeResponse,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk";
import { CommandError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { Editor } from "./editor.ts";
import type { EditorSession } from "./editor-session.ts";
import { type EditorSessions, replayed } from "./editor-sessions.ts";

export interface AcpAgentOptions {
  readonly version: string;
  readonly isUnstable: boolean;
  /** Whether a model can be used; throws words for the person otherwise. */
  readonly checkModel: () => Promise<void>;
  /** Removes the keys that a sign-in stored. */
  readonly signOut: () => Promise<void>;
  readonly onEditor: (editor: Editor) => void;
  readonly sessions: EditorSessions;
}

export function acpAgent(options: AcpAgentOptions): AgentApp {
  const app = agent({ name: "deepwright" });
  addConnection(app, options);
  addSessions(app, options.sessions);
  addTurns(app, options.sessions);
  if (options.isUnstable) addFork(app, options.sessions);
  return app;
}

function addConnection(app: AgentApp, options: AcpAgentOptions): void {
  const { version, isUnstable, checkModel, signOut, onEditor } = options;
  app.onRequest("initialize", ({ params, client }) => {
    const { clientCapabilities = {}, clientInfo } = params;
    onEditor(new Editor(client, clientCapabilities, clientInfo?.name ?? ""));
    return initialized(params, version, isUnstable);
  });
  app.onRequest("authenticate", ({ params: { methodId } }) =>
    answered(async () => {
      if (!METHODS.has(methodId)) throw RequestError.invalidParams({ methodId }, "there is no such method");
      await checkModel();
      return {};
    }),
  );
  app.onRequest("logout", () =>
    answered(async () => {
      await signOut();
      return {};
    }),
  );
}

function initialized(
  { clientCapabilities = {} }: InitializeRequest,
  version: string,
  isUnstable: boolean,
): InitializeResponse {
  const fork = isUnstable ? { fork: {} } : {};
  const agentCapabilities: AgentCapabilities = {
    loadSession: true,
    auth: { logout: {} },
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, ...fork },
  };
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities,
    agentInfo: { name: "deepwright", title: "Deepwright", version },
    authMethods: authMethods(clientCapabilities),
  };
}

const KEY = "api-key";
const LOGIN = "login";
const METHODS: ReadonlySet<string> = new Set([KEY, LOGIN]);

function authMethods({ auth }: ClientCapabilities): AuthMethod[] {
  const description =
    "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_API_KEY for the agent, or run: deepwright login";
  const key: AuthMethod = { id: KEY, name: "Key of a model provider", description };
  if (!auth?.terminal) return [key];
  return [
    { type: "terminal", id: LOGIN, name: "Store a key in a terminal", args: ["login", "anthropic"] },
    key,
  ];
}

function addSessions(app: AgentApp, sessions: EditorSessions): void {
  app.onRequest("session/new", ({ params }) =>
    answered(async () => {
      const session = await sessions.create(params);
      announceLater(session);
      return { sessionId: session.id, ...session.state };
    }),
  );
  app.onRequest("session/load", ({ params }) =>
    answered(async () => {
      const session = await sessions.enter(params.sessionId, params);
      replayed(session);
      announceLater(session);
      return session.state;
    }),
  );
  app.onRequest("session/resume", ({ params }) =>
    answered(async () => {
      const session = await sessions.enter(params.sessionId, params);
      session.replay();
      announceLater(session);
      return session.state;
    }),
  );
  app.onRequest("session/list", ({ params: { cwd, cursor } }) =>
    answered(() => sessions.list(cwd ?? undefined, cursor ?? undefined)),
  );
  app.onRequest("session/close", ({ params }) => answered(() => sessions.close(params.sessionId)));
  app.onRequest("session/delete", ({ params }) => answered(() => sessions.delete(params.sessionId)));
}

function addTurns(app: AgentApp, sessions: EditorSessions): void {
  app.onRequest("session/prompt", ({ params }) =>
    answered(() => sessions.get(params.sessionId).prompt(params.prompt)),
  );
  app.onNotification("session/cancel", async ({ params }) => {
    await sessions.find(params.sessionId)?.cancel();
  });
  app.onRequest("session/set_mode", ({ params }) =>
    answered(async () => {
      sessions.get(params.sessionId).setMode(params.modeId);
      return {};
    }),
  );
  app.onRequest("session/set_config_option", ({ params }) =>
    answered(async () => {
      const session = sessions.get(params.sessionId);
      session.setOption(params.configId, params.value);
      return { configOptions: session.configOptions };
    }),
  );
}

/** Not part of the stable protocol. The copy has no MCP servers of the editor. */
function addFork(app: AgentApp, sessions: EditorSessions): void {
  const read = (params: unknown): { readonly sessionId: string; readonly cwd: string } => {
    const { sessionId, cwd } = (params ?? {}) as { sessionId?: unknown; cwd?: unknown };
    if (typeof sessionId === "string" && typeof cwd === "string") return { sessionId, cwd };
    throw RequestError.invalidParams(undefined, "sessionId and cwd must be texts");
  };
  app.onRequest("session/fork", read, ({ params }) =>
    answered(async () => {
      const session = await sessions.fork(params.sessionId, params);
      session.replay();
      announceLater(session);
      return { sessionId: session.id, ...session.state };
    }),
  );
}

/** After the answer has been handed to the connection: an editor does not know the session before. */
function announceLater(session: EditorSession): void {
  setTimeout(() => session.announce(), 0);
}

/** Errors for a person become answers with their words. */
async function answered<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    const { message, hint } = error as Error & { readonly hint?: string };
    const words = safeLine(
      [message, error instanceof CommandError ? hint : undefined].filter(Boolean).join(" "),
      1_000,
    );
    throw new RequestError(-32_603, words);
  }
}
