import { z } from "zod";
import { once } from "../once.ts";
import type { AsyncTeam } from "../subagents/async/async-team.ts";
import { START_TOOL, START_WORDS } from "../subagents/async/words.ts";
import { answerCall, teamCall } from "./async-task-tool.ts";
import { type BuiltInTool, builtInTool } from "./built-in-tool.ts";
import { lenientObject } from "./lenient-object.ts";

const schema = once(() =>
  lenientObject(
    {
      description: z.string().describe("The task, complete in itself"),
      subagent_type: z.string().describe("One of the types above"),
    },
    {
      aliases: {
        agentName: "subagent_type",
        agent_name: "subagent_type",
        subagentType: "subagent_type",
        task: "description",
      },
    },
  ),
);

export function createStartAsyncTaskTool(team: AsyncTeam): BuiltInTool {
  const types = team.members.map(({ name, description }) => `- ${name}: ${description}`);
  return builtInTool({
    effect: "network",
    name: START_TOOL,
    description: [START_WORDS, ...types].join("\n"),
    schema: schema(),
    run: async ({ description, subagent_type: type }, runtime) =>
      answerCall(START_TOOL, runtime, await team.start(type.trim(), description, teamCall(runtime))),
  });
}
