/**
 * Values that a run hands down to the runs inside it: its children, their children, and agents that tools start. They
 * travel in the config by reference, are seen by our own code only and are never stored.
 */
import { ambientConfigurable } from "../engine/engine.ts";
import type { BackendProtocol, BackendRuntime } from "./backend.ts";

const TREE = "__deepwright_tree";

/** A backend with permissions in front. */
export type Ceiling = (backend: BackendProtocol, runtime?: BackendRuntime) => BackendProtocol;

export interface RunTree {
  /** The names of the agents from the outermost one's child down to this one; `[]` for the outermost. */
  readonly agentPath: readonly string[];
  /** Permissions this run may not exceed, set by the agents around it. */
  readonly ceiling?: Ceiling;
  /** Permissions the runs inside may not exceed; absent: the same. */
  readonly ceilingInside?: Ceiling;
  /** Budget and usage of the whole tree; only `budget/` looks inside. */
  readonly ledger?: unknown;
  /** Observer of the runs of the tree; only the loop knows its form: `loop/task/observed.ts`. */
  readonly observer?: unknown;
  /** The agent is a fork of its caller. */
  readonly isFork?: boolean;
}

interface Configured {
  readonly configurable?: Record<string, unknown>;
}

const OUTERMOST: RunTree = { agentPath: [] };

/** The tree of a run or task. An outermost run that passes nothing on has an empty tree. */
export function treeOf(config: unknown): RunTree {
  return ((config as Configured | undefined)?.configurable?.[TREE] as RunTree | undefined) ?? OUTERMOST;
}

/** The same config with some of the tree changed, for the runs inside. */
export function withTree<Config extends Configured>(config: Config, change: Partial<RunTree>): Config {
  return { ...config, configurable: { ...config.configurable, [TREE]: { ...treeOf(config), ...change } } };
}

/**
 * The config of a run inside another: the limits for inner runs apply to it, and its agent adds its own for the runs
 * inside it. Outside of runs, and with nothing to add, the config is unchanged. Call it once with the agent's own
 * limits; without them, any number of times.
 */
export function enterTree<Config extends Configured | undefined>(config: Config, own?: Ceiling): Config {
  const around = config?.configurable?.[TREE] ?? ambientConfigurable()?.[TREE];
  if (around === undefined && own === undefined) return config;
  const tree = (around as RunTree | undefined) ?? OUTERMOST;
  const ceiling = tree.ceilingInside ?? tree.ceiling;
  const ceilingInside = own === undefined ? ceiling : both(ceiling, own);
  return withTree(
    { ...config, configurable: { ...config?.configurable, [TREE]: tree } },
    {
      ...(ceiling && { ceiling }),
      ...(ceilingInside && { ceilingInside }),
    },
  ) as Config;
}

function both(outer: Ceiling | undefined, inner: Ceiling): Ceiling {
  if (outer === undefined) return inner;
  return (backend, runtime) => outer(inner(backend, runtime), runtime);
}
