/** The right to write to a thread, held by one run at a time. */

export interface ClaimOptions {
  /** What to do while another holds it: wait in line, or throw THREAD_BUSY. */
  readonly mode: "queue" | "refuse";
  /** Seconds a claim lives without being renewed; it is renewed by itself. Default 30. */
  readonly ttl?: number;
  readonly signal?: AbortSignal;
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
  claimThread(threadId: string, options: ClaimOptions): Promise<ThreadClaim>;
}

export const CLAIM_KEY = "__deepwright_claim";
