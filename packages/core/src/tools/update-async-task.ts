import { z } from "zod";
import { once } from "../once.ts";
import type { AsyncTeam } from "../subagents/async/async-team.ts";
import { UPDATE_TOOL, UPDATE_WORDS } from "../subagents/async/words.ts";
import { answerCall, taskIdAliases, taskIdArgument, teamCall } from "./async-task-tool.ts";
import { type BuiltInTool, builtInTool } from "./built-in-tool.ts";
import { lenientObject } from "./lenient-object.ts";

const schema = once(() =>
  lenientObject(
    { task_id: taskIdArgument, message: z.string().describe("The new instruction") },
    { aliases: { ...taskIdAliases, description: "message", instruction: "message" } },
  ),
);

export function createUpdateAsyncTaskTool(team: AsyncTeam): BuiltInTool {
  return builtInTool({
    effect: "network",
    name: UPDATE_TOOL,
    description: UPDATE_WORDS,
    schema: schema(),
    run: async ({ task_id: id, message }, runtime) =>
      answerCall(UPDATE_TOOL, runtime, await team.update(id.trim(), message, teamCall(runtime))),
  });
}
