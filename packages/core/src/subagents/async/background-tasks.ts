/** Runs agents in the background of this process, each on a thread of its own. */
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { treeOf, withTree } from "../../backends/run-tree.ts";
import { outsideTasks, storedBy } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import { resultOf } from "../result.ts";
import { graphOf } from "../run-child.ts";
import type { AsyncTaskStatus } from "./async-task.ts";
import type { BackgroundGraph } from "./graphs.ts";
import { createMemoryMailbox, type MemoryMailbox, mailMessage } from "./mailbox.ts";
import { OpenTasks } from "./open-tasks.ts";
import type { AsyncCall, AsyncReport, AsyncRun } from "./transport.ts";
import { Turns } from "./turns.ts";
import { withLastWords } from "./words.ts";

/** Most runs that work in parallel; further ones are pending. */
const MOST_AT_ONCE = 64;
/** Tasks that are over and still known without a look into storage. */
const REMEMBERED = 1_000;
/** Milliseconds that a stop waits for the run to end. */
const STOP_TIME = 5_000;

export type GraphLoader = () => Promise<BackgroundGraph>;

interface Run {
  readonly runId: string;
  readonly stop: AbortController;
  status: "pending" | "running";
  /** Set when it is over. */
  report?: AsyncReport;
  /** Never rejects. */
  done: Promise<void>;
}

interface Task {
  readonly threadId: string;
  readonly load: GraphLoader;
  readonly call: AsyncCall;
  run: Run;
}

/** One for the whole process; see `backgroundTasks`. */
export class BackgroundTasks {
  /** The ends of tasks for threads whose runs have no mailbox of their own. */
  readonly mailbox: MemoryMailbox = createMemoryMailbox();
  /** Tasks that the threads of this process wait for, wherever they run. */
  readonly open: OpenTasks = new OpenTasks();
  readonly #tasks = new Map<string, Task>();
  readonly #turns = new Turns(MOST_AT_ONCE);
  readonly #memory = new MemorySaver();

  /** How many are pending or running. */
  get running(): number {
    return this.#live().length;
  }

  /** Resolves when nothing works any more and every end is in its mailbox. */
  async idle(): Promise<void> {
    const { signal } = new AbortController();
    for (;;) {
      const { changes } = this.open;
      const live = this.#live();
      if (live.length > 0) await Promise.all(live.map(({ run }) => run.done));
      else if (this.open.taskIds().some((id) => this.#tasks.has(id)))
        await this.open.changeAfter(changes, signal);
      else return;
    }
  }

  /** Stops all tasks of this process and resolves when they have stopped. Threads get no messages after that. */
  async close(): Promise<void> {
    const live = this.#live();
    for (const { run } of live) run.stop.abort(stopped());
    await Promise.all(live.map(({ threadId }) => this.open.cancelAll(threadId)));
    this.open.forgetAll();
    await Promise.all(live.map(({ run }) => settledSoon(run.done)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  start(load: GraphLoader, description: string, call: AsyncCall): AsyncRun {
    const threadId = crypto.randomUUID();
    return this.#begin({ threadId, load, call }, description);
  }

  /** Undefined: this process does not know the task. */
  check(threadId: string): AsyncReport | undefined {
    const run = this.#tasks.get(threadId)?.run;
    return run && (run.report ?? { status: run.status });
  }

  /** `unknown` is how to go on with a task that this process does not know. */
  async update(
    threadId: string,
    message: string,
    unknown: { load: GraphLoader; call: AsyncCall },
  ): Promise<AsyncRun> {
    const task = this.#tasks.get(threadId);
    if (task === undefined) return this.#begin({ threadId, ...unknown }, message);
    const { run } = task;
    run.stop.abort(stopped());
    if (await settledSoon(run.done)) return this.#begin(task, message);
    throw new DeepwrightError(
      "ASYNC_TASK_FAILED",
      `Task ${threadId} was asked to stop and has not stopped yet. Try again later.`,
    );
  }

  async cancel(threadId: string): Promise<void> {
    const run = this.#tasks.get(threadId)?.run;
    if (run === undefined) return;
    run.stop.abort(stopped());
    await Promise.all([this.open.cancelAll(threadId), settledSoon(run.done)]);
  }

  /** Undefined: the run was stopped on purpose. */
  async join({ threadId, runId }: AsyncRun): Promise<AsyncReport | undefined> {
    const run = this.#tasks.get(threadId)?.run;
    if (run?.runId !== runId) return undefined;
    await run.done;
    return run.stop.signal.aborted ? undefined : run.report;
  }

  /** State of a task's thread, as its saver has it; undefined: nothing. */
  async stored(load: GraphLoader, threadId: string): Promise<StoredThread | undefined> {
    const graph = (await load()) as BackgroundGraph & { getState?(config: object): Promise<StoredThread> };
    const configurable = this.#stored(graph, { thread_id: threadId });
    const state = await outsideTasks(() => graph.getState?.({ configurable }));
    return state?.values?.messages === undefined ? undefined : state;
  }

  #begin(task: Omit<Task, "run">, text: string): AsyncRun {
    const run: Run = {
      runId: crypto.randomUUID(),
      stop: new AbortController(),
      status: "pending",
      done: Promise.resolve(),
    };
    const begun: Task = { ...task, run };
    this.#tasks.delete(task.threadId);
    this.#tasks.set(task.threadId, begun);
    this.#forgetOldest();
    run.done = outsideTasks(() => this.#work(begun, text));
    return { threadId: task.threadId, runId: run.runId, status: run.status };
  }

  async #work(task: Task, text: string): Promise<void> {
    const { run } = task;
    try {
      run.report = await this.#follow(task, text);
    } catch (thrown) {
      const { reason = "It did not finish." } = resultOf({ state: undefined, error: { thrown } }, "", []);
      const state = await this.stored(task.load, task.threadId).catch(() => undefined);
      run.report = reportOf(
        state?.values,
        orderIdOf(run),
        run.stop.signal.aborted
          ? { status: "cancelled", reason: "It was stopped." }
          : { status: "error", reason },
      );
    }
  }

  /** A task is over when its agent is and nothing works that the agent has started. */
  async #follow({ threadId, load, call, run }: Task, text: string): Promise<AsyncReport> {
    const { signal } = run.stop;
    const graph = await load();
    const configurable = this.#stored(graph, {
      ...call.configurable,
      thread_id: threadId,
      run_id: run.runId,
    });
    const orderId = orderIdOf(run);
    let messages = [new HumanMessage({ id: orderId, content: text })];
    for (let begun = false; ; begun = true) {
      const state = await this.#turns.take(signal, () => {
        run.status = "running";
        const options = {
          configurable,
          signal,
          ...taken(graph, call),
          ...(begun ? {} : { runId: run.runId }),
        };
        return graph.invoke({ messages, ...callbackOf(graph, call) }, options);
      });
      if (asks(state)) return { status: "interrupted", reason: WAITS };
      const mail = await this.#mailFor(threadId, signal);
      if (mail.length === 0) return reportOf(state, orderId);
      messages = mail.map(mailMessage);
    }
  }

  /** Waits while something works that the thread has started; empty when nothing does and all is read. */
  async #mailFor(threadId: string, signal: AbortSignal) {
    for (;;) {
      const { changes } = this.open;
      const mayCome = this.open.has(threadId);
      const mail = await this.mailbox.unread(threadId);
      if (mail.length > 0)
        await this.mailbox.acknowledge(
          threadId,
          mail.map(({ id }) => id),
        );
      if (mail.length > 0 || !mayCome) return mail;
      await this.open.changeAfter(changes, signal);
    }
  }

  /** Graphs without a saver of their own are kept in memory. */
  #stored(graph: object, configurable: Record<string, unknown>): Record<string, unknown> {
    const { checkpointer } = graphOf(graph) as { checkpointer?: unknown };
    return typeof checkpointer === "object" && checkpointer !== null
      ? configurable
      : storedBy(configurable, this.#memory);
  }

  #live(): Task[] {
    return [...this.#tasks.values()].filter(({ run }) => run.report === undefined);
  }

  #forgetOldest(): void {
    if (this.#tasks.size <= REMEMBERED) return;
    const oldest = [...this.#tasks.values()].find(({ run }) => run.report !== undefined);
    if (oldest === undefined) return;
    this.#tasks.delete(oldest.threadId);
    void this.#memory.deleteThread(oldest.threadId);
  }
}

export interface StoredThread {
  readonly values: Record<string, unknown>;
  readonly next: readonly string[];
}

const WAITS = "It waits for a person's decision, which has to be given on its own thread.";

const orderIdOf = ({ runId }: Pick<Run, "runId">): string => `task-${runId}`;

/**
 * `orderId` is the id of the message that gave the task. `end` is set if the agent was ended from outside; its last
 * words are reported all the same.
 */
export function reportOf(
  state: unknown,
  orderId: string,
  end?: { readonly status: AsyncTaskStatus; readonly reason: string },
): AsyncReport {
  const { text, failed, reason } = resultOf({ state }, orderId, []);
  if (end !== undefined) return { status: end.status, reason: withLastWords(end.reason, text) };
  if (!failed) return { status: "success", result: reason === undefined ? text : `${text}\n\n${reason}` };
  return { status: "error", reason: withLastWords(reason ?? "It did not finish.", text) };
}

function asks(state: unknown): boolean {
  const { __interrupt__: asked } = (state ?? {}) as { __interrupt__?: readonly unknown[] };
  return Array.isArray(asked) && asked.length > 0;
}

/** A graph with a store of its own keeps it. */
function taken(graph: object, { context, store }: AsyncCall): object {
  const { store: own } = graphOf(graph) as { store?: unknown };
  return { ...(context !== undefined && { context }), ...(store !== undefined && !own && { store }) };
}

/** For an agent that tells of its end itself. */
function callbackOf(graph: object, { ownerThreadId }: AsyncCall): object {
  const { channels } = graphOf(graph) as { channels?: object };
  const isWanted = ownerThreadId !== undefined && channels !== undefined;
  return isWanted && Object.hasOwn(channels, "callbackThreadId") ? { callbackThreadId: ownerThreadId } : {};
}

function stopped(): DOMException {
  return new DOMException("The task was stopped.", "AbortError");
}

/** False: it takes longer. */
async function settledSoon(done: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), STOP_TIME);
  });
  const isDone = await Promise.race([done.then(() => true), late]);
  clearTimeout(timer);
  return isDone;
}

/** Configurable keys that a background run inherits: the caller's own, and the ceiling of its permissions. */
export function handedOn(config: { configurable?: Record<string, unknown> }): Record<string, unknown> {
  const entries = Object.entries(config.configurable ?? {}).filter(([key]) => !isOfTheRun(key));
  const tree = treeOf(config);
  const ceiling = tree.ceilingInside ?? tree.ceiling;
  const configurable = Object.fromEntries(entries);
  if (ceiling === undefined) return configurable;
  return withTree({ configurable }, { agentPath: [], ceiling }).configurable;
}

function isOfTheRun(key: string): boolean {
  return key.startsWith("__") || key.startsWith("checkpoint") || OF_THE_RUN.has(key);
}

const OF_THE_RUN = new Set(["thread_id", "run_id", "graph_id", "callbackThreadId"]);

const PLACE = Symbol.for("deepwright.background-tasks.v1");

/** The tasks that run in the background of this process. Two copies of the library share them. */
export function backgroundTasks(): BackgroundTasks {
  const place = globalThis as { [PLACE]?: BackgroundTasks };
  place[PLACE] ??= new BackgroundTasks();
  return place[PLACE];
}
