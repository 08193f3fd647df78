/** What the examples' models say: their scripts, unless MODEL names a real one, such as "openai:gpt-5.4". */
import { type Script, type ScriptedModel, type ScriptedTurn, scriptedModel } from "deepwright/testing";

export function modelOrScript(script: Script): string | ScriptedModel {
  return process.env.MODEL || scriptedModel(script);
}

/** A turn that hands out tasks, all at the same time. */
export function handOut(...tasks: [subagentType: string, description: string][]): ScriptedTurn {
  return {
    toolCalls: tasks.map(([subagent_type, description]) => ({
      name: "task",
      args: { subagent_type, description },
    })),
  };
}
