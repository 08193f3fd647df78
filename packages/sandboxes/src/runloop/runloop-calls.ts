/** Calls of Runloop's SDK, with their failures as ours. */
import type { SandboxError } from "deepwright";
import { vendorCall, vendorError } from "../remote/vendor-errors.ts";

export class RunloopCalls {
  readonly #secrets: readonly (string | undefined)[];

  constructor(secrets: readonly (string | undefined)[]) {
    this.#secrets = secrets;
  }

  /** Of a devbox that is there. */
  error(action: string, error: unknown): SandboxError {
    return vendorError(error, { ...this.#context(action), aboutSandbox: true });
  }

  call<Result>(action: string, act: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return vendorCall(this.#context(action), act, signal);
  }

  #context(action: string) {
    return {
      vendor: "Runloop",
      action,
      keyHint: "Set RUNLOOP_API_KEY, or pass apiKey, to a key that may do this.",
      secrets: this.#secrets,
    };
  }
}
