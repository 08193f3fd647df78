/** Tasks that threads of this process have started and not seen the end of; their ends arrive through a mailbox. */
import { outsideTasks } from "../../engine/engine.ts";
import type { AsyncTask } from "./async-task.ts";
import type { Mailbox, MailboxMessage } from "./mailbox.ts";
import type { AsyncReport, AsyncTransport } from "./transport.ts";
import { endWords } from "./words.ts";

interface OpenTask {
  readonly runId: string;
  readonly stop: AbortController;
  cancel(): Promise<void>;
}

export class OpenTasks {
  readonly #open = new Map<string, Map<string, OpenTask>>();
  readonly #waiting = new Set<() => void>();
  /** Counts every change, so that one between a look and a wait is not missed. */
  #changes = 0;

  get changes(): number {
    return this.#changes;
  }

  has(ownerThreadId: string): boolean {
    return (this.#open.get(ownerThreadId)?.size ?? 0) > 0;
  }

  taskIds(): readonly string[] {
    return [...this.#open.values()].flatMap((tasks) => [...tasks.keys()]);
  }

  isWatched(ownerThreadId: string, { taskId, runId }: AsyncTask): boolean {
    return this.#open.get(ownerThreadId)?.get(taskId)?.runId === runId;
  }

  /** Posts one message when the run is over; none when another run takes its place or it is forgotten before. */
  watch(ownerThreadId: string, task: AsyncTask, transport: AsyncTransport, mailbox: Mailbox): void {
    const { taskId, runId, threadId, status } = task;
    if (transport.join === undefined || this.isWatched(ownerThreadId, task)) return;
    this.forget(ownerThreadId, taskId);
    const run = { threadId, runId, status };
    const stop = new AbortController();
    const entry: OpenTask = { runId, stop, cancel: () => transport.cancel(run, { ownerThreadId }) };
    const owned = this.#open.get(ownerThreadId) ?? new Map<string, OpenTask>();
    this.#open.set(ownerThreadId, owned.set(taskId, entry));
    // Work that a mailbox starts after a post is not part of the run that started the task.
    outsideTasks(() => void this.#follow(ownerThreadId, task, { transport, mailbox, entry }));
    this.#change();
  }

  async #follow(
    ownerThreadId: string,
    task: AsyncTask,
    { transport, mailbox, entry }: { transport: AsyncTransport; mailbox: Mailbox; entry: OpenTask },
  ): Promise<void> {
    const { threadId, runId, status, taskId } = task;
    const { signal } = entry.stop;
    const report = await transport
      .join?.({ threadId, runId, status }, signal)
      .catch((): AsyncReport => ({ status: "error" }));
    if (signal.aborted) return;
    if (report !== undefined) await post(mailbox, ownerThreadId, task, report);
    this.#close(ownerThreadId, taskId, entry);
  }

  /** Its end is no news any more. */
  forget(ownerThreadId: string, taskId: string): void {
    const entry = this.#open.get(ownerThreadId)?.get(taskId);
    if (entry === undefined) return;
    entry.stop.abort();
    this.#close(ownerThreadId, taskId, entry);
  }

  /** Cancels all tasks of a thread. Tasks that cannot be reached are left alone. */
  async cancelAll(ownerThreadId: string): Promise<void> {
    const entries = [...(this.#open.get(ownerThreadId) ?? [])];
    for (const [taskId] of entries) this.forget(ownerThreadId, taskId);
    await Promise.allSettled(entries.map(([, entry]) => entry.cancel()));
  }

  /** No more notifications are sent. */
  forgetAll(): void {
    for (const [owner, tasks] of [...this.#open])
      for (const taskId of [...tasks.keys()]) this.forget(owner, taskId);
  }

  /** Resolves at the next change after the one of that number. */
  async changeAfter(seen: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (seen !== this.#changes) return;
    await new Promise<void>((resolve, reject) => {
      const wake = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.delete(wake);
        reject(signal.reason);
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  #close(ownerThreadId: string, taskId: string, entry: OpenTask): void {
    const owned = this.#open.get(ownerThreadId);
    if (owned?.get(taskId) !== entry) return;
    owned.delete(taskId);
    if (owned.size === 0) this.#open.delete(ownerThreadId);
    this.#change();
  }

  #change(): void {
    this.#changes += 1;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

/** A mailbox that fails is asked again: the end of a task must not be lost to a moment. */
async function post(mailbox: Mailbox, owner: string, task: AsyncTask, report: AsyncReport): Promise<void> {
  const message = endOf(task, report);
  for (let attempt = 0; ; attempt += 1)
    try {
      return await mailbox.post(owner, message);
    } catch {
      if (attempt === ATTEMPTS) return;
      await new Promise<void>((resolve) => setTimeout(resolve, 100 * 2 ** attempt));
    }
}

const ATTEMPTS = 6;

export function endOf(
  { taskId, runId, agentName }: Pick<AsyncTask, "taskId" | "runId" | "agentName">,
  { status }: AsyncReport,
): MailboxMessage {
  const text = endWords(agentName, taskId, status);
  return { id: `async-task-${taskId}-${runId}`, taskId, runId, agentName, status, text };
}
