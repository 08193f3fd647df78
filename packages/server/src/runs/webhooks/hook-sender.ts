/**
 * Tells clients that their runs have ended, at the addresses they gave.
 *
 * The report is stored with the end of the run, so any living process can send it, at least once. A receiver recognises
 * repeats by `webhook-id`. An address that fails is called less and less often, and finally given up. Some calls run in
 * parallel, but no owner and no address gets all slots, so slow receivers delay only their own reports.
 */
import type { DueHook, HookRecords } from "../../records/records.ts";
import { FairSlots } from "./fair-slots.ts";
import type { WebhookAnswer, Webhooks } from "./webhooks.ts";

export interface HookSenderParts {
  readonly hooks: HookRecords;
  readonly webhooks: Webhooks;
  /** Milliseconds before each further try. */
  readonly retryAfterMs?: readonly number[] | undefined;
  /** The body to send. Default: the stored one. */
  readonly bodyOf?: (hook: DueHook) => string;
  readonly onError: (error: unknown) => void;
}

export interface HookSender {
  /** Sends due reports until none is left. A second call joins the first. */
  send(): Promise<void>;
  /** Something is due now. */
  kick(): void;
  /** Gives up calls under way, for another process. Safe twice. */
  close(): Promise<void>;
}

const RETRY_AFTER_MS = [1_000, 5_000, 25_000, 120_000, 600_000, 3_600_000, 21_600_000];
const AT_ONCE = 32;
/** Beyond the time-out of a call, before others may think its process gone. */
const LEASE_MARGIN_MS = 5_000;

export function createHookSender(parts: HookSenderParts): HookSender {
  const { hooks, webhooks, onError } = parts;
  const closing = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  const slots = new FairSlots(AT_ONCE);
  const told = new Set<Promise<void>>();
  let sending: Promise<void> | undefined;
  let isDue = false;
  let stir = (): void => {};

  const again = (pause: number): void => {
    if (closing.signal.aborted || pause > LONGEST_TIMER_MS) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      kick();
    }, pause).unref();
    timers.add(timer);
  };
  const begin = (hook: DueHook): void => {
    const leave = slots.enter(hook);
    const one = tell(parts, hook, closing.signal)
      .then((pause) => pause !== undefined && again(pause))
      .catch(onError)
      .then(() => {
        leave();
        told.delete(one);
        // There is room for another.
        isDue = true;
        stir();
      });
    told.add(one);
  };
  const round = async (): Promise<void> => {
    while (!closing.signal.aborted && (isDue || told.size > 0)) {
      const stirred = new Promise<void>((go) => {
        stir = go;
      });
      if (isDue && slots.most > 0) {
        isDue = false;
        const leaseMs = webhooks.timeoutMs + LEASE_MARGIN_MS;
        const due = await hooks.take(slots.most, leaseMs, slots.passedOver());
        for (const hook of due) begin(hook);
        if (due.length > 0) isDue = true;
      } else await stirred;
    }
    await Promise.all(told);
  };
  const send = (): Promise<void> => {
    if (closing.signal.aborted) return Promise.resolve();
    isDue = true;
    stir();
    sending ??= round().finally(() => {
      sending = undefined;
    });
    return sending;
  };
  const kick = (): void => void send().catch(onError);
  const close = async (): Promise<void> => {
    closing.abort();
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
    stir();
    await sending?.catch(onError);
    await Promise.all(told);
  };
  return { send, kick, close };
}

/** Calls the address once and notes the result. Returns the pause before the next attempt, if there is one. */
async function tell(
  { hooks, webhooks, retryAfterMs = RETRY_AFTER_MS, bodyOf = ({ body }) => body, onError }: HookSenderParts,
  hook: DueHook,
  closing: AbortSignal,
): Promise<number | undefined> {
  const sentAt = `,"webhook_sent_at":"${new Date().toISOString()}"}`;
  const body = hook.headers ? hook.body : `${bodyOf(hook).slice(0, -1)}${sentAt}`;
  const headers = { ...hook.headers, "webhook-id": hook.id, "webhook-attempt": String(hook.attempts) };
  const answer = await webhooks.post(hook.url, body, headers, closing);
  if (closing.aborted && answer === 0) return undefined;
  const isTaken = answer !== "refused" && answer >= 200 && answer < 300;
  const pause = isTaken || !isPassing(answer) ? undefined : retryAfterMs[hook.attempts - 1];
  const status = isTaken ? "delivered" : pause === undefined ? "failed" : "waiting";
  const shown = answer === "refused" || answer === 0 ? null : answer;
  await hooks.note(hook, { status, answer: shown, againInMs: pause ?? null });
  if (status === "failed") onError(givenUp(hook, answer));
  return pause;
}

/** Later attempts are found by the search for due ones. */
const LONGEST_TIMER_MS = 60_000;

/** Whether it may go better another time. */
function isPassing(answer: WebhookAnswer): boolean {
  if (answer === "refused") return false;
  return answer === 0 || answer >= 500 || answer === 429 || answer === 408;
}

function givenUp({ runId, url, attempts }: DueHook, answer: WebhookAnswer): Error {
  const said =
    answer === "refused"
      ? "this server calls no such address"
      : answer === 0
        ? "no answer came"
        : `the answer was ${answer}`;
  const host = URL.canParse(url) ? new URL(url).host : url.slice(0, 100);
  return new Error(
    `The webhook of run ${runId} to ${host} was given up after ${attempts} attempts: ${said}.`,
  );
}
