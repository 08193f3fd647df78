/** Calls of a vendor's SDK. Failures are thrown as `SandboxError`s. */
import { SandboxError } from "deepwright";
import { holdKeys, vendorCall, vendorError } from "./vendor-errors.ts";

export interface Vendor {
  /** As in an error: `Daytona`. */
  readonly vendor: string;
  /** Tells the reader how to get a key with the right to do this. */
  readonly keyHint: string;
  /** Gives an error of the SDK the HTTP `status` that it stands for. Absent: the errors have one. */
  readonly withStatus?: (error: unknown) => unknown;
  /** Names of environment variables with keys. They are read at each call, because the environment may change. */
  readonly keyVariables?: readonly string[];
  /** Whether a 404 of a call to an open sandbox means that the sandbox is lost. Default true. */
  readonly missingMeansLost?: boolean;
}

export class VendorCalls {
  readonly #vendor: Vendor;
  readonly #keys: readonly (string | undefined)[];

  /** `keys` are removed from messages of the vendor. */
  constructor(vendor: Vendor, keys: readonly (string | undefined)[]) {
    this.#vendor = vendor;
    this.#keys = keys;
    holdKeys(this, keys);
  }

  /** The failure of a call to an open sandbox. */
  error(action: string, error: unknown): SandboxError {
    const aboutSandbox = this.#vendor.missingMeansLost ?? true;
    return vendorError(this.#withStatus(error), { ...this.#context(action), aboutSandbox });
  }

  /** `action` completes "Daytona could not …". */
  call<Result>(action: string, act: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const call = async () => {
      try {
        return await act();
      } catch (error) {
        throw this.#withStatus(error);
      }
    };
    return vendorCall(this.#context(action), call, signal);
  }

  #withStatus(error: unknown): unknown {
    const { withStatus } = this.#vendor;
    return withStatus === undefined || SandboxError.isInstance(error) ? error : withStatus(error);
  }

  #context(action: string) {
    const { vendor, keyHint, keyVariables = [] } = this.#vendor;
    const secrets = [...this.#keys, ...keyVariables.map((name) => process.env[name])];
    return { vendor, keyHint, action, secrets };
  }
}
