/** Choices that an agent enforces for a single run, and the check of a client's choice. */
import { ConfigurationError } from "deepwright";
import { limitsOfRun, RUN_BUDGET_KEY } from "deepwright/internal";
import type { AnyGraph } from "../agents/graph-types.ts";
import {
  APPROVAL_MODES,
  type ApprovalMode,
  isApprovalMode,
  rulesIn,
} from "../approval-modes/approval-mode.ts";
import { APPROVAL_MODE_KEY, APPROVAL_RULES_KEY, ApprovalModes } from "../approval-modes/approval-modes.ts";
import { invalid } from "../http/problems.ts";
import { AGENT_KIND_KEY, AgentKinds } from "./agent-kinds.ts";
import { ModelChoices, RUN_MODEL_KEY } from "./model-choices.ts";

export interface RunChoices {
  /** Empty: the agent has no approval modes. */
  readonly approvalModes: readonly ApprovalMode[];
  /** Empty: the agent works with its own model alone. */
  readonly models: readonly string[];
  /** Empty: the agent has one way to work. */
  readonly kinds: readonly string[];
  /** Whether the agent keeps to a budget of the run. */
  readonly budget: boolean;
  /** Undefined: the agent has no approval modes. */
  readonly modes: ApprovalModes | undefined;
}

interface OwnAgent {
  readonly loop?: { readonly middleware: readonly object[] };
}

export function choicesOf(graph: AnyGraph): RunChoices {
  const middleware = ((graph as OwnAgent).loop?.middleware ?? []) as readonly {
    readonly name?: string;
    readonly choices?: unknown;
    readonly modes?: unknown;
    readonly kinds?: unknown;
  }[];
  const models = middleware.map(({ choices }) => choices).find((one) => one instanceof ModelChoices);
  const modes = middleware.map((one) => one.modes).find((one) => one instanceof ApprovalModes);
  const kinds = middleware.map((one) => one.kinds).find((one) => one instanceof AgentKinds);
  return {
    modes,
    approvalModes: modes ? APPROVAL_MODES : [],
    models: models?.names ?? [],
    kinds: kinds?.names ?? [],
    budget: middleware.some(({ name }) => name === "BudgetMiddleware"),
  };
}

const KEYS = [
  ...([APPROVAL_MODE_KEY, APPROVAL_RULES_KEY, RUN_MODEL_KEY, AGENT_KIND_KEY] as const),
  RUN_BUDGET_KEY,
] as const;

/** Whether one of the keys is there. Agents of others may use the same words for something else. */
export function hasChoices(configurable: Readonly<Record<string, unknown>>): boolean {
  return KEYS.some((key) => configurable[key] !== undefined);
}

/** Refuses choices that the agent would not keep to. */
export function checkChoices(configurable: Readonly<Record<string, unknown>>, graph: AnyGraph): void {
  if (!("loop" in graph)) return;
  const { approvalModes, models, kinds, budget } = choicesOf(graph);
  const {
    [APPROVAL_MODE_KEY]: mode,
    [APPROVAL_RULES_KEY]: rules,
    [RUN_MODEL_KEY]: model,
    [AGENT_KIND_KEY]: kind,
    [RUN_BUDGET_KEY]: limits,
  } = configurable as Record<(typeof KEYS)[number], unknown>;
  if (mode !== undefined && approvalModes.length === 0) throw refused(APPROVAL_MODE_KEY, "approval modes");
  if (mode !== undefined && !isApprovalMode(mode))
    throw invalid(`config.configurable.${APPROVAL_MODE_KEY}: must be one of ${approvalModes.join(", ")}.`);
  if (rules !== undefined && approvalModes.length === 0) throw refused(APPROVAL_RULES_KEY, "approval modes");
  if (rules !== undefined && rulesIn(rules) === undefined)
    throw invalid(
      `config.configurable.${APPROVAL_RULES_KEY}: must be a list of {tool, prefix?}, at most 100.`,
    );
  checkName(RUN_MODEL_KEY, model, models, "choice of models");
  checkName(AGENT_KIND_KEY, kind, kinds, "kinds");
  if (limits === undefined) return;
  if (!budget) throw refused(RUN_BUDGET_KEY, "budget");
  checkBudget(limits);
}

function checkName(key: string, name: unknown, names: readonly string[], what: string): void {
  if (name === undefined) return;
  if (names.length === 0) throw refused(key, what);
  if (!names.includes(name as string))
    throw invalid(`config.configurable.${key}: must be one of ${names.join(", ").slice(0, 1_000)}.`);
}

function refused(key: string, what: string): Error {
  return invalid(`config.configurable.${key}: this agent has no ${what}.`);
}

function checkBudget(limits: unknown): void {
  try {
    limitsOfRun(limits);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw invalid(`config.configurable.${RUN_BUDGET_KEY}: ${error.message}`);
  }
}
