/** Calls of a vendor's SDK, with their failures as ours. */
import type { SandboxError } from "deepwright";
import { holdKeys, vendorCall, vendorError } from "./vendor-errors.ts";

export interface Vendor {
  /** As in an error: `Daytona`. */
  readonly vendor: string;
  /** What to do about a key that may not. */
  readonly keyHint: string;
}

export class VendorCalls {
  readonly #vendor: Vendor;
  readonly #secrets: readonly (string | undefined)[];

  /** `secrets` are struck out of what the vendor says. */
  constructor(vendor: Vendor, secrets: readonly (string | undefined)[]) {
    this.#vendor = vendor;
    this.#secrets = secrets;
    holdKeys(this, secrets);
  }

  /** Of a sandbox that is there. */
  error(action: string, error: unknown): SandboxError {
    return vendorError(error, { ...this.#context(action), aboutSandbox: true });
  }

  call<Result>(action: string, act: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return vendorCall(this.#context(action), act, signal);
  }

  #context(action: string) {
    return { ...this.#vendor, action, secrets: this.#secrets };
  }
}
