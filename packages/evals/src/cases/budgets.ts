/** Budgets: runs that must end by themselves at a limit, with their work kept. */
import type { EvalCase, HarnessBudget, Suite } from "../format/eval-case.ts";
import type { PolicyName } from "../policies/behaviours.ts";
import { call, delegate, edit, type Plan, read, say, write } from "../policies/plan.ts";
import { answerContains, mostModelCalls, verify } from "../verifiers/answer-verifiers.ts";
import { fileContains } from "../verifiers/file-verifiers.ts";
import { failed, PASSED, type Verifier } from "../verifiers/verifier.ts";
import { filler, scriptedCase } from "./building.ts";
import { getWeather } from "./office-tools.ts";

const weather = call("get_weather", { city_name: "Turku" });
const LONG = { "/long.md": filler(6_000, 4) };
const many = (count: number): Plan => [
  ...Array.from({ length: count }, (_, index) => write(`/part-${index}.md`, `part ${index}`)),
  say("All written."),
];

const mostTokens = (most: number): Verifier =>
  verify(`at most ${most} tokens`, ({ tokens }) => (tokens <= most ? PASSED : failed(`${tokens} tokens`)));
const endedWell = verify("the run ended without an error", ({ error }) =>
  error === undefined ? PASSED : failed(error),
);

interface Row {
  readonly id: string;
  readonly policy?: PolicyName;
  readonly budget?: HarnessBudget;
  readonly plan: Plan;
  readonly verify: readonly Verifier[];
  readonly more?: Partial<EvalCase>;
}

const writer = { name: "writer", description: "Writes.", systemPrompt: "Write." };

const rows: readonly Row[] = [
  {
    id: "stops-after-five-steps",
    budget: { maxSteps: 5 },
    plan: many(20),
    verify: [mostModelCalls(5), endedWell],
  },
  {
    id: "keeps-the-work-so-far",
    budget: { maxSteps: 4 },
    plan: many(20),
    verify: [mostModelCalls(4), fileContains("/part-2.md", "part 2"), endedWell],
  },
  {
    id: "a-budget-that-is-enough-changes-nothing",
    budget: { maxSteps: 9 },
    plan: many(4),
    verify: [answerContains("All written"), endedWell],
  },
  {
    id: "stops-a-model-that-repeats-itself",
    policy: "repeats",
    budget: { maxSteps: 12 },
    plan: [weather, say("Rain.")],
    verify: [mostModelCalls(12), endedWell],
  },
  {
    id: "stops-a-circle-without-a-budget",
    policy: "repeats",
    plan: [weather, say("Rain.")],
    verify: [mostModelCalls(15), endedWell],
  },
  {
    id: "stops-before-too-many-tokens",
    budget: { maxTokens: 60_000 },
    policy: "over-reads",
    plan: [...Array.from({ length: 12 }, () => read("/long.md")), say("Read.")],
    verify: [mostTokens(60_000), endedWell],
    more: { files: LONG },
  },
  {
    id: "children-count-too",
    budget: { maxSteps: 6 },
    plan: [delegate("writer", "Write all twenty parts of the book.", many(20)), say("Done.")],
    verify: [mostModelCalls(6), endedWell],
    more: { subagents: [writer] },
  },
  {
    id: "a-new-message-has-a-new-budget",
    budget: { maxSteps: 3 },
    plan: [write("/a.md", "a"), say("One."), edit("/a.md", "a", "b"), say("Two.")],
    verify: [answerContains("Two"), endedWell],
    more: { task: ["Write a.", "Change it to b."] },
  },
  {
    id: "a-crash-does-not-give-the-budget-back",
    budget: { maxSteps: 5 },
    plan: many(20),
    verify: [mostModelCalls(5), endedWell],
    more: { faults: [{ kind: "crash", call: 4 }] },
  },
];

export const budgets: Suite = {
  category: "budgets",
  cases: rows.map(({ id, policy = "careful", budget, plan, verify: verifiers, more }) =>
    scriptedCase({
      id,
      task: "Do the work.",
      tools: [getWeather],
      budget,
      verify: verifiers,
      calls: 45,
      policy,
      plan,
      ...more,
    }),
  ),
};
