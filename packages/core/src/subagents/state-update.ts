/**
 * Turns a child's value into an update for the reducer of its parent.
 *
 * A child hands back a whole value, but reducers take only the new part. Given the whole list, a reducer that appends
 * would have everything twice; of two children that each add an entry to a map, the later would undo the other. So
 * the smallest update is searched that turns the parent's value into the child's.
 */
import type { BaseChannel } from "@langchain/langgraph";
import { onTheSide } from "../channel-values.ts";
import { isPlain, sameValue } from "./same-value.ts";

/** Uses only the reducer of the parent's `channel`. It is absent where a loop does not show the channel. */
export function updateFor(channel: BaseChannel | undefined, before: unknown, after: unknown): unknown {
  if (channel === undefined) return after;
  const candidates = [...additions(before, after)];
  return candidates.find((update) => sameValue(reduced(channel, before, update), after)) ?? after;
}

function* additions(before: unknown, after: unknown): Generator<unknown> {
  if (Array.isArray(before) && Array.isArray(after) && after.length > before.length) {
    const added = after.slice(before.length);
    if (before.every((item, i) => sameValue(item, after[i]))) {
      yield added;
      if (added.length === 1) yield added[0];
    }
  } else if (isPlain(before) && isPlain(after))
    yield Object.fromEntries(Object.entries(after).filter(([key, value]) => !sameValue(before[key], value)));
  yield after;
  if (typeof before === "number" && typeof after === "number") yield after - before;
}

/** undefined when the reducer has no use for the update. */
function reduced(channel: BaseChannel, before: unknown, update: unknown): unknown {
  return onTheSide(() => {
    try {
      const copy = channel.fromCheckpoint(shallowCopy(before) as never) as BaseChannel;
      copy.update([update]);
      return copy.isAvailable() ? copy.get() : undefined;
    } catch {
      return undefined;
    }
  });
}

/** A copy, because a reducer may change its argument. */
function shallowCopy(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  return isPlain(value) ? { ...value } : value;
}
