/** Errors for callers of the services; routes turn the code into a status. */
import { PROBLEM_STATUS, type ProblemCode } from "@deepwright/protocol";

export class ServiceError extends Error {
  readonly status: number;

  constructor(
    readonly code: ProblemCode,
    message: string,
  ) {
    super(message);
    this.name = "ServiceError";
    this.status = PROBLEM_STATUS[code];
  }
}

/** The error for things that do not exist, and for things of other owners. */
export const missing = (what: string): ServiceError =>
  new ServiceError("NOT_FOUND", `There is no such ${what}.`);
