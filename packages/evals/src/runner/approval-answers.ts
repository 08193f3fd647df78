/** The person of a trial: answers questions by the rules of the case. */
import type { ApprovalRule } from "../format/eval-case.ts";

/** Value of an interrupt, the same in Deepwright, deepagents and LangChain. */
export interface Question {
  readonly actionRequests?: readonly { readonly name: string; readonly args?: unknown }[];
}

/** One decision for each call, in order. A call without a rule is approved. */
export function answersTo({ actionRequests = [] }: Question, rules: readonly ApprovalRule[] = []): object {
  return {
    decisions: actionRequests.map(({ name, args }) => {
      const rule = rules.find(({ tool }) => tool === name);
      if (rule?.answer === "reject") return { type: "reject", message: rule.message ?? "No." };
      if (rule?.answer === "edit") return { type: "edit", editedAction: { name, args: rule.args ?? args } };
      return { type: "approve" };
    }),
  };
}
