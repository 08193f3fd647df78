/** Writes along a checkpoint's ancestors, for graphs that use LangGraph's delta channels. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  CheckpointPendingWrite,
  DeltaChannelHistory,
} from "@langchain/langgraph-checkpoint";
import { damaged } from "../storage/damaged.ts";

/**
 * From the parent backwards, for each channel until an ancestor that has a value of it: that value is the
 * seed, and the writes on top of it count. Within a step they go by task id, then by place.
 */
export async function deltaHistory(
  saver: BaseCheckpointSaver<number>,
  { config, channels }: { config: RunnableConfig; channels: string[] },
): Promise<Record<string, DeltaChannelHistory>> {
  const newestFirst = new Map<string, CheckpointPendingWrite[]>(channels.map((channel) => [channel, []]));
  const seeds = new Map<string, unknown>();
  const open = new Set(channels);
  let cursor = channels.length > 0 ? (await saver.getTuple(config))?.parentConfig : undefined;
  const met = new Set<unknown>();
  while (cursor && open.size > 0) {
    const id: unknown = cursor.configurable?.checkpoint_id;
    if (met.has(id)) throw damaged(`checkpoint ${id} is its own ancestor`);
    met.add(id);
    const tuple = await saver.getTuple(cursor);
    if (!tuple) break;
    for (const write of byTask(tuple.pendingWrites ?? []).reverse())
      if (open.has(write[1])) newestFirst.get(write[1])?.push(write);
    for (const channel of [...open]) {
      const values = tuple.checkpoint.channel_values;
      if (!Object.hasOwn(values, channel) || values[channel] === undefined) continue;
      seeds.set(channel, values[channel]);
      open.delete(channel);
    }
    cursor = tuple.parentConfig;
  }
  return Object.fromEntries(
    channels.map((channel) => {
      const writes = (newestFirst.get(channel) ?? []).reverse();
      return [channel, seeds.has(channel) ? { writes, seed: seeds.get(channel) } : { writes }];
    }),
  );
}

/** Stable: the places within a task stay. */
function byTask(writes: readonly CheckpointPendingWrite[]): CheckpointPendingWrite[] {
  return [...writes].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
}
