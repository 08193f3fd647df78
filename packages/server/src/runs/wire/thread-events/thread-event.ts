/** Events of the thread-centric protocol, and the filter of a reader. */
import type { ThreadEvents } from "@deepwright/protocol";

/** An event that has no number yet. */
export interface NewThreadEvent {
  readonly method: string;
  readonly namespace: readonly string[];
  readonly data: unknown;
  readonly node?: string;
}

/**
 * The origin of an event: the run in its thread, the stored event in its run, and the index among the events made from
 * it.
 */
export interface EventOrigin {
  readonly runSequence: number;
  readonly sequence: number;
  readonly part: number;
}

// Together 53 bits: two million runs of a thread, four million events of a run, a thousand parts of an event.
const PARTS = 2 ** 10;
const EVENTS = 2 ** 22;

/** Grows within the thread, and is the same each time the log is read. */
export function seqOf({ runSequence, sequence, part }: EventOrigin): number {
  return (runSequence * EVENTS + sequence) * PARTS + Math.min(part, PARTS - 1);
}

/** The run of the event with this number. */
export const runSequenceOf = (seq: number): number => Math.floor(seq / (PARTS * EVENTS));

export type EventFilter = Pick<ThreadEvents, "channels" | "namespaces" | "depth">;

export function isWanted(
  { method, namespace }: NewThreadEvent,
  { channels, namespaces, depth }: EventFilter,
): boolean {
  const channel = method === "input.requested" ? "input" : method;
  if (!(channels as readonly string[]).includes(channel)) return false;
  if (namespaces == null || namespaces.length === 0) return true;
  return namespaces.some(
    (prefix) => isBelow(namespace, prefix) && namespace.length - prefix.length <= (depth ?? namespace.length),
  );
}

/** A segment of a prefix may leave out the part after the colon: `tools` is any tool call. */
function isBelow(namespace: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((segment, at) => {
    const found = namespace[at];
    return found !== undefined && (found === segment || found.split(":", 1)[0] === segment);
  });
}
