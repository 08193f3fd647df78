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
 * Calls that began when their result was stored: whoever does so does too much. A worker that loses its thread in the
 * middle of a call finds the result of another one when it looks, but had begun before that one was done.
 */
export function finishedAgain(effects: readonly Effect[]): Effect[] {
  return effects.filter(({ kind, id, pid }, found) => {
    if (kind !== "again") return false;
    const begun = effects.findLastIndex(
      (one, at) => at < found && one.kind === "begin" && one.id === id && one.pid === pid,
    );
    return effects.slice(0, Math.max(begun, 0)).some((one) => one.kind === "end" && one.id === id);
  });
}

/** Calls of workers that had lost their thread meanwhile, for which another one had done them. */
export function outrun(effects: readonly Effect[]): number {
  return effects.filter(({ kind }) => kind === "again").length - finishedAgain(effects).length;
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
    ...finishedAgain(effects).map(({ place }) => `the stored call ${place} ran again`),
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
