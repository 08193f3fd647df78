/** When agents worked: one span for each model call, tool call and wait, read from events of the mode `tasks`. */

export interface TaskEvent {
  readonly kind: string;
  readonly namespace: readonly string[];
  readonly data: unknown;
}

export interface Span {
  /** Namespace of the agent; empty: the agent of the thread. */
  readonly place: string;
  readonly kind: "model" | "tool" | "wait";
  /** The call that a tool works on. */
  readonly callId?: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  /** Undefined: it goes on. */
  readonly to?: number;
  readonly end?: "done" | "error" | "stopped";
}

interface TaskData {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly timestamp?: unknown;
  readonly input?: { readonly id?: unknown } | undefined;
  readonly triggers?: unknown;
  readonly interrupts?: unknown;
  readonly error?: unknown;
}

const KINDS: Readonly<Record<string, Span["kind"]>> = { model_request: "model", tools: "tool" };

export class Spans {
  readonly #spans: Span[] = [];
  /** Places in the list of what goes on, by agent and task. */
  readonly #open = new Map<string, number>();
  #last = 0;

  get list(): readonly Span[] {
    return [...this.#spans];
  }

  /** Events of servers that do not say when are left out. */
  add({ kind, namespace, data }: TaskEvent): void {
    if (kind !== "tasks" || typeof data !== "object" || data === null) return;
    const task = data as TaskData;
    const at = Date.parse(String(task.timestamp));
    if (Number.isNaN(at)) return;
    this.#last = Math.max(this.#last, at);
    const place = namespace.join("|");
    const key = `${place} ${String(task.id)}`;
    if (Array.isArray(task.triggers)) this.#begin(key, place, task, at);
    else this.#end(key, place, task, at);
  }

  /** The run is over: nothing of it goes on but waits. `at` is left out where the run may have ended earlier. */
  endRun(at = this.#last): void {
    for (const [key, index] of this.#open)
      if (this.#spans[index]?.kind !== "wait") this.#close(key, Math.max(at, this.#last), "stopped");
  }

  #begin(key: string, place: string, task: TaskData, at: number): void {
    for (const [waiting, index] of this.#open)
      if (this.#spans[index]?.kind === "wait") this.#close(waiting, at, "done");
    const kind = KINDS[String(task.name)];
    if (kind === undefined) return;
    const callId = task.input?.id;
    // Another try of the run begins its tasks anew.
    this.#close(key, at, "stopped");
    this.#put(key, {
      ...{ place, kind, from: at },
      ...(kind === "tool" && typeof callId === "string" && { callId }),
    });
  }

  #end(key: string, place: string, task: TaskData, at: number): void {
    this.#close(key, at, task.error == null ? "done" : "error");
    const waits = Array.isArray(task.interrupts) && task.interrupts.length > 0;
    if (waits) this.#put(`${place} waits`, { place, kind: "wait", from: at });
  }

  #put(key: string, span: Span): void {
    if (this.#open.has(key)) return;
    this.#open.set(key, this.#spans.push(span) - 1);
  }

  #close(key: string, to: number, end: NonNullable<Span["end"]>): void {
    const index = this.#open.get(key);
    const span = index === undefined ? undefined : this.#spans[index];
    if (index === undefined || !span) return;
    this.#spans[index] = { ...span, to, end };
    this.#open.delete(key);
  }
}
