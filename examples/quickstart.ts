/** A deep agent in ten lines: it plans, writes a file and answers. */
import { createDeepAgent } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";

// Use a real model with `model: "anthropic:claude-sonnet-4-6"`; the scripted one needs no key.
const model = scriptedModel([
  callTool("write_todos", { todos: [{ content: "Write the haiku", status: "in_progress" }] }),
  callTool("write_file", { file_path: "/haiku.md", content: "Old pond\nA frog leaps in\nWater's sound\n" }),
  "The haiku is in /haiku.md.",
]);

const agent = createDeepAgent({ model });
const result = await agent.invoke({ messages: [{ role: "user", content: "Write a haiku to a file." }] });

console.log(result.messages.at(-1)?.text);
console.log(result.files["/haiku.md"]?.content);
