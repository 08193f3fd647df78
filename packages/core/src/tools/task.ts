import type { RunnableConfig } from "@langchain/core/runnables";
import { Command } from "@langchain/langgraph";
import { z } from "zod";
import type { TaskConfig } from "../engine/engine.ts";
import { KEEPS_TIME } from "../internal-symbols.ts";
import { once } from "../once.ts";
import { delegate } from "../subagents/delegate.ts";
import type { Team } from "../subagents/team.ts";
import { TASK_TOOL, taskDescription } from "../subagents/words.ts";
import {
  type BuiltInTool,
  builtInTool,
  failedCall,
  succeededCall,
  type ToolCallRuntime,
} from "./built-in-tool.ts";
import { lenientObject } from "./lenient-object.ts";

const schema = once(() =>
  lenientObject(
    {
      description: z.string().describe("The task, complete in itself"),
      subagent_type: z.string().describe("One of the types above"),
    },
    { aliases: { subagentType: "subagent_type", task: "description" } },
  ),
);

export interface TaskToolOptions {
  readonly team: Team;
  /** Replaces our words for the model; `{available_agents}` in them stands for the list of types. */
  readonly description?: string | undefined;
}

export function createTaskTool({ team, description }: TaskToolOptions): BuiltInTool {
  const tool = builtInTool({
    // A person is asked about the subagent's own tool calls, not about this one.
    effect: "reads",
    name: TASK_TOOL,
    description: taskDescription(description, team.members),
    schema: schema(),
    run: (args, runtime) => hand(team, args, runtime),
  });
  return Object.assign(tool, { [KEEPS_TIME]: true });
}

interface TaskArguments {
  readonly description: string;
  readonly subagent_type: string;
}

async function hand(team: Team, args: TaskArguments, runtime: ToolCallRuntime): Promise<unknown> {
  const order = { description: args.description, type: args.subagent_type.trim() };
  const { text, failed, update } = await delegate(team, order, {
    id: runtime.toolCallId ?? runtime.toolCall?.id ?? "",
    config: configOf(runtime) as TaskConfig,
    state: runtime.state ?? {},
  });
  const message = failed ? failedCall(TASK_TOOL, runtime, text) : succeededCall(TASK_TOOL, runtime, text);
  return Object.keys(update).length === 0
    ? message
    : new Command({ update: { ...update, messages: [message] } });
}

/** The whole config of the task, with the listeners of the tool. */
function configOf(runtime: ToolCallRuntime): RunnableConfig {
  const { config, callbacks } = runtime;
  if (config === undefined) return runtime;
  return callbacks === undefined ? config : { ...config, callbacks };
}
