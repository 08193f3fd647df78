/** A claim as a run holds it: from before it reads its thread until its last write is stored. */
import { signalAfter } from "../../duration.ts";
import { ambientConfigurable, checkpointerOf, isNested } from "../../engine/engine.ts";
import {
  CLAIM_KEY,
  canClaim,
  claimsIn,
  claimUnsupported,
  lossOf,
  setOuterClaim,
  type ThreadClaim,
  type ThreadClaimOptions,
} from "../task/claim.ts";

interface ClaimingGraph {
  readonly threadClaim: ThreadClaimOptions | undefined;
  readonly checkpointer?: unknown;
  readonly config?: { readonly configurable?: Record<string, unknown> };
}

interface ClaimedOptions {
  readonly configurable?: Record<string, unknown>;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

/** A run notes its claim here for its caller. */
export interface RunNote {
  claim?: RunThreadClaim;
}

const runs = new WeakMap<ThreadClaim, RunThreadClaim>();
const givenBack = new WeakSet<ThreadClaim>();

export class RunThreadClaim {
  private begun = false;
  private readonly ended: Promise<void>;
  private end = (): void => {};

  /** A claim that is not `own` belongs to an enclosing run, or to the caller, who releases it. */
  constructor(
    private readonly claim: ThreadClaim,
    private readonly own: boolean,
  ) {
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  configurable(given: Record<string, unknown> | undefined): Record<string, unknown> {
    return { ...given, [CLAIM_KEY]: this.claim };
  }

  /** The options of a run that `claimToBegin` will recognise. */
  into<Options extends ClaimedOptions>(options: Options): Options {
    if (this.own) runs.set(this.claim, this);
    const signal = options.signal ? AbortSignal.any([options.signal, this.claim.signal]) : this.claim.signal;
    return { ...options, signal, configurable: this.configurable(options.configurable) };
  }

  /** True once, and only for an own claim: the caller that gets true runs the engine and must `release` after it. */
  begin(): boolean {
    const first = this.own && !this.begun;
    this.begun = true;
    return first;
  }

  /** The run's own result counts: a claim that cannot be given back is void after its time. */
  async release(): Promise<void> {
    if (!this.own || givenBack.has(this.claim)) return;
    givenBack.add(this.claim);
    await this.claim.release().catch(() => undefined);
    this.end();
  }

  /** Resolves when the thread is free: the engine may still be storing results. */
  async whenFree(): Promise<void> {
    if (!this.own) return;
    if (!this.begun) await this.release();
    await this.ended;
  }

  /** The error of a run. A lost claim replaces the error that followed from it. */
  reason(error: unknown): unknown {
    return lossOf(this.claim) ?? error;
  }
}

/** The claim taken for the run of these options, until a run uses it. */
export function claimToBegin(options: ClaimedOptions | undefined): RunThreadClaim | undefined {
  const claim = options?.configurable?.[CLAIM_KEY] as ThreadClaim | undefined;
  const run = claim && runs.get(claim);
  if (claim && run) runs.delete(claim);
  return run;
}

/**
 * The claim for a run with these options; undefined when the agent claims nothing or there is no thread.
 * Inside a run that holds the thread, that run's claim: waiting for it would be waiting for oneself.
 */
export async function claimRun(
  graph: ClaimingGraph,
  options: ClaimedOptions,
): Promise<RunThreadClaim | undefined> {
  if (graph.threadClaim === undefined) return undefined;
  const ambient = isNested(options) ? undefined : ambientConfigurable();
  const place = { ...graph.config?.configurable, ...ambient, ...options.configurable };
  const thread = place.thread_id;
  if (typeof thread !== "string" && typeof thread !== "number") return undefined;
  const claims = [...claimsIn(place)].filter((claim) => !givenBack.has(claim));
  const held = claims.find((claim) => claim.threadId === String(thread));
  if (held) return new RunThreadClaim(held, false);
  const saver = checkpointerOf({ configurable: place }) ?? graph.checkpointer;
  if (!canClaim(saver)) throw claimUnsupported();
  const signal = waitSignal(options);
  const claim = await saver.claimThread(String(thread), { ...graph.threadClaim, signal });
  hideFromJson(claim);
  if (claims[0]) setOuterClaim(claim, claims[0]);
  const run = new RunThreadClaim(claim, true);
  if (signal?.aborted) await run.release();
  signal?.throwIfAborted();
  return run;
}

/** The time limit of a run is one of waiting, too. */
function waitSignal({ signal, timeout }: ClaimedOptions): AbortSignal | undefined {
  if (timeout === undefined || !(timeout > 0)) return signal;
  const limit = signalAfter(timeout);
  return signal ? AbortSignal.any([signal, limit]) : limit;
}

/** The engine shows the config of a run in its debug stream. */
function hideFromJson(claim: ThreadClaim): void {
  if (Object.isExtensible(claim) && !("toJSON" in claim))
    Object.defineProperty(claim, "toJSON", { value: () => undefined });
}
