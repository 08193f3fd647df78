import { z } from "zod";
import { once } from "../once.ts";
import { ASYNC_TASK_STATUSES } from "../subagents/async/async-task.ts";
import type { AsyncTeam } from "../subagents/async/async-team.ts";
import { LIST_TOOL, LIST_WORDS } from "../subagents/async/words.ts";
import { answerCall, teamCall } from "./async-task-tool.ts";
import { type BuiltInTool, builtInTool } from "./built-in-tool.ts";
import { lenientObject } from "./lenient-object.ts";

const schema = once(() =>
  lenientObject(
    {
      status_filter: z
        .string()
        .optional()
        .describe(`Only those with this status: ${ASYNC_TASK_STATUSES.join(", ")}`),
    },
    { aliases: { statusFilter: "status_filter", status: "status_filter" } },
  ),
);

export function createListAsyncTasksTool(team: AsyncTeam): BuiltInTool {
  return builtInTool({
    effect: "reads",
    name: LIST_TOOL,
    description: LIST_WORDS,
    schema: schema(),
    run: async ({ status_filter: filter }, runtime) =>
      answerCall(LIST_TOOL, runtime, await team.list(filter?.trim().toLowerCase(), teamCall(runtime))),
  });
}
