import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import { scriptedModel } from "../testing/index.ts";
import { StateBackend } from "./state/state.ts";

const file = (content: string) => ({
  content,
  created_at: "2026-01-01T00:00:00Z",
  modified_at: "2026-01-01T00:00:00Z",
});

test("a tool of the user's with a StateBackend of its own shares the turn's files with the built-in ones", async () => {
  const backend = new StateBackend();
  const capitalise = tool(async () => (await backend.edit("/f", "b", "B")).error ?? "ok", {
    name: "capitalise",
    description: "Capitalises b.",
    schema: z.object({}),
  });
  const calls = [
    { name: "edit_file", args: { file_path: "/f", old_string: "a", new_string: "A" } },
    { name: "capitalise", args: {} },
  ];
  const agent = createDeepAgent({
    model: scriptedModel([{ toolCalls: calls }, "done"]),
    tools: [capitalise],
  });
  const result = await agent.invoke({ messages: "go", files: { "/f": file("a b") } });
  const [edit] = result.messages.filter(ToolMessage.isInstance);
  const told = edit?.status === "error" && /changed/i.test(edit.text);
  expect([result.files["/f"]?.content, told]).toEqual(told ? ["a B", true] : ["A B", false]);
});

test("after an interrupt a change that would undo a finished sibling's is refused, and said so", async () => {
  const backend = new StateBackend();
  const ask = tool(
    async () => {
      interrupt("may I?");
      return (await backend.edit("/f", "b", "B")).error ?? "ok";
    },
    { name: "ask", description: "Asks, then capitalises b.", schema: z.object({}) },
  );
  const calls = [
    { name: "edit_file", args: { file_path: "/f", old_string: "a", new_string: "A" } },
    { name: "ask", args: {} },
  ];
  const agent = createDeepAgent({
    model: scriptedModel([{ toolCalls: calls }, "done"]),
    tools: [ask],
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: "t" } };
  await agent.invoke({ messages: "go", files: { "/f": file("a b") } }, thread);
  const result = await agent.invoke(new Command({ resume: "yes" }), thread);
  const told = result.messages
    .filter((message) => message.getType() === "tool")
    .map((message) => message.text);
  const content = String(result.files["/f"]?.content);
  expect(content.startsWith("A")).toBe(true);
  expect(content === "A B" || /changed/i.test(told[1] ?? "")).toBe(true);
});
