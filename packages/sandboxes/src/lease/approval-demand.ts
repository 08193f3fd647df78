/** A sandbox with secrets tells the agent it is given to that a person must agree to every call. */
import { type BackendRuntime, ConfigurationError } from "deepwright";

/** Known to the core under this name. */
const DEMAND: unique symbol = Symbol.for("deepwright.approval-demand") as never;

export interface ApprovalDemand {
  /** Why; absent: there is no need. */
  readonly [DEMAND]?: string;
}

const WHY = "its sandbox has secrets in its environment";

export function demandApproval<Source extends object>(source: Source): Source & ApprovalDemand {
  return Object.defineProperty(source, DEMAND, { value: WHY }) as Source & ApprovalDemand;
}

/** Throws for a source that was wrapped: the agent could not see what it demands. */
export function checkSeen(runtime: BackendRuntime): void {
  if ((runtime as ApprovalDemand)[DEMAND] !== undefined) return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    "A sandbox with secrets was handed to the agent inside a function, where it is not seen that every call needs approval.",
    { hint: "Hand what createSandbox returned to the agent, or to a CompositeBackend." },
  );
}
