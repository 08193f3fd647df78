/** Decides about a failure of Postgres: try again, or throw to the caller. */
import { DeepwrightError } from "deepwright/errors";

/**
 * `away`: the database cannot be reached or is going down, the same work may succeed later.
 * `conflict`: another transaction was first, the same work may succeed at once.
 */
export type FailureKind = "away" | "conflict" | "final";

const AWAY_STATES = new Set([
  "57P01", // admin_shutdown, also pg_terminate_backend
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now
  "57P05", // idle_session_timeout
  "25P03", // idle_in_transaction_session_timeout
  "25006", // read_only_sql_transaction: a failover left us at a standby
  "53300", // too_many_connections
]);
const CONFLICT_STATES = new Set([
  "40001", // serialization_failure
  "40P01", // deadlock_detected
  "23505", // unique_violation: two inserted the same key
]);
const AWAY_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "ENOENT", // the Unix socket of a stopped server
]);
/** Errors of `pg` that have no code. */
const AWAY_MESSAGE = /^(Connection terminated|timeout expired|Client has encountered a connection error)/;

/** The connection broke in use; the statement may or may not have run. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super("The connection to Postgres was lost.", { cause });
    this.name = "ConnectionLost";
  }
}

/** `reached`: whether this database has ever answered, so that a name must have been right. */
export function failureKind(error: unknown, reached: boolean): FailureKind {
  if (error instanceof ConnectionLost) return "away";
  if (!(error instanceof Error) || error instanceof DeepwrightError) return "final";
  const code = codeOf(error);
  if (CONFLICT_STATES.has(code)) return "conflict";
  if (AWAY_STATES.has(code) || /^08...$/.test(code) || AWAY_CODES.has(code)) return "away";
  if (code === "ENOTFOUND") return reached ? "away" : "final";
  return code === "" && AWAY_MESSAGE.test(error.message) ? "away" : "final";
}

/** The error for callers about a failure that is not retried (any more); unknown errors stay. */
export function storageError(error: unknown, database: string): unknown {
  if (!(error instanceof Error) || error instanceof DeepwrightError) return error;
  const code = codeOf(error);
  if (code === "ERR_INVALID_URL") {
    return new DeepwrightError("INVALID_OPTION", "The address of the Postgres database is not a URL.", {
      hint: "It looks like postgresql://user:password@host:5432/database, with special characters percent-encoded.",
    });
  }
  if (code === "53100") {
    return new DeepwrightError("STORAGE_FULL", `The disk of Postgres at ${database} is full.`, {
      hint: "Nothing of this step was stored; free space and resume.",
      cause: error,
    });
  }
  if (CONFLICT_STATES.has(code) || code === "55P03" || code === "57014") {
    return new DeepwrightError("STORAGE_BUSY", `Postgres at ${database} is too busy: ${error.message}.`, {
      hint: "Try again.",
      cause: error,
    });
  }
  const reason = unavailableReason(code, error);
  if (!reason) return error;
  return new DeepwrightError("STORAGE_UNAVAILABLE", `Postgres at ${database} cannot be used: ${reason}.`, {
    hint: "Check the address, the rights of the user and whether the server runs.",
    cause: error,
  });
}

function unavailableReason(code: string, error: Error): string | undefined {
  if (code.startsWith("28")) return "it refused the user or the password";
  if (code === "3D000") return "there is no such database";
  if (code === "42501" || code === "3F000") return `the user may not work there (${error.message})`;
  if (code === "ENOTFOUND") return "there is no host of that name";
  if (failureKind(error, true) === "away") return withoutPeriod(rootMessage(error));
  return undefined;
}

function rootMessage(error: Error): string {
  const cause = error instanceof ConnectionLost && error.cause instanceof Error ? error.cause : error;
  return cause.message || codeOf(cause) || "it does not answer";
}

function withoutPeriod(text: string): string {
  return text.replace(/\.$/, "");
}

function codeOf(error: Error): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? code : "";
}
