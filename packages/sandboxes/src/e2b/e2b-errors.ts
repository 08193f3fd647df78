/** Failures of E2B's SDK as our errors. */
import { SandboxError } from "deepwright";
import {
  holdKeys,
  isNotFound,
  type VendorContext,
  vendorCall,
  vendorError,
} from "../remote/vendor-errors.ts";

const KEY_HINT = "Set E2B_API_KEY, or pass apiKey.";

/** Classes of the SDK that carry no status, by what HTTP would have said. */
const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  AuthenticationError: 401,
  SandboxNotFoundError: 404,
  RateLimitError: 429,
  InvalidArgumentError: 400,
  TemplateError: 400,
  NotEnoughSpaceError: 400,
};

export class E2bCalls {
  readonly #apiKey: string | undefined;

  constructor(apiKey: string | undefined) {
    this.#apiKey = apiKey;
    holdKeys(this, [apiKey]);
  }

  /** Runs a call of the SDK; its failure is thrown as ours. `action` completes "E2B could not …". */
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

  #context(action: string): VendorContext {
    return { vendor: "E2B", action, keyHint: KEY_HINT, secrets: [this.#apiKey, process.env.E2B_API_KEY] };
  }
}

export function lostSandbox(id: string, cause?: unknown): SandboxError {
  return new SandboxError(
    `The E2B sandbox ${id} is gone: it was ended, or its time was up. The thread can go on with a new one.`,
    "SANDBOX_LOST",
    cause,
  );
}

/** Whether E2B knows no such sandbox. */
export function isGone(error: unknown): boolean {
  return isNotFound(withStatus(error));
}

/** Of the SDK's errors some say their status by their class, some in their text: `500: …`. */
function withStatus(error: unknown): unknown {
  if (!(error instanceof Error) || SandboxError.isInstance(error)) return error;
  const said = error.name === "SandboxError" ? /^([45]\d\d): /.exec(error.message)?.[1] : undefined;
  const status = STATUS_BY_NAME[error.name] ?? (said === undefined ? undefined : Number(said));
  return status === undefined ? error : Object.assign(error, { status });
}
