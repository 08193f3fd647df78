/** The task of our loop as stages see it. */
import type { BackendRuntime } from "../../backends/backend.ts";
import { readChannel, type TaskConfig, type Write } from "../../engine/engine.ts";
import { type Loop, stateView } from "../contract/loop.ts";
import type { StageTask } from "../contract/stages.ts";
import type { Outcome } from "../messages/outcome.ts";
import { REMINDERS, type Reminder, remindersIn } from "../messages/reminders.ts";
import type { ChatModel } from "../providers/model-source.ts";
import { runtimeFor } from "./runtime.ts";
import { updateWrites } from "./updates.ts";

/** Writes of the stages of one task, until the task writes them. */
export class LoopTask implements StageTask {
  readonly #written = new Map<string, unknown>();
  readonly #reminders: Reminder[] = [];
  /** Reminders of the thread that are left, if not all are. */
  #kept: readonly Reminder[] | undefined;
  #ended: Outcome | undefined;
  readonly #loop: Loop;

  constructor(
    loop: Loop,
    readonly config: TaskConfig,
  ) {
    this.#loop = loop;
  }

  get signal(): AbortSignal | undefined {
    return this.config.signal;
  }

  get runtime(): BackendRuntime {
    const { context, store } = runtimeFor(undefined, this.config) as Pick<
      BackendRuntime,
      "context" | "store"
    >;
    const { serverInfo } = this.config as { serverInfo?: BackendRuntime["serverInfo"] };
    const state = stateView(this.#loop, this.config);
    return {
      state,
      context,
      config: this.config,
      ...(store && { store }),
      ...(serverInfo && { serverInfo }),
    };
  }

  model(): ChatModel | Promise<ChatModel> {
    return this.#loop.model.resolve(this.config);
  }

  read(key: string): unknown {
    return this.#written.has(key) ? this.#written.get(key) : readChannel(this.config, key);
  }

  write(key: string, value: unknown): void {
    this.#written.set(key, value);
  }

  keepReminders(isThere: (messageId: string) => boolean): void {
    const known = remindersIn(this.read(REMINDERS));
    const kept = known.filter(({ after }) => isThere(after));
    this.#kept = kept.length === known.length ? undefined : kept;
  }

  remind(reminder: Reminder): void {
    this.#reminders.push(reminder);
  }

  end(outcome: Outcome): void {
    this.#ended ??= outcome;
  }

  /** How a stage ended the run; undefined while it goes on. */
  get ended(): Outcome | undefined {
    return this.#ended;
  }

  /** Reminders of the thread and of this task. */
  reminders(): readonly Reminder[] {
    const known = this.#kept ?? remindersIn(this.read(REMINDERS));
    return this.#reminders.length === 0 ? known : [...known, ...this.#reminders];
  }

  /** Keys the state does not have are left out. */
  writes(): Write[] {
    const writes = updateWrites(this.#loop, [...this.#written]);
    if (this.#kept !== undefined) writes.push([REMINDERS, { kept: this.#kept.map(({ id }) => id) }]);
    if (this.#reminders.length > 0) writes.push([REMINDERS, this.#reminders]);
    return writes;
  }
}
