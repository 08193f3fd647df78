/** Stable codes a program may switch on. Texts may change between versions, codes do not. */
export type ErrorCode =
  | "INVALID_OPTION"
  | "UNKNOWN_OPTION"
  | "INVALID_PERMISSION"
  | "PERMISSIONS_WITH_EXECUTE"
  | "TOOL_NAME_COLLISION"
  | "DUPLICATE_MIDDLEWARE"
  | "DUPLICATE_SUBAGENT"
  | "INVALID_PROFILE"
  | "MODEL_NOT_AVAILABLE"
  | "MODEL_CUT_OFF"
  | "MODEL_RATE_LIMIT"
  | "MODEL_QUOTA"
  | "MODEL_UNAVAILABLE"
  | "MODEL_TIMEOUT"
  | "MODEL_AUTH"
  | "MODEL_REFUSED_REQUEST"
  | "CONTEXT_OVERFLOW"
  | "PRICE_UNKNOWN"
  | "CHECKPOINTER_REQUIRED"
  | "INVALID_RESUME"
  | "NOTHING_TO_RESUME"
  | "INVALID_INPUT"
  | "INVALID_JUMP"
  | "INVALID_MIDDLEWARE_RESULT"
  | "STRUCTURED_OUTPUT_FAILED"
  | "ENGINE_MISMATCH"
  | "INVALID_ID"
  | "INVALID_NAMESPACE"
  | "INVALID_FILTER"
  | "THREAD_NOT_FOUND"
  | "THREAD_EXISTS"
  | "THREAD_BUSY"
  | "CLAIM_LOST"
  | "CLAIM_UNSUPPORTED"
  | "VALUE_NOT_STORABLE"
  /** It is larger than the reader wants to hold in memory. */
  | "VALUE_TOO_LARGE"
  | "STORAGE_FULL"
  | "STORAGE_BUSY"
  | "STORAGE_CORRUPT"
  | "STORAGE_TOO_NEW"
  | "STORAGE_UNAVAILABLE"
  | "STORAGE_CLOSED"
  | "NOT_SUPPORTED"
  /** A background task could not be reached, or who runs it refused. */
  | "ASYNC_TASK_FAILED"
  | SandboxErrorCode;

/** Why a place that runs commands could not do what was asked; a command that ran and failed is a result. */
export type SandboxErrorCode =
  | "NOT_INITIALIZED"
  | "ALREADY_INITIALIZED"
  /** Empty, too long, or not text a shell can be given. */
  | "INVALID_COMMAND"
  | "COMMAND_TIMEOUT"
  | "COMMAND_FAILED"
  | "FILE_OPERATION_FAILED"
  /** It was there and is gone; what was in it may be lost. The thread can go on with a new one. */
  | "SANDBOX_LOST"
  /** It cannot be opened here: something is missing, or the place does not answer. */
  | "SANDBOX_UNAVAILABLE"
  /** Its set-up script failed. */
  | "SETUP_FAILED"
  /** The key is wrong or may not do this. */
  | "ACCESS_DENIED"
  /** Too much at once, or more than the account may use. */
  | "QUOTA_EXCEEDED";

export interface ErrorDetails {
  /** Advice for the reader, one sentence. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The one error class of this library: what a caller must read, fix or retry. */
export class DeepwrightError extends Error {
  /** An `ErrorCode`, or a code of its own that a sandbox of somebody else has. */
  readonly code: ErrorCode | (string & {});
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(
      details.hint ? `${message} ${details.hint}` : message,
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    this.name = "DeepwrightError";
    this.code = code;
    this.hint = details.hint;
  }
}

const CONFIGURATION: unique symbol = Symbol.for("deepwright.configuration-error") as never;

/** A mistake in how an agent was put together; thrown while constructing it, never during a run. */
export class ConfigurationError extends DeepwrightError {
  declare readonly code: ErrorCode;
  readonly [CONFIGURATION] = true;

  constructor(code: ErrorCode, message: string, details?: ErrorDetails);
  /** The order of `deepagents`. */
  constructor(message: string, code: ErrorCode, cause?: Error);
  constructor(first: string, second: string, third: ErrorDetails | Error = {}) {
    const [code, message] = isCode(second) && !isCode(first) ? [second, first] : [first, second];
    super(code as ErrorCode, message, third instanceof Error ? { cause: third } : third);
    this.name = "ConfigurationError";
  }

  /** Also true for the errors of another copy of this library. */
  static isInstance(error: unknown): error is ConfigurationError {
    const marked = error as Partial<ConfigurationError> | null | undefined;
    return typeof error === "object" && marked?.[CONFIGURATION] === true;
  }
}

/** Codes have no small letters and no spaces; messages are sentences. */
function isCode(text: string): boolean {
  return /^[A-Z_]+$/.test(text);
}
