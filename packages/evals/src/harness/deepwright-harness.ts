/** Deepwright as a harness under test, as it comes. */
import { createDeepAgent, createModelRetryMiddleware } from "deepwright";
import type { CaseSubagent } from "../format/eval-case.ts";
import { BUILT_IN_TOOLS } from "../verifiers/verifier.ts";
import { type Feature, middlewareWithout } from "./feature-switches.ts";
import type { Harness, HarnessAgent, HarnessSetup } from "./harness.ts";

export interface DeepwrightHarnessOptions {
  /** Default "deepwright". */
  readonly name?: string;
  /** The version that reports show. */
  readonly version?: string;
  /** Features to switch off. */
  readonly without?: readonly Feature[];
  /** Waits before retries; a scripted provider needs none. Default: those of Deepwright. */
  readonly retryWait?: "usual" | "none";
}

export function deepwrightHarness(options: DeepwrightHarnessOptions = {}): Harness {
  const without = new Set(options.without);
  return {
    name: options.name ?? "deepwright",
    ...(options.version === undefined ? {} : { version: options.version }),
    create: (setup) => createAgent(setup, without, options.retryWait === "none"),
  };
}

function createAgent(setup: HarnessSetup, without: ReadonlySet<Feature>, isQuick: boolean): HarnessAgent {
  const { case: given, model, tools, checkpointer } = setup;
  const retries = isQuick && !without.has("retries") ? [QUICK_RETRIES()] : [];
  return createDeepAgent({
    model,
    checkpointer,
    tools: [...tools],
    middleware: [...retries, ...middlewareWithout(without)] as never,
    systemPrompt: given.systemPrompt,
    memory: given.memory,
    permissions: given.permissions?.map(({ operations, paths, mode }) => ({
      operations: [...operations],
      paths: [...paths],
      mode: mode ?? "deny",
    })),
    interruptOn: interruptOn(setup),
    subagents: given.subagents?.map((child) => subagent(child, setup)),
    budget: given.budget,
    responseFormat: given.responseSchema as never,
    profile: { excludedTools: hiddenTools(given.builtInTools) },
  } as never) as unknown as HarnessAgent;
}

const QUICK_RETRIES = () => createModelRetryMiddleware({ firstWait: 0, jitter: false });

/** Built-in tools that the case does not list. */
function hiddenTools(wanted: readonly string[] | undefined): string[] {
  return wanted === undefined ? [] : BUILT_IN_TOOLS.filter((name) => !wanted.includes(name));
}

/** Every tool that a person answers for; all decisions are allowed. */
export function interruptOn({ case: { approvals } }: HarnessSetup): Record<string, object> | undefined {
  if (approvals === undefined || approvals.length === 0) return undefined;
  return Object.fromEntries(
    approvals.map(({ tool }) => [tool, { allowedDecisions: ["approve", "edit", "reject"] }]),
  );
}

/** The subagent with its tools, in the form that deepagents shares. */
export function subagent({ tools: names, ...child }: CaseSubagent, { tools }: HarnessSetup): object {
  return names === undefined ? child : { ...child, tools: tools.filter(({ name }) => names.includes(name)) };
}
