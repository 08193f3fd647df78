/** Whether a run did all it was to do and nothing twice, and whether its readers were told so. */
import type { StreamedEvent } from "@deepwright/protocol";
import { type BaseMessage, coerceMessageLikeToMessage } from "@langchain/core/messages";
import { outline, plannedOutline } from "../../../checkpoint/src/chaos/agent.ts";
import { countBy, type Effect } from "../../../checkpoint/src/chaos/effects.ts";
import { difference } from "../../../checkpoint/src/chaos/outcome.ts";
import type { Plan } from "../../../checkpoint/src/chaos/plan.ts";

/** Every event once and in order, from the first to `end`, and for a reader that comes later the same. */
export function streamProblems(events: readonly StreamedEvent[], later: readonly StreamedEvent[]): string[] {
  const last = events.at(-1);
  const { status } = (last?.data ?? {}) as { status?: unknown };
  return [
    ...difference(
      "numbers of events",
      events.map(({ id }) => String(id)),
      events.map((_, index) => String(index + 1)),
    ),
    ...difference("events for a later reader", later.map(lineOf), events.map(lineOf)),
    ...(last?.kind === "end" && status === "success" ? [] : [`the last event is ${JSON.stringify(last)}`]),
    ...(events.filter(({ kind }) => kind === "end").length === 1 ? [] : ["there is not one end"]),
  ];
}

const lineOf = ({ id, event, data }: StreamedEvent): string => `${id} ${event} ${JSON.stringify(data)}`;

/** How often a worker began the run. */
export function beginnings(events: readonly StreamedEvent[]): number {
  return events.filter(({ kind }) => kind === "metadata").length;
}

export function stateProblems(plan: Plan, messages: readonly unknown[]): string[] {
  const read = messages.map((message) => coerceMessageLikeToMessage(message as never) as BaseMessage);
  return difference("messages", outline(read), plannedOutline(plan));
}

/**
 * A call that had begun when its worker was killed runs again, under the same id: once a beginning at most, and never
 * when its result is stored, which it is before the next turn.
 */
export function effectProblems(plan: Plan, effects: readonly Effect[], begun: number): string[] {
  const begins = effects.filter(({ kind }) => kind === "begin");
  const calls = plan.turns * (plan.callsPerTurn ?? 1);
  const finished = new Set(effects.filter(({ kind }) => kind === "end").map(({ id }) => id));
  const perCall = countBy(begins, ({ id }) => id);
  const turns = begins.map(({ place }) => Number.parseInt(place, 10));
  return [
    ...effects.flatMap(({ kind, place }) => (kind === "again" ? [`the stored call ${place} ran again`] : [])),
    ...turns.flatMap((turn, i) =>
      turn < Math.max(...turns.slice(0, i), 0) ? [`turn ${turn} came back`] : [],
    ),
    ...(perCall.size === calls ? [] : [`${perCall.size} ids of calls for ${calls} calls`]),
    ...(finished.size === calls ? [] : [`${finished.size} of ${calls} calls were finished`]),
    ...[...perCall].flatMap(([id, times]) =>
      times <= begun ? [] : [`the call ${id} ran ${times} times in ${begun} beginnings`],
    ),
  ];
}

/** Calls that ran more than once. */
export function repetitions(effects: readonly Effect[]): number {
  const begins = effects.filter(({ kind }) => kind === "begin");
  return begins.length - countBy(begins, ({ id }) => id).size;
}
