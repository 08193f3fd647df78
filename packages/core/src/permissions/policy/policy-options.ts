/** The options of a `PolicyBackend`. An unknown one is an error. */

import type { FileErrorCode } from "../../backends/backend.ts";
import { checkNames } from "../../check-options.ts";
import type { ChangeOperation } from "./deny-prefixes.ts";
import type { RateLimit } from "./rate-limiter.ts";

export type PolicyOperation =
  | ChangeOperation
  | "ls"
  | "read"
  | "readRaw"
  | "grep"
  | "glob"
  | "download"
  | "execute";

export interface AuditEvent {
  readonly operation: PolicyOperation;
  /** The path; for `execute`, the command. */
  readonly path: string;
  /** `refused` by this policy, `failed` in the backend, or `done`. */
  readonly outcome: "done" | "refused" | "failed";
  /** Absent for operations that were done, and for thrown errors. */
  readonly code?: FileErrorCode | string;
}

type CheckResult = string | boolean | null | undefined;

/**
 * Only undefined, null and true allow the operation. A text, or a thrown error, refuses it with a reason. Any other
 * value refuses it too, also an empty text.
 */
export type PolicyCheck = (operation: PolicyOperation, path: string) => CheckResult | Promise<CheckResult>;

/** null means absent. */
export interface PolicyOptions {
  /** Directories in which nothing may be changed; reading is not affected. */
  readonly denyPrefixes?: readonly string[] | null;
  readonly readOnly?: boolean | null;
  readonly rateLimit?: RateLimit | null;
  /** Called after each operation; nothing it does can change the result. */
  readonly audit?: ((event: AuditEvent) => unknown) | null;
  /** Asked before each operation, about the path that was given and, where links lead elsewhere, about that. */
  readonly check?: PolicyCheck | null;
  /** Lets commands through though they go around rules about paths. */
  readonly allowExecute?: boolean | null;
}

const OPTION_NAMES = ["denyPrefixes", "readOnly", "rateLimit", "audit", "check", "allowExecute"];

export function checkOptions(options: PolicyOptions): void {
  checkNames("PolicyBackend", options, OPTION_NAMES);
}
