/** The right to write to a thread, held by one run at a time. The core declares the contract. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type { ThreadClaim } from "deepwright/internal";

export type { ClaimingSaver, ClaimRequest as ClaimOptions, ThreadClaim } from "deepwright/internal";

/** Puts read the claim from `config.configurable[CLAIM_KEY]`. */
export const CLAIM_KEY = "__deepwright_claim";

export function fenceOf(config: RunnableConfig): number | undefined {
  return claimOf(config)?.fence;
}

/** The claim the run holds on the thread it writes to. */
export function claimOf({ configurable }: RunnableConfig): ThreadClaim | undefined {
  const claim = configurable?.[CLAIM_KEY] as ThreadClaim | undefined;
  return typeof claim?.fence === "number" && claim.threadId === configurable?.thread_id ? claim : undefined;
}

/** Config of a stored checkpoint. It carries the claim, because the engine continues with this config. */
export function configOf(
  threadId: string,
  namespace: string,
  id: string,
  claim: ThreadClaim | undefined,
): RunnableConfig {
  const configurable = { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: id };
  return { configurable: claim ? { ...configurable, [CLAIM_KEY]: claim } : configurable };
}
