/** The async subagents of one agent, and what its model can do with their tasks. Whatever goes wrong is an answer. */
import { treeOf } from "../../backends/run-tree.ts";
import { DeepwrightError } from "../../errors.ts";
import { failureWords } from "../../loop/failure-words.ts";
import type { AsyncSubAgent } from "../spec.ts";
import { transportFor } from "./async-spec.ts";
import { ASYNC_TASK_STATUSES, type AsyncTask, type AsyncTasks, isLive, isOver } from "./async-task.ts";
import { backgroundTasks, handedOn } from "./background-tasks.ts";
import type { GraphSources } from "./graphs.ts";
import { hostOf, mailboxOf } from "./host.ts";
import type { AsyncCall, AsyncReport, AsyncRun, AsyncTransport } from "./transport.ts";
import {
  agentGone,
  cancelled,
  checked,
  listed,
  notRunning,
  ONLY_OUTERMOST,
  started,
  unknownAgent,
  unknownStatus,
  unknownTask,
  updated,
} from "./words.ts";

/** What the call of a tool knows of its run. */
export interface TeamCall {
  readonly config: {
    readonly configurable?: Record<string, unknown>;
    readonly signal?: AbortSignal | undefined;
  };
  readonly callId?: string | undefined;
  readonly context?: unknown;
  readonly store?: unknown;
  readonly tasks: AsyncTasks;
}

export interface Answer {
  readonly text: string;
  readonly failed?: boolean;
  /** For the channel. */
  readonly tasks?: AsyncTasks;
}

interface Member {
  readonly subAgent: AsyncSubAgent;
  readonly transport: AsyncTransport;
}

/** Characters of an order that are remembered. */
const DESCRIPTION_LENGTH = 500;

export class AsyncTeam {
  readonly #members: ReadonlyMap<string, Member>;

  /** Throws what is wrong with one of them. */
  constructor(subAgents: readonly AsyncSubAgent[], graphs: GraphSources) {
    this.#members = new Map(
      subAgents.map((subAgent) => [subAgent.name, { subAgent, transport: transportFor(subAgent, graphs) }]),
    );
  }

  get members(): readonly AsyncSubAgent[] {
    return [...this.#members.values()].map(({ subAgent }) => subAgent);
  }

  async start(type: string, description: string, call: TeamCall): Promise<Answer> {
    const transport = this.#transport(type, call);
    if (transport === undefined) return refused(unknownAgent(type, this.#names()));
    if (isInside(call)) return refused(ONLY_OUTERMOST);
    return answered(call, async () => {
      const run = await transport.start(description, callFor(call));
      const task: AsyncTask = {
        taskId: run.threadId,
        agentName: type,
        ...run,
        createdAt: now(),
        description: description.slice(0, DESCRIPTION_LENGTH),
      };
      this.watch(task, call.config.configurable);
      return { text: started(task), tasks: one(task) };
    });
  }

  check(id: string, call: TeamCall): Promise<Answer> {
    return this.#withTask(id, call, async (task, transport) => {
      if (task.status === "cancelled") return { text: checked(task, { status: "cancelled" }) };
      const report = await transport.check(runOf(task), callFor(call));
      return { text: checked(task, report), tasks: one(seen(task, report, true)) };
    });
  }

  update(id: string, message: string, call: TeamCall): Promise<Answer> {
    if (isInside(call)) return Promise.resolve(refused(ONLY_OUTERMOST));
    return this.#withTask(id, call, async (task, transport) => {
      const { threadId, runId } = await transport.update(runOf(task), message, callFor(call));
      const updates = (task.updates ?? 0) + 1;
      const next: AsyncTask = { ...task, threadId, runId, status: "updated", updatedAt: now(), updates };
      this.watch(next, call.config.configurable);
      return { text: updated(next), tasks: one(next) };
    });
  }

  cancel(id: string, call: TeamCall): Promise<Answer> {
    return this.#withTask(id, call, async (task, transport) => {
      if (isOver(task.status)) return { text: notRunning(task, task.status) };
      const { status } = await transport.check(runOf(task), callFor(call));
      if (isOver(status)) return { text: notRunning(task, status), tasks: one(seen(task, { status })) };
      const owner = threadOf(call.config.configurable);
      if (owner !== undefined) backgroundTasks().open.forget(owner, task.taskId);
      await transport.cancel(runOf(task), callFor(call));
      const next: AsyncTask = { ...task, status: "cancelled", updatedAt: now(), toldRunId: task.runId };
      return { text: cancelled(next), tasks: one(next) };
    });
  }

  /** Looks after each that may have changed; of one that cannot be reached the last known status is told. */
  async list(filter: string | undefined, call: TeamCall): Promise<Answer> {
    const wanted = filter === "all" ? undefined : filter;
    if (wanted !== undefined && !(ASYNC_TASK_STATUSES as readonly string[]).includes(wanted))
      return refused(unknownStatus(wanted, [...ASYNC_TASK_STATUSES, "all"]));
    const tasks = await Promise.all(Object.values(call.tasks).map((task) => this.#refreshed(task, call)));
    const changed = tasks.filter((task) => task !== call.tasks[task.taskId]);
    const shown = tasks.filter(({ status }) => wanted === undefined || status === wanted);
    const update = Object.fromEntries(changed.map((task) => [task.taskId, task]));
    return { text: listed(shown, wanted), ...(changed.length > 0 && { tasks: update }) };
  }

  /** Has the thread told when the task is over. */
  watch(task: AsyncTask, configurable: Record<string, unknown> | undefined): void {
    const owner = threadOf(configurable);
    const transport = this.#transport(task.agentName, { config: { configurable: configurable ?? {} } });
    if (owner === undefined || transport === undefined) return;
    backgroundTasks().open.watch(owner, task, transport, mailboxOf(configurable));
  }

  async #refreshed(task: AsyncTask, call: TeamCall): Promise<AsyncTask> {
    const transport = this.#transport(task.agentName, call);
    if (isOver(task.status) || transport === undefined) return task;
    try {
      const { status } = await transport.check(runOf(task), callFor(call));
      return status === task.status ? task : seen(task, { status });
    } catch (error) {
      if (call.config.signal?.aborted) throw error;
      return task;
    }
  }

  #withTask(
    id: string,
    call: TeamCall,
    work: (task: AsyncTask, transport: AsyncTransport) => Promise<Answer>,
  ): Promise<Answer> {
    const task = Object.hasOwn(call.tasks, id) ? call.tasks[id] : undefined;
    if (task === undefined) return Promise.resolve(refused(unknownTask(id, Object.values(call.tasks))));
    const transport = this.#transport(task.agentName, call);
    if (transport === undefined) return Promise.resolve(refused(agentGone(task, this.#names())));
    return answered(call, () => work(task, transport));
  }

  /** That of the host, for an agent without a url, if it has one. */
  #transport(name: string, { config }: Pick<TeamCall, "config">): AsyncTransport | undefined {
    const member = this.#members.get(name);
    if (member === undefined || member.subAgent.url != null) return member?.transport;
    return hostOf(config.configurable).transport?.(member.subAgent.graphId) ?? member.transport;
  }

  #names(): readonly string[] {
    return [...this.#members.keys()];
  }
}

function one(task: AsyncTask): AsyncTasks {
  return { [task.taskId]: task };
}

/** With `told` the agent learns how the run has ended, and needs no message about it. */
function seen(task: AsyncTask, { status }: AsyncReport, told = false): AsyncTask {
  const isNews = told && !isLive(status);
  return { ...task, status, checkedAt: now(), ...(isNews && { toldRunId: task.runId }) };
}

function runOf({ threadId, runId, status }: AsyncTask): AsyncRun {
  return { threadId, runId, status };
}

function callFor({ config, callId, context, store }: TeamCall): AsyncCall {
  return {
    ownerThreadId: threadOf(config.configurable),
    callId,
    signal: config.signal,
    context,
    store,
    configurable: handedOn(config),
  };
}

export function threadOf(configurable: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const id = configurable?.thread_id;
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** A child that ends with its task could not hear of what it started. */
function isInside({ config }: TeamCall): boolean {
  return treeOf(config).agentPath.length > 0;
}

function refused(text: string): Answer {
  return { text, failed: true };
}

async function answered({ config }: TeamCall, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    config.signal?.throwIfAborted();
    if (error instanceof DeepwrightError) return refused(`Error: ${error.message}`);
    return refused(failureWords(error, { name: "async task" }, {}));
  }
}

function now(): string {
  return new Date().toISOString();
}
