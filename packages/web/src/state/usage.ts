/** Cost of threads, as the server counted it. */
import { effect, signal } from "@preact/signals";
import { call, session } from "./connection.ts";
import { threads } from "./threads.ts";

/** Fields of a `UsageAmount` of the protocol. */
export interface Amount {
  readonly calls: number;
  readonly tokens: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  /** Dollars, for the calls whose price is known. */
  readonly cost: number;
  readonly unpriced_calls: number;
}

export const money = (dollars: number): string => `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;

/** Dollars by thread; threads without a known price are not in it. */
export const threadCosts = signal<ReadonlyMap<string, number>>(new Map());

const DAYS = 366;
const PAUSE_MS = 2_000;

async function readCosts(): Promise<void> {
  const { threads: counted } = await call<{
    readonly threads: readonly (Amount & { readonly thread_id: string })[];
  }>("GET", "/usage", { query: { days: DAYS } });
  threadCosts.value = new Map(
    counted.filter(({ cost }) => cost > 0).map(({ thread_id: id, cost }) => [id, cost]),
  );
}

/** Reads again when a run has ended, at most every two seconds. */
export function watchCosts(): void {
  let known = "";
  let isPlanned = false;
  effect(() => {
    const ended = threads.value
      .filter(({ status }) => status !== "busy")
      .map(({ thread_id: id, updated_at: moment }) => `${id} ${moment}`)
      .join();
    if (session.value !== "in" || ended === known) return;
    const pause = known === "" ? 0 : PAUSE_MS;
    known = ended;
    if (isPlanned) return;
    isPlanned = true;
    setTimeout(() => {
      isPlanned = false;
      readCosts().catch(() => undefined);
    }, pause);
  });
}
