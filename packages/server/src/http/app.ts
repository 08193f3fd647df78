/** The server as a function from requests to answers. */
import { setMaxListeners } from "node:events";
import type { SignInCode } from "@deepwright/protocol";
import { ConfigurationError } from "deepwright";
import { checkDurations } from "deepwright/duration";
import { addressSecrets, holdSecrets, releaseSecrets } from "deepwright/secrets";
import { Hono } from "hono";
import { loadAll } from "../agents/load-all.ts";
import { type AgentRegistry, type AgentSource, createAgentRegistry } from "../agents/registry.ts";
import { type ApprovalLinkOptions, ApprovalLinks } from "../approval-links/approval-links.ts";
import type { SettingsOfHost } from "../host-settings/host-settings.ts";
import { reviewsFor, settingsByAgent } from "../host-settings/settings-by-agent.ts";
import type { McpEndpoint } from "../mcp/http-endpoint.ts";
import { ServerMetrics } from "../metrics/server-metrics.ts";
import { WaitingRunsReader } from "../metrics/waiting-runs.ts";
import { createInProcessQueue } from "../queue/in-process.ts";
import type { Queue } from "../queue/queue.ts";
import { EVERYONE } from "../records/records.ts";
import type { Services, Workspace } from "../routes/services.ts";
import { createRunService, type RunService, type RunServiceOptions } from "../runs/run-service.ts";
import { ThreadNews } from "../runs/thread-news.ts";
import { logError } from "../runs/wire/wire-error.ts";
import { createWireJson } from "../runs/wire/wire-json.ts";
import { type Environment, mountRoutes } from "./app-routes.ts";
import { type Authenticate, LOCAL, tellingApart, tokenAuthentication } from "./authenticate.ts";
import { guard, safeHeaders } from "./guard.ts";
import { Readiness } from "./health/readiness.ts";
import { Heartbeat } from "./heartbeat.ts";
import { accessRules } from "./host-and-origin.ts";
import { CostlyRequests } from "./limits/costly-requests.ts";
import { HeldBytes } from "./limits/held-bytes.ts";
import { LIMITS, type Limits } from "./limits/limits.ts";
import { OpenStreams } from "./limits/open-streams.ts";
import { RateLimit } from "./limits/rate-limit.ts";
import { mcpEndpointFor, mountMcp } from "./mcp-route.ts";
import { openStaticPage, type StaticPage } from "./page/static-page.ts";
import { problemResponse } from "./problems.ts";
import { withSessions } from "./sign-in/session-authentication.ts";
import { SignIn } from "./sign-in/sign-in.ts";
import { openStorage, type ServerStorage, type StorageOptions } from "./storage.ts";
import { newToken } from "./token-file.ts";

type RunOptions = Partial<
  Omit<
    RunServiceOptions,
    | "records"
    | "registry"
    | "saver"
    | "role"
    | "wireJson"
    | "environment"
    | "onError"
    | "mayBegin"
    | "metrics"
    | "approvalLinks"
    | "cronSeconds"
  >
>;

export interface AppOptions extends StorageOptions {
  /** By name: an agent, or a function that makes it, called when it is first wanted. */
  readonly agents: Readonly<Record<string, AgentSource>>;
  /** Whether all agents are made at the start, which fails for one that is not configured rightly. Default false; `serve`: true. */
  readonly loadAgents?: boolean;
  /** Identifies the caller. Default: anyone with the `token` is the one owner `local`, a name nobody else may have. */
  readonly authenticate?: Authenticate;
  /** Default: a new one, `app.token`. */
  readonly token?: string;
  /** Names the server answers to beside those of this machine, without a port; `*` for any. */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may use the server beside its own. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** Whether clients may send `command.update` and `goto`, `as_node` and `supersteps`. Default false. */
  readonly engineCommands?: boolean;
  /** Directories whose files a rewind, a restore and blame may reach. Default: none. */
  readonly restoreRoots?: readonly string[];
  readonly limits?: Partial<Limits>;
  /** Milliseconds between two signs of life in a stream that is quiet. Default 10 000. */
  readonly heartbeatMs?: number;
  /** Milliseconds after which a reader that takes nothing is cut off. Default 60 000. */
  readonly stallMs?: number;
  /** Whether `/ok` and `/ready` need no token, for load balancers. Default false. */
  readonly openHealth?: boolean;
  /** Whether `/metrics` needs no token. Default false. */
  readonly openMetrics?: boolean;
  /**
   * Files that callers may list, read and save at `/workspace/files`, as far as the backend lets them: guard it with the
   * permissions of the caller. A function has other files for each caller and agent. Default: none.
   */
  readonly workspace?: Workspace;
  /**
   * Settings of the machine at `/settings`, for servers with one owner: with `authenticate` nobody sees them. A function
   * has others for the directory of each agent. Default: none.
   */
  readonly settings?: SettingsOfHost | ((agent: string) => SettingsOfHost | undefined);
  /** With `links`, webhooks of runs that wait carry links to a page with just that decision. Default: none. */
  readonly approvals?: { readonly links?: ApprovalLinkOptions };
  /** The folder of a page with an `index.html`, handed out at `/` without a token. Default: none. */
  readonly page?: string;
  /** Whether agents are offered at `/mcp` as tools of an MCP server; needs `@modelcontextprotocol/sdk`. Default true. */
  readonly mcp?: boolean;
  /** `api` begins runs and executes none, `worker` and `both` execute them. Default `both`. */
  readonly role?: "api" | "worker" | "both";
  /** How runs are executed. */
  readonly runs?: RunOptions;
  /** Milliseconds runs at work have to come to rest when the server closes. Default 25 000. */
  readonly drainMs?: number;
  /** Called for failed runs and for failures that clients do not see. Default: stderr, without secrets. */
  readonly onError?: (error: unknown) => void;
}

export interface ServerApp {
  /** Requests in, answers out: for a port, for tests, for clients in the same process. */
  readonly fetch: (request: Request, env?: unknown) => Promise<Response>;
  /** The token that clients must send, unless `authenticate` was given. */
  readonly token: string | undefined;
  /** Makes a one-time code that signs a browser in. Absent where `authenticate` was given. */
  readonly newSignInCode: (() => Promise<SignInCode>) | undefined;
  readonly agents: AgentRegistry;
  readonly runs: RunService;
  readonly storage: Omit<ServerStorage, "close">;
  /** Streams break off so that clients resume them elsewhere; runs come to rest. Safe twice. */
  close(): Promise<void>;
}

export async function createApp(options: AppOptions): Promise<ServerApp> {
  const { authenticate } = options;
  checkTimes(options);
  const token = authenticate ? undefined : checkedToken(options.token ?? newToken());
  const metrics = new ServerMetrics();
  const storage = await openStorage(options, (part, work) => metrics.timed(part, work)).catch((error) => {
    metrics.close();
    throw error;
  });
  const secrets = {};
  if (token) holdSecrets(secrets, [["server token", token]]);
  if (storage.postgres) holdSecrets(secrets, addressSecrets("database password", storage.postgres));
  const closing = new AbortController();
  // Every open answer listens.
  setMaxListeners(0, closing.signal);
  try {
    const page = options.page === undefined ? undefined : await openStaticPage(options.page);
    const signIn = token
      ? new SignIn({ tickets: storage.records.tickets, token, owner: LOCAL.identity })
      : undefined;
    const links = options.approvals?.links;
    const approvalLinks = links && new ApprovalLinks(storage.records.tickets, token, links);
    const parts = { closing: closing.signal, signIn, metrics, approvalLinks };
    const services = await openServices(options, storage, parts);
    const mcp = options.mcp === false ? undefined : mcpEndpointFor(services);
    const whoAsks = authenticate
      ? tellingApart(authenticate, services.onError)
      : withSessions(signIn as SignIn, tokenAuthentication(token as string));
    const app = routed(options, services, { mcp, authenticate: whoAsks, page });
    let closed: Promise<void> | undefined;
    return {
      fetch: async (request, env) => app.fetch(request, env as never),
      token,
      newSignInCode: signIn && (() => signIn.newCode()),
      agents: services.agents,
      runs: services.runs,
      storage,
      close: () => {
        closed ??= (async () => {
          closing.abort();
          await mcp?.close();
          await services.runs.close({ limitMs: options.drainMs ?? DRAIN_MS });
          services.agents.close();
          await storage.close();
          metrics.close();
          releaseSecrets(secrets);
        })();
        return closed;
      },
    };
  } catch (error) {
    releaseSecrets(secrets);
    metrics.close();
    await storage.close();
    throw error;
  }
}

/** With what a process needs around it, less than the 30 s after which those who end processes lose patience. */
const DRAIN_MS = 25_000;
const HEARTBEAT_MS = 10_000;
const STALL_MS = 60_000;

function checkTimes({ heartbeatMs, stallMs, drainMs, limits = {} }: AppOptions): void {
  checkDurations({ unit: "milliseconds" }, { heartbeatMs, stallMs });
  checkDurations({ unit: "milliseconds", zero: true }, { drainMs });
  checkDurations(
    { unit: "milliseconds" },
    { "limits.answerMs": limits.answerMs, "limits.readyMs": limits.readyMs },
  );
  checkDurations({ unit: "seconds", zero: true }, { "limits.cronSeconds": limits.cronSeconds });
}

async function openServices(
  options: AppOptions,
  storage: ServerStorage,
  {
    closing,
    signIn,
    metrics,
    approvalLinks,
  }: Pick<Services, "closing" | "signIn" | "metrics" | "approvalLinks">,
): Promise<Services> {
  const { records, saver, store } = storage;
  const onError = options.onError ?? logError;
  const limits = { ...LIMITS, ...options.limits };
  const json = createWireJson(process.env);
  const settings = settingsByAgent(options.settings);
  const agents = createAgentRegistry({ agents: options.agents, saver, store });
  if (options.loadAgents) await loadAll(agents, onError).catch((error) => closed(agents, error));
  const runRate = new RateLimit(limits.runs);
  const runs = createRunService({
    queue: await openQueue(storage, onError),
    ...(options.role && { role: options.role }),
    ...options.runs,
    records,
    registry: agents,
    saver,
    wireJson: json,
    mayBegin: (owner) => runRate.secondsUntil(owner) === 0,
    cronSeconds: limits.cronSeconds,
    metrics,
    approvalLinks,
    onError,
  });
  for (const assistant of agents.assistants)
    await records.assistants.put(EVERYONE, assistant, { ifExists: "do_nothing" });
  await runs.open();
  return {
    records,
    saver,
    store,
    agents,
    runs,
    threadNews: new ThreadNews(),
    limits,
    held: new HeldBytes(limits.held),
    costly: new CostlyRequests(limits.costly, limits.answerMs),
    runRate,
    streams: new OpenStreams(limits.streams),
    readiness: new Readiness({ records, saver }, limits.readyMs),
    metrics,
    waitingRuns: new WaitingRunsReader(records, limits.readyMs),
    heartbeat: new Heartbeat(options.heartbeatMs ?? HEARTBEAT_MS),
    stallMs: options.stallMs ?? STALL_MS,
    engineCommands: options.engineCommands ?? false,
    restoreRoots: options.restoreRoots ?? [],
    signIn,
    approvalLinks,
    workspace: options.workspace,
    settings,
    reviews: reviewsFor(settings, { records, saver, closing, onError }),
    tenants: options.authenticate !== undefined,
    closing,
    json,
    onError,
  };
}

function closed(agents: AgentRegistry, error: unknown): never {
  agents.close();
  throw error;
}

/** The library of the queue on Postgres takes longer to load than all of the server: only who needs it does. */
async function openQueue(
  { postgres, databaseTimeout }: ServerStorage,
  onError: Services["onError"],
): Promise<Queue> {
  if (!postgres) return createInProcessQueue();
  const { createGraphileQueue } = await import("../queue/graphile.ts");
  return createGraphileQueue({ connectionString: postgres, answerMs: databaseTimeout * 1_000, onError });
}

function routed(
  options: AppOptions,
  services: Services,
  {
    mcp,
    authenticate,
    page,
  }: {
    readonly mcp: McpEndpoint | undefined;
    readonly authenticate: Authenticate;
    readonly page: StaticPage | undefined;
  },
): Hono<Environment> {
  const app = new Hono<Environment>();
  app.onError((error) => {
    const response = safeHeaders(problemResponse(error), undefined);
    if (response.status === 500) services.onError(error);
    return response;
  });
  app.use(
    guard({
      access: accessRules(options),
      authenticate,
      requests: new RateLimit(services.limits.requests),
      openHealth: options.openHealth ?? false,
      openMetrics: options.openMetrics ?? false,
      page,
    }),
  );
  if (mcp) mountMcp(app, services, mcp);
  mountRoutes(app, services);
  return app;
}

function checkedToken(token: string): string {
  if (/^\S{16,512}$/.test(token)) return token;
  throw new ConfigurationError(
    "INVALID_OPTION",
    "The token of the server must have at least 16 characters.",
    {
      hint: "Leave it out: one is made.",
    },
  );
}
