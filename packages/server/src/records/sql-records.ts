/** The records of a server over SQL tables: values become rows, and each change is announced to the readers of its runs. */
import { randomUUID } from "node:crypto";
import { Appender } from "./appender.ts";
import type {
  AssistantRecords,
  BackgroundRecords,
  CronRecords,
  DueCron,
  EventRecords,
  MailRecords,
  RunClaim,
  RunRecords,
  ServerRecords,
  TaskRecords,
  ThreadRecord,
  ThreadRecords,
} from "./records.ts";
import type { Rows } from "./service.ts";
import type { ClaimKey } from "./tables/claim-run.ts";
import { callbackOf } from "./tables/completions.ts";
import type { NewThread } from "./tables/threads.ts";
import { threadWords } from "./thread-words.ts";

/** Most crons in one answer of `due`. */
const MOST_DUE = 1000;

export interface Parts {
  /** The tables; with SQLite they run in a worker thread. */
  readonly rows: Rows;
  readonly watch: EventRecords["watch"];
  /** Announces changes of these runs to readers in all processes, including this one. */
  tell(runIds: readonly string[]): void;
  close(): Promise<void>;
}

export function sqlRecords({ rows, watch, tell, close }: Parts): ServerRecords {
  const appender = new Appender(async (appends) => {
    const lasts = await rows.events.append(appends);
    tell(appends.filter((_, index) => lasts[index] !== undefined).map(({ runId }) => runId));
    return lasts;
  });
  return {
    assistants: assistantRecords(rows),
    threads: threadRecords(rows),
    runs: runRecords(rows, appender, tell),
    events: eventRecords(rows, appender, watch),
    crons: cronRecords(rows),
    mail: mailRecords(rows),
    tasks: taskRecords(rows, tell),
    hooks: rows.hooks,
    background: backgroundRecords(rows, tell),
    tickets: rows.tickets,
    close: async () => {
      await appender.idle();
      await close();
    },
  };
}

function assistantRecords({ assistants }: Rows): AssistantRecords {
  return {
    ...assistants,
    put: (owner, assistant, { ifExists }) => assistants.put(owner, assistant, ifExists),
  };
}

function threadRecords({ threads }: Rows): ThreadRecords {
  return {
    ...threads,
    put: (owner, thread, { ifExists, expiresAt }) =>
      threads.put(owner, storedThread(thread, expiresAt), ifExists),
    delete: (owner, threadId) => threads.delete(owner, threadId, Date.now()),
    patch: (owner, threadId, change) => threads.patch(owner, threadId, change, Date.now()),
    note: ({ owner, thread_id, incarnation }, state) =>
      threads.note({ owner, thread_id, incarnation }, shownState(state), Date.now()),
    has: ({ owner, thread_id, incarnation }) => threads.has({ owner, thread_id, incarnation }),
    retire: (owner, threadId, incarnation) => threads.retire(owner, threadId, incarnation, Date.now()),
  };
}

function storedThread(thread: ThreadRecord, expiresAt: number | undefined): NewThread {
  return {
    threadId: thread.thread_id,
    createdAt: Date.parse(thread.created_at),
    updatedAt: Date.parse(thread.updated_at),
    stateUpdatedAt: Date.parse(thread.state_updated_at),
    metadata: thread.metadata,
    config: jsonOf(thread.config),
    expiresAt: expiresAt === undefined ? null : Math.ceil(expiresAt),
    ...shownState(thread),
  };
}

function runRecords({ runs }: Rows, appender: Appender, tell: Parts["tell"]): RunRecords {
  return {
    ...runs,
    async start(run) {
      const started = await runs.start(run, Date.now());
      if (started.kind === "created") tell(started.displaced.map((one) => one.run_id));
      return started;
    },
    keyed: (key) => runs.keyed(key, Date.now()),
    async withdraw(owner, runId) {
      const gone = await runs.withdraw(owner, runId);
      if (gone) tell([runId]);
      return gone;
    },
    async delete(owner, runId) {
      const gone = await runs.delete(owner, runId);
      if (gone) tell([runId]);
      return gone;
    },
    async requestCancel(owner, runId, action, lastEvents = []) {
      const run = await runs.requestCancel(owner, runId, action, lastEvents, Date.now());
      if (run !== undefined) tell([runId]);
      return run;
    },
    claimNext: (threadId, worker, ttlMs) => runs.claimNext(threadId, worker, ttlMs, randomUUID()),
    keepClaim: (claim, ttlMs) => runs.keepClaim(keyOf(claim), ttlMs),
    noteStall: (claim, first = "", head = "") => runs.noteStall(keyOf(claim), first, head),
    async finish(claim, end, events) {
      await appender.settled(claim.run.run_id);
      const { status, error, outcome, threadStatus, values, interrupts, webhook } = end;
      const stored = {
        status,
        task: end.task ?? status,
        callback: callbackOf(claim.run.request),
        webhook,
        error: jsonOf(error),
        outcome: jsonOf(outcome),
        threadStatus,
        values: values === undefined ? undefined : jsonOf(values),
        interrupts: interrupts === undefined ? undefined : JSON.stringify(interrupts),
        ...threadWords(values),
      };
      const ended = await runs.finish(keyOf(claim), stored, events, randomUUID(), Date.now());
      tell([claim.run.run_id]);
      return ended;
    },
    async release(claim) {
      await appender.settled(claim.run.run_id);
      await runs.release(keyOf(claim), Date.now());
    },
  };
}

function eventRecords({ events }: Rows, appender: Appender, watch: EventRecords["watch"]): EventRecords {
  return {
    append: ({ run, fence }, more) => appender.append(run.run_id, fence, more),
    read: (runId, after, limit) => events.read(runId, after, limit),
    skim: (runId, after, limit) => events.skim(runId, after, limit),
    piece: (runId, sequence, from, count) => events.piece(runId, sequence, from, count),
    watch,
    async sweep(beforeMs) {
      while (await events.sweep(beforeMs, Date.now()));
    },
  };
}

function cronRecords({ crons }: Rows): CronRecords {
  const due = (nowMs: number, limit = MOST_DUE) => crons.due(nowMs, limit);
  const advance: CronRecords["advance"] = async (steps) => {
    const made = await crons.advance(
      steps.map(({ due: { owner, cron }, next }) => ({
        owner,
        cronId: cron.cron_id,
        from: Date.parse(cron.next_run_date ?? ""),
        to: next === null ? null : Date.parse(next),
      })),
      randomUUID(),
    );
    return steps.filter((_, index) => made[index]).map((step) => step.due);
  };
  return {
    ...crons,
    due,
    advance,
    async takeDue(nowMs, next): Promise<readonly DueCron[]> {
      const found = await due(nowMs);
      if (found.length === 0) return [];
      return advance(found.map((one) => ({ due: one, next: next(one.cron) })));
    },
  };
}

function mailRecords({ mail }: Rows): MailRecords {
  return {
    post: (owner, threadId, { id, kind, message }) =>
      mail.post(owner, threadId, { id, kind, message: JSON.stringify(message ?? null) }, randomUUID()),
    async waiting(threadId, kinds) {
      const rows = await mail.waiting(threadId, kinds);
      return rows.map(({ message, ...row }) => ({ ...row, message: JSON.parse(message) }));
    },
    settle: (threadId, ids) => mail.settle(threadId, ids),
    unattended: (limit) => mail.unattended(limit),
  };
}

function taskRecords({ tasks }: Rows, tell: Parts["tell"]): TaskRecords {
  return {
    get: (owner, threadId) => tasks.get(owner, threadId),
    async begin({ giver, agentName, thread, run }) {
      const started = await tasks.begin(
        { giver: keyOf(giver), agentName, run, thread: thread && storedThread(thread, undefined) },
        Date.now(),
      );
      if (started.kind === "created") tell(started.displaced.map((one) => one.run_id));
      return started;
    },
    async cancel(owner, threadId) {
      const runs = await tasks.cancel(owner, threadId, Date.now());
      tell(runs.map((run) => run.run_id));
      return runs;
    },
  };
}

function backgroundRecords({ background }: Rows, tell: Parts["tell"]): BackgroundRecords {
  return {
    ...background,
    follow: ({ giver: { run, fence }, ...task }) =>
      background.follow({ ...task, parent: run.thread_id, giverRunId: run.run_id, giverFence: fence }),
    async stop(owner, threadId) {
      const runs = await background.stop(owner, threadId, Date.now());
      tell(runs.map((run) => run.run_id));
      return runs;
    },
  };
}

function keyOf({ run, fence }: RunClaim): ClaimKey {
  return { runId: run.run_id, threadId: run.thread_id, fence };
}

function shownState(
  state: Pick<ThreadRecord, "status" | "values" | "interrupts"> & { readonly error?: unknown },
) {
  return {
    status: state.status,
    values: jsonOf(state.values),
    interrupts: JSON.stringify(state.interrupts),
    error: jsonOf(state.error),
    ...threadWords(state.values),
  };
}

/** JSON is made here, because values with a `toJSON` method lose it on the way to the worker thread. */
function jsonOf(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}
