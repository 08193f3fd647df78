/** Services for routes. */
import type { SharedSaver } from "@deepwright/checkpoint";
import type { BaseStore } from "@langchain/langgraph";
import type { BackendProtocol } from "deepwright";
import type { AgentRegistry } from "../agents/registry.ts";
import type { ApprovalLinks } from "../approval-links/approval-links.ts";
import type { SettingsOfHost } from "../host-settings/host-settings.ts";
import type { MemoryReviews } from "../host-settings/memory-reviews.ts";
import type { Caller } from "../http/authenticate.ts";
import type { Readiness } from "../http/health/readiness.ts";
import type { Heartbeat } from "../http/heartbeat.ts";
import type { CostlyRequests } from "../http/limits/costly-requests.ts";
import type { HeldBytes } from "../http/limits/held-bytes.ts";
import type { Limits } from "../http/limits/limits.ts";
import type { OpenStreams } from "../http/limits/open-streams.ts";
import type { RateLimit } from "../http/limits/rate-limit.ts";
import type { SignIn } from "../http/sign-in/sign-in.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import type { WaitingRunsReader } from "../metrics/waiting-runs.ts";
import type { ServerRecords } from "../records/records.ts";
import type { RunService } from "../runs/run-service.ts";
import type { ThreadNews } from "../runs/thread-news.ts";
import type { WireJson } from "../runs/wire/wire-json.ts";

/** The files of the directory that the server works in; a function for files of each caller and agent, by the agent's name. */
export type Workspace = BackendProtocol | ((caller: Caller, agent: string) => BackendProtocol | undefined);

export interface Services {
  readonly records: ServerRecords;
  readonly agents: AgentRegistry;
  readonly runs: RunService;
  /** Told of runs that begin in this process. */
  readonly threadNews: ThreadNews;
  readonly saver: SharedSaver;
  readonly store: BaseStore | undefined;
  readonly limits: Limits;
  readonly held: HeldBytes;
  readonly costly: CostlyRequests;
  readonly runRate: RateLimit;
  readonly streams: OpenStreams;
  readonly readiness: Readiness;
  readonly metrics: ServerMetrics;
  readonly waitingRuns: WaitingRunsReader;
  readonly heartbeat: Heartbeat;
  /** Milliseconds something may wait for a reader that takes nothing. */
  readonly stallMs: number;
  readonly engineCommands: boolean;
  /** Directories whose files clients may restore. */
  readonly restoreRoots: readonly string[];
  readonly workspace: Workspace | undefined;
  /** Settings of the machine and of the directory of an agent, by its name. Undefined: the server shows none. */
  readonly settings: (agent: string) => SettingsOfHost | undefined;
  readonly reviews: (agent: string) => MemoryReviews;
  /** Absent: webhooks carry no links. */
  readonly approvalLinks: ApprovalLinks | undefined;
  /** Absent where `authenticate` decides who asks. */
  readonly signIn: SignIn | undefined;
  /** Each caller sees its own part of the store. */
  readonly tenants: boolean;
  /** Aborts when the server goes. */
  readonly closing: AbortSignal;
  readonly json: WireJson;
  /** Called for failures that no client sees. */
  readonly onError: (error: unknown) => void;
}
