import { createAgent } from "langchain";
import { expect, test } from "vitest";
import { callTool, scriptedModel } from "../testing/index.ts";
import { createTodoListMiddleware } from "./todo-list.ts";

const todos = [{ content: "Count the whales.", status: "in_progress" as const }];

test("works inside LangChain's createAgent, with and without a list in the input", async () => {
  const model = scriptedModel([callTool("write_todos", { todos }), "planned", "looked"]);
  const agent = createAgent({ model, middleware: [createTodoListMiddleware()] });
  const messages = [{ role: "user" as const, content: "Plan." }];
  const planned = await agent.invoke({ messages });
  expect(planned).toMatchObject({ todos });
  expect(model.calls[0]?.messages[0]?.text).toContain("## Todo list");
  expect(await agent.invoke({ messages, todos } as never)).toMatchObject({ todos });
});
