/** Budgets inside the loop: every model call of a run and of the runs inside it is charged to the same ledger. */
import type { AIMessage } from "@langchain/core/messages";
import type { RunTree } from "../backends/run-tree.ts";
import { isTaskConfig, type TaskConfig } from "../engine/engine.ts";
import type { Ask, Outgoing, Stages, StageTask, TreeConfig } from "../loop/contract/stages.ts";
import type { Outcome } from "../loop/messages/outcome.ts";
import { endRunWith, RunEnded } from "../loop/task/run-ended-error.ts";
import { CallbackCharges } from "./callback-charges.ts";
import { type CallFacts, charged, ledgerOf, runUsage, storedUsage, USED } from "./charge.ts";
import { Ledger, type StoredUsage } from "./ledger.ts";
import type { Limits } from "./limits.ts";
import { lowered, RUN_BUDGET_KEY } from "./run-budget.ts";
import { addByAgent } from "./usage.ts";

export interface BudgetSettings {
  /** Undefined: the agent has no budget of its own, but counts towards the budget of an enclosing run. */
  readonly limits: Limits | undefined;
  readonly factsOf: (outgoing: Outgoing) => CallFacts;
}

export function createBudgetStages({ limits, factsOf }: BudgetSettings): Stages {
  return {
    tree: (tree, config) => ledgerFor(tree, config, limits),
    listener: ({ ledger }) => {
      const isOutermost = ledger instanceof Ledger && ledger.parent === undefined;
      return isOutermost ? new CallbackCharges(ledger) : undefined;
    },
    input: (messages, task) => {
      if (messages.length > 0) beginCount(task);
      return messages;
    },
    call: (outgoing, next, task) => callWithin(outgoing, next, task, factsOf),
    result: (message, _, task) => {
      const namespace = String(task.config.configurable?.checkpoint_ns ?? "");
      const inside = ledgerOf(task.config)?.takeInside(namespace);
      if (inside !== undefined) task.write(USED, inside);
      return message;
    },
    outcome: withUsage,
  };
}

function ledgerFor(
  tree: RunTree,
  config: TreeConfig,
  limits: Limits | undefined,
): Partial<RunTree> | undefined {
  const parent = tree.ledger instanceof Ledger ? tree.ledger : undefined;
  const own = parent === undefined ? lowered(limits, config.configurable?.[RUN_BUDGET_KEY]) : limits;
  if (parent === undefined && own === undefined) return undefined;
  // The run around may have been resumed right into this task, and not have asked a model yet.
  if (parent !== undefined && isTaskConfig(config)) parent.adopt(storedUsage(config));
  const namespace = String(config.configurable?.checkpoint_ns ?? "");
  return { ledger: new Ledger({ parent, limits: own, agentPath: tree.agentPath, namespace }) };
}

/** A new message begins a new count; a run that merely goes on keeps the old one. */
function beginCount(task: StageTask): void {
  if (task.read(USED) !== undefined) task.write(USED, NOTHING_USED);
}

const NOTHING_USED = { reset: true };

/** The reducer of the channel. */
export function addStored(left: unknown, right: unknown): StoredUsage | undefined {
  const [before, more] = [left, right] as [StoredUsage | undefined, Partial<StoredUsage> & { reset?: true }];
  if (more.reset) return undefined;
  return {
    agents: addByAgent(before?.agents ?? {}, more.agents ?? {}),
    seconds: Math.max(before?.seconds ?? 0, more.seconds ?? 0),
  };
}

async function callWithin(
  outgoing: Outgoing,
  next: Ask,
  task: StageTask,
  factsOf: BudgetSettings["factsOf"],
): Promise<AIMessage> {
  const ledger = ledgerOf(task.config);
  if (ledger === undefined) return next(outgoing);
  try {
    return await charged(
      task.config,
      () => factsOf(outgoing),
      () => next(outgoing),
      outgoing.attempt?.signal ?? task.signal,
    );
  } catch (error) {
    if (!(error instanceof RunEnded)) throw error;
    endRunWith(task, error.outcome);
  } finally {
    keep(ledger, task);
  }
}

/** Written so far by one task: a task has one value for a channel. */
const kept = new WeakMap<StageTask, StoredUsage>();

function keep(ledger: Ledger, task: StageTask): void {
  const more = ledger.takeOwn();
  if (more === undefined) return;
  const all = addStored(kept.get(task), more) as StoredUsage;
  kept.set(task, all);
  task.write(USED, all);
}

/** Agents without a budget say nothing about usage. */
function withUsage(outcome: Outcome, config: TaskConfig): Outcome {
  const ledger = ledgerOf(config);
  return ledger?.hasLimits ? { ...outcome, usage: runUsage(ledger) } : outcome;
}
