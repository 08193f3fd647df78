import { once } from "../once.ts";
import type { AsyncTeam } from "../subagents/async/async-team.ts";
import { CHECK_TOOL, CHECK_WORDS } from "../subagents/async/words.ts";
import { answerCall, taskIdAliases, taskIdArgument, teamCall } from "./async-task-tool.ts";
import { type BuiltInTool, builtInTool } from "./built-in-tool.ts";
import { lenientObject } from "./lenient-object.ts";

const schema = once(() => lenientObject({ task_id: taskIdArgument }, { aliases: taskIdAliases }));

export function createCheckAsyncTaskTool(team: AsyncTeam): BuiltInTool {
  return builtInTool({
    effect: "reads",
    name: CHECK_TOOL,
    description: CHECK_WORDS,
    schema: schema(),
    run: async ({ task_id: id }, runtime) =>
      answerCall(CHECK_TOOL, runtime, await team.check(id.trim(), teamCall(runtime))),
  });
}
