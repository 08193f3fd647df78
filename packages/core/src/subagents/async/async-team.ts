/**
 * The async subagents of one agent, and the model's operations on their tasks. Every failure is an answer to the model.
 */
import { treeOf } from "../../backends/run-tree.ts";
import { DeepwrightError } from "../../errors.ts";
import { failureWords } from "../../loop/failures/failure-words.ts";
import { ownValue } from "../../text/own-value.ts";
import { type BackgroundSubAgent, isHere } from "../spec.ts";
import { transportFor } from "./async-spec.ts";
import { ASYNC_TASK_STATUSES, type AsyncTask, type AsyncTasks, isLive, isOver } from "./async-task.ts";
import { backgroundTasks, handedOn } from "./background-tasks.ts";
import type { GraphSources } from "./graphs.ts";
import { hostOf, mailboxOf } from "./host.ts";
import { checkGraphId } from "./local-transport.ts";
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

/** Facts about its run that a tool call has. */
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
  readonly subAgent: BackgroundSubAgent;
  readonly transport: AsyncTransport;
}

/** Characters of an order that are remembered. */
const DESCRIPTION_LENGTH = 500;

export class AsyncTeam {
  readonly #members: ReadonlyMap<string, Member>;
  readonly #graphs: GraphSources;

  /** Throws for a subagent with a mistake. */
  constructor(subAgents: readonly BackgroundSubAgent[], graphs: GraphSources) {
    this.#graphs = graphs;
    this.#members = new Map(
      subAgents.map((subAgent) => [subAgent.name, { subAgent, transport: transportFor(subAgent, graphs) }]),
    );
  }

  /** Throws a ConfigurationError for the first subagent without a url whose graph is not known. */
  checkGraphs(): void {
    for (const subAgent of this.members)
      if (isHere(subAgent)) checkGraphId(subAgent.name, subAgent.graphId, this.#graphs);
  }

  get members(): readonly BackgroundSubAgent[] {
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
      await this.#given(task, transport, call);
      return { text: started(task), tasks: one(task) };
    });
  }

  check(id: string, call: TeamCall): Promise<Answer> {
    return this.#withTask(id, call, async (task, transport) => {
      if (task.status === "cancelled")
        return { text: checked(task, await whatWasSaid(task, transport, call)) };
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
      await this.#given(next, transport, call);
      return { text: updated(next), tasks: one(next) };
    });
  }

  cancel(id: string, call: TeamCall): Promise<Answer> {
    return this.#withTask(id, call, async (task, transport) => {
      if (isOver(task.status)) return { text: notRunning(task, task.status) };
      const { status } = await transport.check(runOf(task), callFor(call));
      if (isOver(status)) return { text: notRunning(task, status), tasks: one(seen(task, { status })) };
      const { configurable } = call.config;
      const owner = threadOf(configurable);
      if (owner !== undefined) backgroundTasks().open.forget(owner, task.taskId);
      await transport.cancel(runOf(task), callFor(call));
      // Not earlier: the end of a task that could not be stopped is still news.
      await hostOf(configurable).forget?.(task.taskId);
      const next: AsyncTask = { ...task, status: "cancelled", updatedAt: now(), reportedRunId: task.runId };
      return { text: cancelled(next), tasks: one(next) };
    });
  }

  /** Asks for the status of each task that may have changed. A task that cannot be reached keeps its last known status. */
  async list(filter: string | undefined, call: TeamCall): Promise<Answer> {
    const wanted = filter === "all" ? undefined : filter;
    if (wanted !== undefined && !(ASYNC_TASK_STATUSES as readonly string[]).includes(wanted))
      return refused(unknownStatus(wanted, [...ASYNC_TASK_STATUSES, "all"]));
    const tasks = await Promise.all(Object.values(call.tasks).map((task) => this.#refreshed(task, call)));
    const changed = tasks.filter((task) => task !== ownValue(call.tasks, task.taskId));
    const shown = tasks.filter(({ status }) => wanted === undefined || status === wanted);
    const update = Object.fromEntries(changed.map((task) => [task.taskId, task]));
    return { text: listed(shown, wanted), ...(changed.length > 0 && { tasks: update }) };
  }

  /** Transport to the server of this subagent; undefined: unknown name, or a subagent of this process. */
  remote(name: string): AsyncTransport | undefined {
    const member = this.#members.get(name);
    return member === undefined || isHere(member.subAgent) ? undefined : member.transport;
  }

  /** Sends the thread a message when the task is over. Rejects as `follow` of a host does. */
  async watch(task: AsyncTask, configurable: Record<string, unknown> | undefined): Promise<void> {
    const owner = threadOf(configurable);
    const transport = this.#transport(task.agentName, { config: { configurable: configurable ?? {} } });
    if (owner === undefined || transport === undefined) return;
    if (this.remote(task.agentName) && (await hostOf(configurable).follow?.(task))) return;
    backgroundTasks().open.watch(owner, task, transport, mailboxOf(configurable));
  }

  /** Cancels a task whose end could not be reported. */
  async #given(task: AsyncTask, transport: AsyncTransport, call: TeamCall): Promise<void> {
    try {
      await this.watch(task, call.config.configurable);
    } catch (error) {
      await transport.cancel(runOf(task), {}).catch(() => undefined);
      throw error;
    }
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
    const task = ownValue(call.tasks, id);
    if (task === undefined) return Promise.resolve(refused(unknownTask(id, Object.values(call.tasks))));
    const transport = this.#transport(task.agentName, call);
    if (transport === undefined) return Promise.resolve(refused(agentGone(task, this.#names())));
    return answered(call, () => work(task, transport));
  }

  /**
   * The host's transport for an agent without a url, if there is a host. Tasks under a ceiling stay in this process:
   * a ceiling is a function, and no host could enforce it.
   */
  #transport(name: string, { config }: Pick<TeamCall, "config">): AsyncTransport | undefined {
    const member = this.#members.get(name);
    if (member === undefined || !isHere(member.subAgent)) return member?.transport;
    const { ceiling, ceilingInside = ceiling } = treeOf(config);
    if (ceilingInside !== undefined) return member.transport;
    return hostOf(config.configurable).transport?.(member.subAgent.graphId, name) ?? member.transport;
  }

  #names(): readonly string[] {
    return [...this.#members.keys()];
  }
}

function one(task: AsyncTask): AsyncTasks {
  return { [task.taskId]: task };
}

/** With `told` the agent learns of the end of the run here, and gets no message about it. */
function seen(task: AsyncTask, { status }: AsyncReport, told = false): AsyncTask {
  const isNews = told && !isLive(status);
  return { ...task, status, checkedAt: now(), ...(isNews && { reportedRunId: task.runId }) };
}

/** Last words of a cancelled task; its server may be gone, or may not know it any more. */
async function whatWasSaid(task: AsyncTask, transport: AsyncTransport, call: TeamCall): Promise<AsyncReport> {
  const report = await transport.check(runOf(task), callFor(call)).catch((error) => {
    if (call.config.signal?.aborted) throw error;
    return undefined;
  });
  return { status: "cancelled", reason: report?.reason };
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

/** A child ends with its task, so it could not hear of tasks that it started. */
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
