/** Services for routes. */
import type { SharedSaver } from "@deepwright/checkpoint";
import type { BaseStore } from "@langchain/langgraph";
import type { AgentRegistry } from "../agents/registry.ts";
import type { Readiness } from "../http/health/readiness.ts";
import type { Heartbeat } from "../http/heartbeat.ts";
import type { CostlyRequests } from "../http/limits/costly-requests.ts";
import type { HeldBytes } from "../http/limits/held-bytes.ts";
import type { Limits } from "../http/limits/limits.ts";
import type { OpenStreams } from "../http/limits/open-streams.ts";
import type { RateLimit } from "../http/limits/rate-limit.ts";
import type { ServerRecords } from "../records/records.ts";
import type { RunService } from "../runs/run-service.ts";
import type { WireJson } from "../runs/wire/wire-json.ts";

export interface Services {
  readonly records: ServerRecords;
  readonly agents: AgentRegistry;
  readonly runs: RunService;
  readonly saver: SharedSaver;
  readonly store: BaseStore | undefined;
  readonly limits: Limits;
  readonly held: HeldBytes;
  readonly costly: CostlyRequests;
  readonly runRate: RateLimit;
  readonly streams: OpenStreams;
  readonly readiness: Readiness;
  readonly heartbeat: Heartbeat;
  /** Milliseconds something may wait for a reader that takes nothing. */
  readonly stallMs: number;
  readonly engineCommands: boolean;
  /** Callers are told apart: each sees its own part of the store. */
  readonly tenants: boolean;
  /** Aborts when the server goes. */
  readonly closing: AbortSignal;
  readonly json: WireJson;
  /** Failures no client is told about. */
  readonly onError: (error: unknown) => void;
}
