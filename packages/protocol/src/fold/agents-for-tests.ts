/** An agent with todos, files and two children, for recordings. */
import { createDeepAgent } from "deepwright";
import { callTool, type ScriptedRequest, say, scriptedModel, type Turn } from "deepwright/testing";

const todos = (status: string) => ({ todos: [{ content: "ask the children", status }] });

const PLAYS: Readonly<Record<string, readonly Turn[]>> = {
  Go: [
    {
      text: "I plan the work before I begin.",
      toolCalls: [
        { name: "write_todos", args: todos("in_progress") },
        { name: "write_file", args: { file_path: "/plan.md", content: "1. ask" } },
      ],
    },
    {
      toolCalls: [
        { name: "task", args: { description: "Red.", subagent_type: "red" } },
        { name: "task", args: { description: "Blue.", subagent_type: "blue" } },
      ],
    },
    {
      toolCalls: [
        { name: "read_file", args: { file_path: "/missing.md" } },
        { name: "write_todos", args: todos("completed") },
      ],
    },
    say("Red and blue are done, and so am I."),
  ],
  "Red.": [callTool("write_file", { file_path: "/red.md", content: "red" }), say("red was here, and left")],
  "Blue.": [
    callTool("write_file", { file_path: "/blue.md", content: "blue" }),
    say("blue was here, and left"),
  ],
  Again: [say("Once more.")],
};

/** One model for all of them: the last thing a person said decides the play. */
function act({ messages }: ScriptedRequest): Turn {
  const order = messages.findLastIndex((message) => message.getType() === "human");
  const play = PLAYS[messages[order]?.text ?? ""] ?? [];
  const turn = messages.slice(order).filter((message) => message.getType() === "ai").length;
  return play[turn] ?? say("nothing");
}

export function team(options: object = {}) {
  return createDeepAgent({
    model: scriptedModel({ turns: act }),
    subagents: [
      { name: "red", description: "Red." },
      { name: "blue", description: "Blue." },
    ],
    ...options,
  } as never);
}

export const asked = (text: string) => ({ messages: [{ role: "user", content: text, id: `asked-${text}` }] });
