/** Choices for the next run of a thread. A thread keeps its choices; a new one starts with those of the last new one. */
import { signal } from "@preact/signals";
import type { Allowance, Rule } from "../approvals/rules.ts";
import { webhook } from "./preferences.ts";
import { changeThread, threads } from "./threads.ts";

export interface Choices {
  /** Each absent one: as the server is set. */
  readonly mode?: string;
  readonly model?: string;
  /** Kind of the agent: beside a person, or with a team. */
  readonly kind?: string;
  /** Dollars of one run. */
  readonly maxCost?: number;
  /** Tokens of one run. */
  readonly maxTokens?: number;
  /** Calls of this thread that nobody is asked about. */
  readonly rules?: readonly Rule[];
}

/** The kind of an agent that leads subagents. */
export const TEAM = "acp";

const ofNewThread = signal<Choices>({});
/** Choices that the list of threads does not have yet. */
const chosen = signal<ReadonlyMap<string, Choices>>(new Map());

/** Undefined: of the next new thread. */
export function choicesOf(threadId: string | undefined): Choices {
  if (threadId === undefined) return ofNewThread.value;
  const kept = threads.value.find(({ thread_id: id }) => id === threadId)?.metadata.choices;
  return chosen.value.get(threadId) ?? readChoices(kept);
}

export function choose(threadId: string | undefined, next: Choices): void {
  if (threadId === undefined) {
    ofNewThread.value = next;
    return;
  }
  chosen.value = new Map([...chosen.peek(), [threadId, next]]);
  changeThread(threadId, { metadata: { choices: next } }).catch(() => undefined);
}

/** Other programs write metadata, too. */
function readChoices(kept: unknown): Choices {
  if (typeof kept !== "object" || kept === null) return {};
  const { mode, model, kind, maxCost, maxTokens, rules } = kept as Record<string, unknown>;
  return {
    ...(typeof mode === "string" && { mode }),
    ...(typeof model === "string" && { model }),
    ...(typeof kind === "string" && { kind }),
    ...(typeof maxCost === "number" && { maxCost }),
    ...(typeof maxTokens === "number" && { maxTokens }),
    ...(Array.isArray(rules) && { rules: rules as readonly Rule[] }),
  };
}

/** Rules of an answer hold for later runs of the thread, too. Those of the project are kept by the server. */
export function keepRules(threadId: string, allowed: readonly Allowance[]): void {
  const more = allowed
    .filter(({ scope }) => scope === "thread")
    .map(({ tool, prefix }) => ({ tool, ...(prefix && { prefix }) }));
  const now = choicesOf(threadId);
  if (more.length > 0) choose(threadId, { ...now, rules: [...(now.rules ?? []), ...more] });
}

/** Fields of the request of a run. */
export function runSettings(threadId: string | undefined): Readonly<Record<string, unknown>> {
  const { mode, model, kind, maxCost, maxTokens, rules = [] } = choicesOf(threadId);
  const budget = {
    ...(maxCost !== undefined && { maxCost }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
  const configurable = {
    ...(mode !== undefined && { approval_mode: mode }),
    ...(rules.length > 0 && { approval_rules: rules }),
    ...(model !== undefined && { run_model: model }),
    ...(kind !== undefined && { agent_kind: kind }),
    ...(Object.keys(budget).length > 0 && { run_budget: budget }),
  };
  return {
    ...(Object.keys(configurable).length > 0 && { config: { configurable } }),
    ...(webhook.value !== "" && { webhook: webhook.value }),
  };
}
