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

/** Also for what belongs to somebody else. */
export const missing = (what: string): ServiceError =>
  new ServiceError("NOT_FOUND", `There is no such ${what}.`);
