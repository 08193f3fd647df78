import { once } from "../once.ts";
import type { AsyncTeam } from "../subagents/async/async-team.ts";
import { CANCEL_TOOL, CANCEL_WORDS } from "../subagents/async/words.ts";
import { answerCall, taskIdAliases, taskIdArgument, teamCall } from "./async-task-tool.ts";
import { type BuiltInTool, builtInTool } from "./built-in-tool.ts";
import { lenientObject } from "./lenient-object.ts";

const schema = once(() => lenientObject({ task_id: taskIdArgument }, { aliases: taskIdAliases }));

export function createCancelAsyncTaskTool(team: AsyncTeam): BuiltInTool {
  return builtInTool({
    effect: "network",
    name: CANCEL_TOOL,
    description: CANCEL_WORDS,
    schema: schema(),
    run: async ({ task_id: id }, runtime) =>
      answerCall(CANCEL_TOOL, runtime, await team.cancel(id.trim(), teamCall(runtime))),
  });
}
