/** The agent of a sandbox with secrets asks a person about every call. */
import { type BackendRuntime, ConfigurationError } from "deepwright";
import { approvalDemandOf, demandApproval, type WithApprovalDemand } from "deepwright/approval-demand";

export function demandApprovalForSecrets<Source extends object>(source: Source): Source & WithApprovalDemand {
  return demandApproval(source, "its sandbox has secrets in its environment");
}

/** Throws for a source that was wrapped: the agent could not see its demand. */
export function checkSeen(runtime: BackendRuntime): void {
  if (approvalDemandOf(runtime) !== undefined) return;
  throw new ConfigurationError(
    "INVALID_OPTION",
    "A sandbox with secrets was handed to the agent inside a function, where it is not seen that every call needs approval.",
    { hint: "Hand what createSandbox returned to the agent, or to a CompositeBackend." },
  );
}
