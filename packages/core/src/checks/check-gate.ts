/** Asks a person when a call of `write_todos` drops a check, or runs what would be asked about by itself. */
import type { ToolCall } from "@langchain/core/messages";
import { checkpointerOf, type TaskConfig } from "../engine/engine.ts";
import {
  type ApprovalScene,
  type CallGate,
  DECISION_TYPES,
  type GateReason,
  type Question,
  usualDescription,
} from "../loop/approval-rules/approval-policy.ts";
import { WRITE_TODOS } from "../tools/write-todos.ts";
import type { TodoPlan } from "./evidence.ts";
import { listed, planOfCall } from "./write-checked-todos.ts";

export const checkGate: CallGate = {
  everyTime: true,
  asksIfPossible: true,
  watches: (tool) => tool === WRITE_TODOS,
  asks: async (call, scene) => {
    // Where nobody can be asked the tool refuses to drop a check, and the gate of tool calls what needs approval.
    if (checkpointerOf((scene.config ?? {}) as TaskConfig) === undefined) return undefined;
    const plan = planOfCall(call.args, scene.state);
    return plan && reasonFor(plan, await questionsIn(plan, scene));
  },
};

/** About the commands and files of the checks that run, as if the model had called the tools itself. */
async function questionsIn({ toRun }: TodoPlan, { questionOf }: ApprovalScene): Promise<readonly Question[]> {
  const calls = toRun.map(({ check }, i): ToolCall => {
    const id = `check-${i}`;
    return check?.command === undefined
      ? { name: "read_file", args: { file_path: check?.file }, id, type: "tool_call" }
      : { name: "execute", args: { command: check.command }, id, type: "tool_call" };
  });
  const questions = await Promise.all(calls.map(async (call) => questionOf?.(call)));
  return questions.filter((question) => question !== undefined);
}

function reasonFor({ dropped }: TodoPlan, questions: readonly Question[]): GateReason | undefined {
  if (dropped.length === 0 && questions.length === 0) return undefined;
  const parts = [
    dropped.length > 0 ? `The agent wants to drop completion checks:\n${listed(dropped)}` : "",
    questions.length > 0 ? "To check completed todos the agent wants to run:" : "",
    ...questions.map((question) => question.description ?? usualDescription(question.call)),
  ];
  return {
    description: parts.filter((part) => part !== "").join("\n"),
    allowedDecisions: DECISION_TYPES.filter((type) =>
      questions.every(({ allowedDecisions }) => allowedDecisions.includes(type)),
    ),
  };
}
