/** Usage of model calls. Numbers are as providers reported them, and each call is counted once. */
export interface Usage {
  /** Model calls that were answered. */
  readonly calls: number;
  /** All tokens, in and out. */
  readonly tokens: number;
  /** Includes tokens read from a cache and written to one. */
  readonly inputTokens: number;
  /** With the reasoning. */
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Dollars, for the calls whose price is known. */
  readonly cost: number;
  /** Calls of models whose price is not known. */
  readonly unpricedCalls: number;
  /** Calls without a usage report of the provider: their tokens are our own estimate. */
  readonly estimatedCalls: number;
}

/** Usage of an agent, with the share of each model. */
export interface UsageByModel extends Usage {
  /** By the model's name, as its provider has it. Absent in counts of earlier versions. */
  readonly models?: Readonly<Record<string, Usage>>;
}

export interface AgentUsage extends UsageByModel {
  /** The names of the agents from the outermost one's child down; `[]` for the outermost itself. */
  readonly agentPath: readonly string[];
}

/** Usage of a run with all inner runs. */
export interface RunUsage extends Usage {
  readonly seconds: number;
  readonly agents: readonly AgentUsage[];
}
