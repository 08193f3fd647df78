/** Whether what was done fits what was stored: finished calls once, others at most once a process. */
import { countBy, type Effect } from "./effects.ts";
import type { Plan } from "./plan.ts";

/** A process that came to the thread: whose results were stored then, and how much had been done. */
export interface Arrival {
  readonly stored: ReadonlySet<string>;
  readonly effects: number;
}

export interface Repetitions {
  /** Calls that had begun and were not stored when a process came. */
  inFlight: number;
  /** Calls that ran again; only those in flight may. */
  repeated: number;
  modelCalls: number;
}

/** Problems with the effects of one run; what was repeated is added to `total`. */
export function audit(
  plan: Plan,
  effects: readonly Effect[],
  arrivals: readonly Arrival[],
  total: Repetitions,
): string[] {
  const begins = effects.filter(({ kind }) => kind === "begin");
  const perCall = countBy(begins, ({ id }) => id);
  const finished = new Set(effects.filter(({ kind }) => kind === "end").map(({ place }) => place));
  const places = Array.from({ length: plan.turns }, (_, turn) =>
    Array.from({ length: plan.callsPerTurn ?? 1 }, (_, index) => `${turn}.${index}`),
  ).flat();
  const models = effects.filter(({ kind }) => kind === "model").length;
  total.inFlight += arrivals.flatMap((arrival) => inFlightAt(arrival, effects)).length;
  total.repeated += begins.length - perCall.size;
  total.modelCalls += models - (plan.turns + 1);
  return [
    ...places.filter((place) => !finished.has(place)).map((place) => `the call ${place} was never finished`),
    ...(perCall.size === places.length ? [] : [`${perCall.size} ids of calls for ${places.length} calls`]),
    ...arrivals.flatMap((arrival, i) => wrongRepeats(arrival, effects, arrivals[i + 1])),
    ...(models - (plan.turns + 1) > arrivals.length ? [`${models} model calls for ${plan.turns + 1}`] : []),
  ];
}

function inFlightAt(arrival: Arrival, effects: readonly Effect[]): string[] {
  const before = effects.slice(0, arrival.effects).filter(({ kind }) => kind === "begin");
  return [...new Set(before.map(({ id }) => id))].filter((id) => !arrival.stored.has(id));
}

/** Wrong repetitions of one process, until the next one started. */
function wrongRepeats(arrival: Arrival, effects: readonly Effect[], next: Arrival | undefined): string[] {
  const own = effects.slice(arrival.effects, next?.effects).filter(({ kind }) => kind === "begin");
  const again = own.filter(({ id }) => arrival.stored.has(id));
  const twice = [...countBy(own, ({ id }) => id)].filter(([, times]) => times > 1);
  return [
    ...again.map(({ place }) => `the call ${place} ran again although its result was stored`),
    ...twice.map(([id, times]) => `the call ${id} ran ${times} times in one process`),
  ];
}
