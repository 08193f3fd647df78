/** Takes, keeps alive and gives back the claim on a thread. */
import { checkNames } from "deepwright/check-options";
import { durationMs, stopwatch } from "deepwright/duration";
import { DeepwrightError } from "deepwright/errors";
import { processName } from "deepwright/process-identity";
import type { ClaimAnswer, ThreadStorage } from "../storage/storage.ts";
import type { ClaimOptions, ThreadClaim } from "./claim.ts";

const DEFAULT_TTL = 30;
/** A day. */
const LONGEST_TTL = 86_400;
const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 500;

/** Waiting runs of this process, by storage and thread: they get the claim in the order they asked. */
const lines = new WeakMap<ThreadStorage, Map<string, Promise<void>>>();

/** The first of each line, while it pauses between two attempts. */
const wakers = new WeakMap<ThreadStorage, Map<string, () => void>>();

export async function claimThread(
  storage: ThreadStorage,
  threadId: string,
  options: ClaimOptions,
): Promise<ThreadClaim> {
  checkNames("A claim", options, ["mode", "ttl", "signal"]);
  const { mode, ttl = DEFAULT_TTL, signal } = options;
  if (mode !== "queue" && mode !== "refuse")
    throw new DeepwrightError("INVALID_OPTION", "The mode of a claim is 'queue' or 'refuse'.");
  const ttlMs = Math.ceil(durationMs("ttl", ttl, { unit: "seconds", most: LONGEST_TTL }));
  signal?.throwIfAborted();
  const holder = processName();
  const attempt = () => take(storage, threadId, holder, ttlMs);
  if (mode === "refuse") {
    const claim = await attempt();
    if (claim instanceof Claim) return claim;
    throw busy(threadId);
  }
  return inLine(storage, threadId, signal, () => untilTaken(attempt, wakersOf(storage), threadId, signal));
}

async function take(
  storage: ThreadStorage,
  threadId: string,
  holder: string,
  ttlMs: number,
): Promise<Claim | ClaimAnswer> {
  const asked = stopwatch();
  const answer = await storage.claim(threadId, holder, ttlMs);
  return answer.held ? new Claim(storage, threadId, holder, ttlMs, answer.fence, asked) : answer;
}

async function untilTaken(
  attempt: () => Promise<Claim | ClaimAnswer>,
  wakers: Map<string, () => void>,
  threadId: string,
  signal?: AbortSignal,
): Promise<Claim> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const claim = await attempt();
    if (claim instanceof Claim) return claim;
    await pause(wait * (0.5 + Math.random()), wakers, threadId, signal);
  }
}

/** Only the first of a line asks the storage; the others wait for it to be done asking. */
async function inLine(
  storage: ThreadStorage,
  threadId: string,
  signal: AbortSignal | undefined,
  work: () => Promise<Claim>,
): Promise<Claim> {
  const line = lines.get(storage) ?? new Map<string, Promise<void>>();
  lines.set(storage, line);
  const before = line.get(threadId);
  let done = () => {};
  const own = new Promise<void>((resolve) => {
    done = resolve;
  });
  const place = before ? before.then(() => own) : own;
  line.set(threadId, place);
  try {
    if (before) await abortable(before, signal);
    return await work();
  } finally {
    done();
    if (line.get(threadId) === place) line.delete(threadId);
  }
}

async function abortable(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return promise;
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
  });
  signal.throwIfAborted();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Ends early when a run of this process gives the thread back. */
async function pause(
  ms: number,
  wakers: Map<string, () => void>,
  threadId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const slept = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    wakers.set(threadId, resolve);
  });
  try {
    await abortable(slept, signal);
  } finally {
    clearTimeout(timer);
    wakers.delete(threadId);
  }
}

function wakersOf(storage: ThreadStorage): Map<string, () => void> {
  const known = wakers.get(storage) ?? new Map<string, () => void>();
  wakers.set(storage, known);
  return known;
}

function busy(threadId: string): DeepwrightError {
  return new DeepwrightError("THREAD_BUSY", `Another run is writing to the thread '${threadId}'.`, {
    hint: "Wait for it, or use {mode: 'queue'}.",
  });
}

class Claim implements ThreadClaim {
  private readonly lost = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private renewing: Promise<void> | undefined;
  private released: Promise<void> | undefined;

  constructor(
    private readonly storage: ThreadStorage,
    readonly threadId: string,
    private readonly holder: string,
    private readonly ttlMs: number,
    readonly fence: number,
    /** Milliseconds since the last successful request to renew the claim. */
    private asked: () => number,
  ) {
    this.timer = setInterval(() => {
      this.renew().catch(() => {});
    }, ttlMs / 3).unref();
  }

  get signal(): AbortSignal {
    return this.lost.signal;
  }

  async check(): Promise<void> {
    this.lost.signal.throwIfAborted();
    if (this.asked() >= this.ttlMs / 2) await this.renewForSure();
    this.lost.signal.throwIfAborted();
    if (this.released)
      throw new DeepwrightError("CLAIM_LOST", `The claim on the thread '${this.threadId}' was given back.`);
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    this.released ??= this.storage
      .release(this.threadId, this.fence)
      .finally(() => wakersOf(this.storage).get(this.threadId)?.());
    return this.released;
  }

  /** A process that was stopped while an answer was under way may find an answer that is outdated. */
  private async renewForSure(): Promise<void> {
    do await this.renew();
    while (this.asked() >= this.ttlMs && !this.lost.signal.aborted && !this.released);
  }

  private async renew(): Promise<void> {
    this.renewing ??= this.extend().finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async extend(): Promise<void> {
    if (this.released) return;
    const asked = stopwatch();
    const answer = await this.storage.claim(this.threadId, this.holder, this.ttlMs, this.fence);
    if (answer.held) this.asked = asked;
    if (answer.held || this.released) return;
    clearInterval(this.timer);
    this.lost.abort(
      new DeepwrightError("CLAIM_LOST", `Another run has taken over the thread '${this.threadId}'.`, {
        hint: "This run was suspended for longer than its claim lived; its earlier writes are stored.",
      }),
    );
  }
}
