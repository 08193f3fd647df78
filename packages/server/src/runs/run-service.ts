/** Runs for callers: start, watch, steer and end them. The worker decides where they are executed. */

import type { RunOutcome, RunStatus, SubagentOrder } from "@deepwright/protocol";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { type DurationRules, durationMs } from "deepwright/duration";
import type { AgentRegistry } from "../agents/registry.ts";
import type { ApprovalLinks } from "../approval-links/approval-links.ts";
import { createCronTicker } from "../crons/cron-ticker.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import type { Queue } from "../queue/queue.ts";
import type { Owner, RunRecord, ServerRecords } from "../records/records.ts";
import { createRunEnder, type RunEnder } from "./end-run.ts";
import { type FollowedEvent, followEvents } from "./event-stream.ts";
import { ActiveRuns } from "./execution/active-runs.ts";
import { afterRun } from "./execution/after-run.ts";
import { createWorker } from "./execution/worker.ts";
import { createMailbox, type Mailbox } from "./mail/mailbox.ts";
import { type NewSubagentOrder, orderSubagent } from "./mail/subagent-orders.ts";
import { missing } from "./service-error.ts";
import { createRunStarter, type RunStarter } from "./start-run.ts";
import { createCompletionTeller } from "./tasks/task-completions.ts";
import { createTaskFollower } from "./tasks/task-follower.ts";
import { taskHosts } from "./tasks/task-host.ts";
import { taskMailbox } from "./tasks/task-mail.ts";
import { housekeeping } from "./upkeep/housekeeping.ts";
import { isOpen, outcomeOf, untilEnded } from "./watch-run.ts";
import { createHookSender } from "./webhooks/hook-sender.ts";
import { createWebhooks, type WebhookOptions } from "./webhooks/webhooks.ts";
import { createErrorWords, logError } from "./wire/wire-error.ts";
import { createWireJson, type WireJson } from "./wire/wire-json.ts";

export interface RunServiceOptions {
  readonly records: ServerRecords;
  readonly registry: AgentRegistry;
  readonly saver: BaseCheckpointSaver;
  readonly queue: Queue;
  /** Makes links to the decisions that webhooks tell of. */
  readonly approvalLinks?: ApprovalLinks | undefined;
  /** `api` starts runs and executes none. Default `both`. */
  readonly role?: "api" | "worker" | "both";
  /** Runs at a time in this process. Default 50. */
  readonly concurrency?: number;
  /** Seconds a run waits for another worker when nothing is heard of its own, at most a day. Default 15. */
  readonly claimTtl?: number;
  /** Seconds a run may take. Default Infinity: no limit. */
  readonly runTimeout?: number;
  /** A run that was begun so often and never ended is given up. Default 10. */
  readonly maxAttempts?: number;
  /** Seconds between two looks for requests of clients to a run at work here. Default 1. */
  readonly pollInterval?: number;
  /** Seconds between two searches for work without a wake-up. Default 3. */
  readonly scanInterval?: number;
  /** Seconds between two looks for due crons. Default 1. */
  readonly cronInterval?: number;
  /** Seconds between two dates of a cron, at least. Default 60. */
  readonly cronSeconds?: number;
  /** Whether the owner may begin a run by the clock now; true counts it. Default: always. */
  readonly mayBegin?: (owner: Owner) => boolean;
  /** Seconds the events of an ended run are kept. Default a day. */
  readonly eventsKept?: number;
  readonly webhooks?: WebhookOptions;
  /** Values of its secret variables are in no event. Default `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly wireJson?: WireJson;
  /** Measures runs and their model and tool calls. */
  readonly metrics?: ServerMetrics;
  /** Hears why runs failed, and of failures that concern none. Default: stderr, without secrets. */
  readonly onError?: (error: unknown) => void;
}

export interface SubagentSteering {
  /** Stops one subagent of the run at work, or gives it a message. NOTHING_TO_STEER without a run. */
  orderSubagent(owner: Owner, threadId: string, order: NewSubagentOrder): Promise<SubagentOrder>;
}

export interface RunService
  extends Pick<Mailbox, "steer" | "followUp" | "deliver">,
    SubagentSteering,
    Pick<RunStarter, "start" | "startAll">,
    RunEnder {
  /** INVALID_REQUEST for an address that is never called. */
  checkWebhook(url: string): void;
  get(owner: Owner, runId: string): Promise<RunRecord | undefined>;
  list(
    owner: Owner,
    threadId: string,
    query: { readonly limit: number; readonly offset: number; readonly status?: RunStatus },
  ): Promise<RunRecord[]>;
  /** The values at the end of the run; a signal that fires rejects with its reason, and the run goes on. */
  wait(
    owner: Owner,
    runId: string,
    options?: { readonly signal?: AbortSignal; readonly mostBytes?: number },
  ): Promise<RunOutcome>;
  /**
   * From behind the event with the number `after` to the end. Any number of readers, at any time. With `inPieces`, large
   * events have their data as `pieces`.
   */
  stream(
    owner: Owner,
    runId: string,
    options?: { readonly after?: number; readonly inPieces?: boolean; readonly signal?: AbortSignal },
  ): AsyncIterable<FollowedEvent>;
  /** How many runs this process is at work on. */
  readonly active: number;
  /** Starts to work on runs and crons, unless the role is `api`. */
  open(): Promise<void>;
  /**
   * Takes no more runs, gives back those that have not ended after `limitMs` (30 s), and closes the queue. Calling it
   * twice is safe.
   */
  close(options?: { readonly limitMs?: number }): Promise<void>;
}

const DRAIN_MS = 30_000;
/** A day, as of claims of threads. */
const LONGEST_TTL = 86_400;

function seconds(name: string, value: unknown, rules: Partial<DurationRules> = {}): number {
  return durationMs(name, value, { unit: "seconds", ...rules });
}

function workerTimes({ claimTtl = 15, pollInterval = 1, scanInterval = 3, runTimeout }: RunServiceOptions) {
  return {
    claimTtlMs: seconds("claimTtl", claimTtl, { most: LONGEST_TTL }),
    pollMs: seconds("pollInterval", pollInterval),
    scanMs: seconds("scanInterval", scanInterval),
    runTimeoutMs: seconds("runTimeout", runTimeout ?? Number.POSITIVE_INFINITY, { unlimited: true }),
  };
}

/** The parts of the service, each made from earlier ones. */
function createParts(options: RunServiceOptions) {
  const { records, registry, saver, queue } = options;
  const environment = options.environment ?? process.env;
  const onError = options.onError ?? logError;
  const wireJson = options.wireJson ?? createWireJson(environment);
  const active = new ActiveRuns();
  const webhooks = createWebhooks(options.webhooks);
  const { retryAfterMs } = options.webhooks ?? {};
  const hooks = createHookSender({
    hooks: records.hooks,
    webhooks,
    retryAfterMs,
    bodyOf: (hook) => options.approvalLinks?.bodyOf(hook) ?? hook.body,
    onError,
  });
  const starter = createRunStarter({ records, registry, saver, queue, active, webhooks, wireJson });
  const mailbox = createMailbox({ records, active, start: starter.start });
  const { attend } = mailbox;
  const follower = createTaskFollower({ records, registry, attend, onError });
  const mailboxOf = (owner: Owner) => taskMailbox({ records, attend }, owner);
  const completions = createCompletionTeller({ records, registry, mailboxOf, onError });
  const eventsKeptMs = seconds("eventsKept", options.eventsKept ?? 86_400, { zero: true });
  const due = { hooks, follower, completions };
  const worker = createWorker({
    records,
    registry,
    saver,
    queue,
    active,
    wireJson,
    errorWords: createErrorWords(environment),
    ...workerTimes(options),
    maxAttempts: options.maxAttempts ?? 10,
    metrics: options.metrics,
    approvalLinks: options.approvalLinks,
    concurrency: options.concurrency ?? 50,
    taskHosts: taskHosts({ records, registry, queue, active, attend, follower }),
    onEnd: afterRun({ records, mailbox, ...due }),
    onScan: housekeeping({ records, saver, registry, eventsKeptMs, mailbox, ...due }),
    onError,
  });
  const ticker = createCronTicker({
    crons: records.crons,
    start: starter.start,
    tickMs: seconds("cronInterval", options.cronInterval ?? 1),
    leastMs: seconds("cronSeconds", options.cronSeconds ?? 60, { zero: true }),
    ...(options.mayBegin && { mayBegin: options.mayBegin }),
    onError,
  });
  const { endOfUnbegun } = starter;
  const ender = createRunEnder({ records, queue, active, mailbox, follower, completions, endOfUnbegun });
  return { active, webhooks, ...due, starter, mailbox, worker, ticker, ender };
}

export function createRunService(options: RunServiceOptions): RunService {
  const { records, queue } = options;
  const parts = createParts(options);
  const { starter, mailbox, worker, ticker } = parts;
  let closed: Promise<void> | undefined;
  return {
    steer: mailbox.steer,
    followUp: mailbox.followUp,
    deliver: mailbox.deliver,
    orderSubagent: (owner, threadId, order) =>
      orderSubagent({ records, active: parts.active }, owner, threadId, order),
    ...parts.ender,
    start: starter.start,
    startAll: starter.startAll,
    checkWebhook: parts.webhooks.check,
    get: (owner, runId) => records.runs.get(owner, runId),
    list: (owner, threadId, query) => records.runs.list(owner, threadId, query),
    async wait(owner, runId, { signal, mostBytes } = {}) {
      const run = await records.runs.get(owner, runId);
      if (run === undefined) throw missing("run");
      return outcomeOf(records, run, await untilEnded(records, owner, runId, signal), mostBytes);
    },
    async *stream(owner, runId, { after: last = 0, inPieces, signal } = {}) {
      if ((await records.runs.get(owner, runId)) === undefined) throw missing("run");
      const isOver = async () => !isOpen(await records.runs.get(owner, runId));
      yield* followEvents(records.events, runId, { after: last, inPieces, signal, isOver });
    },
    get active() {
      return parts.active.size;
    },
    async open() {
      if (options.role === "api") return;
      await worker.start();
      ticker.start();
    },
    close({ limitMs = DRAIN_MS } = {}) {
      closed ??= (async () => {
        await ticker.stop();
        await worker.drain(limitMs);
        for (const part of [parts.hooks, parts.follower, parts.completions, queue]) await part.close();
      })();
      return closed;
    },
  };
}
