/** The state with some updates applied, before anything is written: the reducers, run on the side. */
import type { BaseChannel } from "@langchain/langgraph";
import { onTheSide } from "../../channel-values.ts";
import { readChannel, type TaskConfig, type Write } from "../../engine/engine.ts";
import type { Loop } from "../contract/loop.ts";
import type { Messages } from "../messages/messages.ts";

export class StateDraft {
  readonly writes: Write[] = [];
  private readonly changed = new Map<string, BaseChannel>();

  constructor(
    private readonly loop: Loop,
    private readonly config: TaskConfig,
  ) {}

  apply(writes: readonly Write[]): void {
    for (const [key, value] of writes) {
      const channel = onTheSide(() => {
        const known = this.changed.get(key) ?? this.copy(key);
        known.update([value]);
        return known;
      });
      this.changed.set(key, channel);
      this.writes.push([key, value]);
    }
  }

  private copy(key: string): BaseChannel {
    const template = this.loop.state.channels[key] as BaseChannel;
    const value = readChannel(this.config, key);
    const copy = template.fromCheckpoint(value as never) as BaseChannel;
    // Untracked channels start empty; later their value is like any other.
    if (value !== undefined && !copy.isAvailable()) copy.update([value]);
    return copy;
  }

  read(key: string): unknown {
    const channel = this.changed.get(key);
    if (channel) return channel.isAvailable() ? channel.get() : undefined;
    return readChannel(this.config, key);
  }

  messages(): Messages {
    return (this.read("messages") as Messages | undefined) ?? [];
  }

  snapshot(): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const key of this.loop.stateKeys) {
      const value = this.read(key);
      if (value !== undefined) values[key] = value;
    }
    return values;
  }
}
