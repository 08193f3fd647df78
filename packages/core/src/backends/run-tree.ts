/**
 * What a run hands down to the runs inside it: its children, their children, and agents that tools start.
 * It travels in the config by reference, is seen by our own code only and is never stored.
 */
import type { BackendProtocol } from "./backend.ts";

const TREE = "__deepwright_tree";

export interface RunTree {
  /** The names of the agents from the outermost one's child down to this one; `[]` for the outermost. */
  readonly agentPath: readonly string[];
  /** What no run in the tree may exceed: the backend with its permissions in front. */
  readonly ceiling?: (backend: BackendProtocol) => BackendProtocol;
  /** What the whole tree may use and has used; only `budget/` looks inside. */
  readonly ledger?: unknown;
  /** The agent is a fork of the one that started it. */
  readonly isFork?: boolean;
}

interface Configured {
  readonly configurable?: Record<string, unknown>;
}

const OUTERMOST: RunTree = { agentPath: [] };

/** The tree a run or task belongs to; an outermost run without anything to hand down has an empty one. */
export function treeOf(config: unknown): RunTree {
  return ((config as Configured | undefined)?.configurable?.[TREE] as RunTree | undefined) ?? OUTERMOST;
}

/** The same config with some of the tree changed, for the runs inside. */
export function withTree<Config extends Configured>(config: Config, change: Partial<RunTree>): Config {
  return { ...config, configurable: { ...config.configurable, [TREE]: { ...treeOf(config), ...change } } };
}
