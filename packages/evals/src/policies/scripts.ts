/** The scripted model of a case: an actor for its plan, and one for each task that it delegates. */
import { say, type TurnFunction } from "deepwright/testing";
import type { EvalCase } from "../format/eval-case.ts";
import { EvalsError } from "../format/evals-error.ts";
import { Actor } from "./actor.ts";
import { type Behaviour, POLICIES, type PolicyName } from "./behaviours.ts";
import type { Action, Plan, Step } from "./plan.ts";
import { RequestView } from "./request-view.ts";
import { summaryOf } from "./summary.ts";

/** Throws for a case without a script: it needs a live model. */
export function scriptFor({ id, script }: EvalCase): TurnFunction {
  if (script === undefined)
    throw new EvalsError(`The case ${id} has no script.`, "Name a model (--model) to run it.");
  const behaviour: Behaviour | undefined = POLICIES[script.policy as PolicyName];
  if (behaviour === undefined)
    throw new EvalsError(
      `Unknown policy '${script.policy}'.`,
      `There are ${Object.keys(POLICIES).join(", ")}.`,
    );
  const plan = script.plan as Plan;
  const children = delegated(plan).map(({ task, plan: childPlan }, index) => ({
    task,
    actor: new Actor(childPlan, behaviour, `child${index + 1}`),
  }));
  const main = new Actor(plan, behaviour, "main");
  return (request) => {
    const view = new RequestView(request);
    if (view.asksForSummary) return say(summaryOf(view.text));
    const { humanText } = view;
    const child = children.find(({ task }) => humanText.includes(task));
    return (child?.actor ?? main).turn(view);
  };
}

type Delegated = Extract<Action, { do: "delegate" }>;

function delegated(plan: Plan): Delegated[] {
  return plan.flatMap((step: Step) => {
    const actions = step.do === "together" ? step.steps : [step];
    return actions.flatMap((each) => (each.do === "delegate" ? [each, ...delegated(each.plan)] : []));
  });
}
