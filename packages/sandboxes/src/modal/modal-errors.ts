/** Failures of Modal's SDK as our errors. */
import { SandboxError } from "deepwright";
import {
  holdKeys,
  isNotFound,
  type VendorContext,
  vendorCall,
  vendorError,
} from "../remote/vendor-errors.ts";

const KEY_HINT =
  "Set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, run 'modal token new', or pass tokenId and tokenSecret.";

/** Classes of the SDK that carry no status, by what HTTP would have said. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  NotFoundError: 404,
  ResourceExhaustedError: 429,
  InvalidError: 400,
};

/** The SDK has no class for it and says it before any request is made. */
const NO_CREDENTIALS = /missing credentials|credentials cannot both|must all be configured/i;

export class ModalCalls {
  readonly #secrets: readonly (string | undefined)[];

  constructor(secrets: readonly (string | undefined)[]) {
    this.#secrets = secrets;
    holdKeys(this, secrets);
  }

  /** Runs a call of the SDK; its failure is thrown as ours. `action` completes "Modal could not …". */
  call<Result>(action: string, act: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return vendorCall(
      this.#context(action),
      async () => {
        try {
          return await act();
        } catch (error) {
          throw withStatus(error);
        }
      },
      signal,
    );
  }

  error(action: string, error: unknown): SandboxError {
    return vendorError(withStatus(error), this.#context(action));
  }

  /** The environment may change; its keys are never shown either. */
  #context(action: string): VendorContext {
    const { MODAL_TOKEN_ID, MODAL_TOKEN_SECRET, MODAL_OAUTH_REFRESH_TOKEN, MODAL_OAUTH_CLIENT_SECRET } =
      process.env;
    return {
      vendor: "Modal",
      action,
      keyHint: KEY_HINT,
      secrets: [
        ...this.#secrets,
        MODAL_TOKEN_SECRET,
        MODAL_TOKEN_ID,
        MODAL_OAUTH_REFRESH_TOKEN,
        MODAL_OAUTH_CLIENT_SECRET,
      ],
    };
  }
}

export function lostSandbox(id: string, cause?: unknown): SandboxError {
  return new SandboxError(
    `The Modal sandbox ${id} is gone: it was ended, its lifetime was over, or it was idle too long. The thread can go on with a new one.`,
    "SANDBOX_LOST",
    cause,
  );
}

/** Whether Modal knows no such sandbox, or only one that is over. */
export function isGone(error: unknown): boolean {
  const { name } = (error ?? {}) as { readonly name?: unknown };
  return isNotFound(withStatus(error)) || name === "ConflictError" || name === "ClientClosedError";
}

function withStatus(error: unknown): unknown {
  if (!(error instanceof Error) || SandboxError.isInstance(error)) return error;
  const status = NO_CREDENTIALS.test(error.message) ? 401 : STATUS_BY_NAME[error.name];
  return status === undefined ? error : Object.assign(error, { status });
}
