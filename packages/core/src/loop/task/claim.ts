/** The right to write to a thread, held by one run at a time: the contract with savers, and the checks of the loop. */
import { checkDurations } from "../../duration.ts";
import type { TaskConfig } from "../../engine/engine.ts";
import { ConfigurationError, DeepwrightError } from "../../errors.ts";

/** The option `threadClaim`. */
export interface ThreadClaimOptions {
  /** Behaviour while another run holds the thread: wait in line, or fail with THREAD_BUSY. */
  readonly mode: "queue" | "refuse";
  /** Seconds after which the claim of a dead process expires; a living process renews its claim. */
  readonly ttl?: number;
}

export interface ClaimRequest extends ThreadClaimOptions {
  /** Ends the wait: `claimThread` rejects. */
  readonly signal?: AbortSignal | undefined;
}

export interface ThreadClaim {
  readonly threadId: string;
  /** Grows with every change of holder; storage refuses writes under an older one. */
  readonly fence: number;
  /** Aborted with CLAIM_LOST when another took the thread over. */
  readonly signal: AbortSignal;
  /** Throws CLAIM_LOST unless the claim is certainly held now. Cheap while it is fresh. */
  check(): Promise<void>;
  /** Safe twice. */
  release(): Promise<void>;
}

/** A saver that knows claims. Its puts read the claim from `config.configurable[CLAIM_KEY]`. */
export interface ClaimingSaver {
  claimThread(threadId: string, request: ClaimRequest): Promise<ThreadClaim>;
}

export const CLAIM_KEY = "__deepwright_claim";

export function canClaim(saver: unknown): saver is ClaimingSaver {
  return typeof (saver as ClaimingSaver | null | undefined)?.claimThread === "function";
}

const MODES = new Set<unknown>(["queue", "refuse"]);
const KEYS = new Set(["mode", "ttl"]);

/** With `checkpointer: true` the saver is the enclosing graph's; it is known in the first run. */
export function claimSettings(option: unknown, checkpointer: unknown): ThreadClaimOptions | undefined {
  if (option === undefined || option === null) return undefined;
  const { mode, ttl } = option as { mode?: unknown; ttl?: unknown };
  if (typeof option !== "object" || !MODES.has(mode) || Object.keys(option).some((key) => !KEYS.has(key)))
    throw invalid(`The option 'threadClaim' must be {mode: "queue" | "refuse", ttl?: seconds}.`);
  checkDurations({ unit: "seconds" }, { "threadClaim.ttl": ttl });
  if (checkpointer === undefined || checkpointer === null || checkpointer === false)
    throw invalid(
      "The option 'threadClaim' needs a checkpointer: threads are claimed where they are stored.",
    );
  if (checkpointer !== true && !canClaim(checkpointer))
    throw new ConfigurationError("CLAIM_UNSUPPORTED", UNSUPPORTED, { hint: CLAIMING_SAVERS });
  return option as ThreadClaimOptions;
}

const UNSUPPORTED = "The option 'threadClaim' is given, and the checkpointer cannot claim threads.";
const CLAIMING_SAVERS = "Use a saver of @deepwright/checkpoint, or leave the option out.";

function invalid(message: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", message);
}

export function claimUnsupported(): DeepwrightError {
  return new DeepwrightError("CLAIM_UNSUPPORTED", UNSUPPORTED, { hint: CLAIMING_SAVERS });
}

/** The claim a run took over another's: one of a thread that a tool of a claimed run runs. */
const outerClaims = new WeakMap<ThreadClaim, ThreadClaim>();
/** Why a claim is known not to hold any more. */
const losses = new WeakMap<ThreadClaim, unknown>();

export function setOuterClaim(claim: ThreadClaim, outer: ThreadClaim): void {
  outerClaims.set(claim, outer);
}

/** The claims of a run: its own first, then those of enclosing runs. */
export function* claimsIn(configurable: Record<string, unknown> | undefined): Generator<ThreadClaim> {
  let claim = configurable?.[CLAIM_KEY] as ThreadClaim | undefined;
  for (; claim !== undefined; claim = outerClaims.get(claim)) yield claim;
}

/**
 * Call it before every outside effect of the run: a process that slept while another took its thread must do nothing
 * more. Does nothing without a claim.
 */
export async function checkClaim(config: TaskConfig): Promise<void> {
  for (const claim of claimsIn(config.configurable))
    try {
      await claim.check();
    } catch (error) {
      losses.set(claim, error);
      throw error;
    }
}

/** Results that middleware made of a failed check, or of the stop after it, do not count. */
export function throwIfClaimLost(config: TaskConfig): void {
  for (const claim of claimsIn(config.configurable)) {
    const loss = lossOf(claim);
    if (loss !== undefined) throw loss;
  }
}

export function lossOf(claim: ThreadClaim): unknown {
  return losses.get(claim) ?? (claim.signal.aborted ? claim.signal.reason : undefined);
}
