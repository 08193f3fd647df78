/** The request for a run. */
import type { MultitaskStrategy } from "@deepwright/protocol";
import type { Owner, RunRequest, RunUser } from "../records/records.ts";

export interface StartRun {
  readonly owner: Owner;
  /** Facts about the caller, beside the identity: `serverInfo.user` of the run. */
  readonly user?: RunUser | undefined;
  /** Absent: a thread of its own, which goes when the run has ended unless `on_completion` is `keep`. */
  readonly threadId?: string;
  readonly request: RunRequest;
  readonly idempotencyKey?: string;
  /** Value that must be the same when the key comes again. Default: the thread and the request. */
  readonly keyStandsFor?: unknown;
  /** Refuses the run by throwing; not asked when the key is known. */
  readonly check?: () => Promise<void>;
  /** Wins over the strategy of the request. */
  readonly strategy?: MultitaskStrategy;
}
