/** State that a run inside another begins with: handed over by reference, past the checks made for callers. */
import { BinaryOperatorAggregate, Overwrite } from "@langchain/langgraph";
import { handDown } from "../../channel-values.ts";
import type { TaskConfig, Write } from "../../engine/engine.ts";
import type { Loop } from "../contract/loop.ts";

const HANDED = "__deepwright_handed";

class InitialState {
  readonly loop: Loop | undefined;
  readonly values: Readonly<Record<string, unknown>>;

  constructor(loop: Loop | undefined, values: Readonly<Record<string, unknown>>) {
    this.loop = loop;
    this.values = values;
  }

  /** The engine shows the config of a run in its debug stream. */
  toJSON(): undefined {
    return undefined;
  }
}

/** The config of a run of `loop` that begins with these values; runs further inside do not see them. */
export function withInitialState<Config extends { readonly configurable?: Record<string, unknown> }>(
  config: Config,
  loop: Loop | undefined,
  values: Readonly<Record<string, unknown>>,
): Config {
  return { ...config, configurable: { ...config.configurable, [HANDED]: new InitialState(loop, values) } };
}

/** Writes of the run's first node: whole values that no reducer adds to anything. */
export function initialStateWrites(loop: Loop, config: TaskConfig): Write[] {
  const handed = config.configurable?.[HANDED] as InitialState | undefined;
  if (handed?.loop !== loop) return [];
  const writes: Write[] = [];
  for (const [key, value] of Object.entries(handed.values)) {
    const channel = loop.state.channels[key];
    if (channel === undefined || value === undefined) continue;
    if (key === "files") writes.push([key, handDown(value as object)]);
    else writes.push([key, channel instanceof BinaryOperatorAggregate ? new Overwrite(value) : value]);
  }
  return writes;
}
