/** The task of our loop as stages see it. */
import type { BackendRuntime } from "../backends/backend.ts";
import { readChannel, type TaskConfig, type Write } from "../engine.ts";
import { type Loop, stateView } from "./loop.ts";
import type { ChatModel } from "./model-source.ts";
import { REMINDERS, type Reminder, remindersIn } from "./reminders.ts";
import { runtimeFor } from "./runtime.ts";
import type { StageTask } from "./stages.ts";
import { updateWrites } from "./updates.ts";

/** What stages of one task have written, until the task writes it. */
export class LoopTask implements StageTask {
  readonly #written = new Map<string, unknown>();
  readonly #reminders: Reminder[] = [];
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
    return this.#loop.model.resolve();
  }

  read(key: string): unknown {
    return this.#written.has(key) ? this.#written.get(key) : readChannel(this.config, key);
  }

  write(key: string, value: unknown): void {
    this.#written.set(key, value);
  }

  remind(reminder: Reminder): void {
    this.#reminders.push(reminder);
  }

  /** Those of the thread and of this task. */
  reminders(): readonly Reminder[] {
    const known = remindersIn(this.read(REMINDERS));
    return this.#reminders.length === 0 ? known : [...known, ...this.#reminders];
  }

  /** Keys the state does not have are left out. */
  writes(): Write[] {
    const writes = updateWrites(this.#loop, [...this.#written]);
    return this.#reminders.length === 0 ? writes : [...writes, [REMINDERS, this.#reminders]];
  }
}
