/** Turns failures of calls to an ended sandbox into `SANDBOX_LOST`, independent of the SDK's error. */
import type { SandboxError } from "deepwright";
import { lostSandbox } from "./vendor-errors.ts";

export interface LossCheckOptions {
  readonly id: string;
  /** Asks the vendor. False also where the vendor does not answer. */
  isGone(): Promise<boolean>;
  /** The vendor's failure as ours. */
  error(action: string, error: unknown): SandboxError;
  /** Called when the sandbox is known to have ended. */
  onEnd?(): void;
}

export class LossCheck {
  readonly #options: LossCheckOptions;
  #isOver = false;

  constructor(options: LossCheckOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Every later call throws `SANDBOX_LOST`. */
  end(): void {
    this.#isOver = true;
    this.#options.onEnd?.();
  }

  async attempt<Result>(action: string, act: () => Promise<Result>): Promise<Result> {
    const { id } = this.#options;
    if (this.#isOver) throw lostSandbox(id);
    try {
      return await act();
    } catch (error) {
      const failure = this.#options.error(action, error);
      if (!this.#isOver && !(await this.#options.isGone())) throw failure;
      this.end();
      throw lostSandbox(id, failure);
    }
  }
}
