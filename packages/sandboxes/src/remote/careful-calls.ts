/**
 * Calls of a vendor's SDK about one sandbox. The meaning of a failure depends on the state of the sandbox, so the state
 * is checked.
 *
 * If the sandbox has ended, every failure is a `SANDBOX_LOST`. If it sleeps, it is started with its files, and calls
 * refused for that reason are repeated. A call whose connection broke is not repeated: the command may have run.
 */
import type { SandboxError } from "deepwright";
import type { TransferFailure } from "./remote-sandbox.ts";
import { lostSandbox, statusOf } from "./vendor-errors.ts";
import { within } from "./wait.ts";

/** `asleep`: also while it wakes up or falls asleep. Undefined: the vendor does not say. */
export type MachineState = "gone" | "asleep" | "awake" | undefined;

export interface Keeper {
  readonly id: string;
  /** May throw: then it is not known. */
  state(): Promise<MachineState>;
  /** Comes back when it runs; throws a `SandboxError`. */
  start(): Promise<void>;
  /** The vendor's failure as ours. */
  error(action: string, error: unknown): SandboxError;
}

/** Milliseconds for the question how the sandbox is. */
const PROBE_WAIT = 5000;
/** With these a service may mean the file, so the state of the sandbox is checked. */
const ABOUT_THE_FILE = new Set([400, 403, 404, 409, 422, 500]);

export class CarefulCalls {
  readonly #keeper: Keeper;
  #isOver = false;
  #starting: Promise<void> | undefined;
  #starts = 0;

  constructor(keeper: Keeper) {
    this.#keeper = keeper;
  }

  /** From now on everything is a `SANDBOX_LOST`. */
  end(): void {
    this.#isOver = true;
  }

  async isGone(): Promise<boolean> {
    return (await this.#state()) === "gone";
  }

  /** Starts it when it is not running. False: it is gone. */
  async awake(): Promise<boolean> {
    const state = await this.#state();
    if (state === "asleep") await this.#start();
    return state !== "gone";
  }

  async attempt<Result>(action: string, act: () => Promise<Result>): Promise<Result> {
    return this.#attempt(action, act, (error) => {
      throw this.#keeper.error(action, error);
    });
  }

  /** Like `attempt`; `clear` knows the vendor's errors about files. */
  async transfer<Result>(
    action: string,
    act: () => Promise<Result>,
    clear: (error: unknown) => TransferFailure | undefined = () => undefined,
  ): Promise<Result | TransferFailure> {
    return this.#attempt<Result | TransferFailure>(
      action,
      () =>
        act().catch((error: unknown) => {
          const failure = clear(error);
          if (failure === undefined) throw error;
          return failure;
        }),
      (error) => {
        if (ABOUT_THE_FILE.has(statusOf(error) ?? 0)) return "unclear";
        throw this.#keeper.error(action, error);
      },
    );
  }

  async #attempt<Result>(
    action: string,
    act: () => Promise<Result>,
    failed: (error: unknown) => Result,
  ): Promise<Result> {
    if (this.#isOver) throw lostSandbox(this.#keeper.id);
    const starts = this.#starts;
    try {
      return await act();
    } catch (error) {
      const state = await this.#state();
      if (state === "gone") throw lostSandbox(this.#keeper.id, this.#keeper.error(action, error));
      const wasAsleep = state === "asleep" || starts !== this.#starts;
      if (!wasAsleep || !isRefusal(error)) return failed(error);
      if (state === "asleep" || this.#starting !== undefined) await this.#start();
    }
    return await act().catch(failed);
  }

  async #state(): Promise<MachineState> {
    if (this.#isOver) return "gone";
    const state = await within(
      PROBE_WAIT,
      this.#keeper.state().catch(() => undefined),
    );
    if (state === "gone") this.#isOver = true;
    return state;
  }

  #start(): Promise<void> {
    if (this.#starting === undefined) {
      this.#starts += 1;
      this.#starting = this.#keeper.start().finally(() => {
        this.#starting = undefined;
      });
    }
    return this.#starting;
  }
}

/** Whether the request was answered, and not carried out. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status < 500;
}
