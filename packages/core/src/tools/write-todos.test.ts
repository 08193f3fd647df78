import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { Command, MessagesValue, Send, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { todosValue } from "../middleware/todo-list.ts";
import { createWriteTodosTool } from "./write-todos.ts";

const tool = createWriteTodosTool();
const todos = [
  { content: "look", status: "completed" },
  { content: "think", status: "in_progress" },
  { content: "do", status: "pending" },
];

/** One model turn with these calls, each answered by a task of its own. */
async function turn(
  calls: readonly Record<string, unknown>[],
): Promise<{ messages: any[]; todos: unknown[] }> {
  const message = new AIMessage({
    content: "",
    tool_calls: calls.map((args, index) => ({
      name: "write_todos",
      args,
      id: `c${index}`,
      type: "tool_call" as const,
    })),
  });
  const graph = new StateGraph(new StateSchema({ messages: MessagesValue, todos: todosValue }))
    .addNode("model", () => ({ messages: [message] }))
    .addNode("tools", (async ({ index, state }: any, config: any) => {
      const call = message.tool_calls?.[index];
      const result = await tool.invoke(
        call as never,
        { ...config, config, toolCallId: call?.id, state } as never,
      );
      return result instanceof Command ? result : { messages: [result] };
    }) as never)
    .addEdge(START, "model")
    .addConditionalEdges(
      "model",
      ((state: unknown) => calls.map((_, index) => new Send("tools", { index, state }))) as never,
      ["tools"] as never,
    )
    .compile();
  return (await graph.invoke({ messages: [new HumanMessage("plan")] } as never)) as never;
}

describe("write_todos", () => {
  it("replaces the list in the state and says how far the work is", async () => {
    const end = await turn([{ todos }]);
    expect(end.todos).toEqual(todos);
    expect(end.messages.at(-1)).toMatchObject({
      content: "Todo list updated: 1 completed, 1 in progress, 1 pending",
      tool_call_id: "c0",
      name: "write_todos",
      status: "success",
    });
  });

  it("answers parallel calls with an error each and changes nothing", async () => {
    const end = await turn([{ todos }, { todos: [] }, { todos }]);
    const answers = end.messages.filter((message) => ToolMessage.isInstance(message));
    expect(answers.map((answer) => [answer.tool_call_id, answer.status])).toEqual([
      ["c0", "error"],
      ["c1", "error"],
      ["c2", "error"],
    ]);
    expect(answers[0]?.content).toMatch(/^Error: write_todos was called more than once in this turn/);
    expect(end.todos).toEqual([]);
  });

  it("reads a list sent as JSON text", async () => {
    expect((await turn([{ todos: JSON.stringify(todos) }])).todos).toEqual(todos);
  });

  it("tells what is wrong with a list", async () => {
    const end = await turn([{ todos: [{ content: "x", status: "someday" }] }]);
    expect(end.messages.at(-1)).toMatchObject({ status: "error", tool_call_id: "c0" });
    expect(end.messages.at(-1)?.content).toContain("todos[0].status");
  });

  it("is shown to providers in few words", () => {
    expect(convertToOpenAITool(tool)).toMatchInlineSnapshot(`
      {
        "function": {
          "description": "Replace your todo list. For work of several steps: plan them, keep one in_progress, mark each completed as soon as it is done. Call it once per turn.",
          "name": "write_todos",
          "parameters": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "additionalProperties": false,
            "properties": {
              "todos": {
                "description": "The whole list",
                "items": {
                  "additionalProperties": false,
                  "properties": {
                    "content": {
                      "type": "string",
                    },
                    "status": {
                      "enum": [
                        "pending",
                        "in_progress",
                        "completed",
                      ],
                      "type": "string",
                    },
                  },
                  "required": [
                    "content",
                    "status",
                  ],
                  "type": "object",
                },
                "type": "array",
              },
            },
            "required": [
              "todos",
            ],
            "type": "object",
          },
        },
        "type": "function",
      }
    `);
  });
});
