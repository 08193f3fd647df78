/** The agent of the servers: it follows the plan of its thread and writes down what it does. */
import { join } from "node:path";
import type { SharedSaver } from "@deepwright/checkpoint";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { scriptedModel } from "deepwright/testing";
import { z } from "zod";
import { countTool, reply, storedCalls } from "../../../checkpoint/src/chaos/agent.ts";
import { recordEffect } from "../../../checkpoint/src/chaos/effects.ts";
import type { Plan } from "../../../checkpoint/src/chaos/plan.ts";

/** The plan of all threads; the message of each is its own id, by which the model finds its log. */
export type SharedPlan = Omit<Plan, "thread" | "text">;

export const planOf = (plan: SharedPlan, thread: string): Plan => ({ ...plan, thread, text: thread });

export const logOf = (directory: string, thread: string): string => join(directory, `${thread}.log`);

export function plannedAgent(saver: SharedSaver, directory: string, shared: SharedPlan) {
  const count = tool(
    async ({ place }: { place: string }, runtime) => {
      const thread = String(runtime.configurable?.thread_id);
      const log = logOf(directory, thread);
      return countTool(planOf(shared, thread), log, place, runtime, async (id) => {
        if ((await storedCalls(saver, thread)).includes(id)) recordEffect(log, "again", place, id);
      });
    },
    { name: "count", description: "Counts.", schema: z.object({ place: z.string() }) },
  );
  const model = scriptedModel(
    ({ messages }) => {
      const thread = messages.find((message) => message.type === "human")?.text ?? "";
      return reply(planOf(shared, thread), logOf(directory, thread), messages);
    },
    { check: { ids: true }, record: false },
  );
  return createDeepAgent({ model, tools: [count] });
}
