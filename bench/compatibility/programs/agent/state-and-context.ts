/** State of the program's own, context of a run, and a store that tools use. */

import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, getStore, InMemoryStore, StateSchema } from "@langchain/langgraph";
import { createMiddleware, type ToolRuntime } from "langchain";
import { createDeepAgent } from "library";
import { z } from "zod";
import { outline, results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const contextSchema = z.object({ user: z.string() });
const note = tool(
  async ({ text }, runtime: ToolRuntime<unknown, typeof contextSchema>) => {
    await getStore()?.put(["notes"], "last", { text });
    const content = `noted by ${runtime.context.user}`;
    const message = new ToolMessage({ content, name: "note", tool_call_id: runtime.toolCallId });
    return new Command({ update: { author: runtime.context.user, messages: [message] } });
  },
  { name: "note", description: "Takes a note.", schema: z.object({ text: z.string() }) },
);
const calls: string[] = [];
const watching = createMiddleware({
  name: "Watching",
  stateSchema: z.object({ steps: z.number().default(0) }),
  contextSchema,
  beforeAgent: () => {
    calls.push("beforeAgent");
  },
  beforeModel: (state) => ({ steps: state.steps + 1 }),
  wrapModelCall: (request, handler) => {
    calls.push(`model for ${request.runtime.context.user}`);
    return handler(request);
  },
  wrapToolCall: (request, handler) => {
    calls.push(`tool ${request.toolCall.name}`);
    return handler(request);
  },
  afterAgent: () => {
    calls.push("afterAgent");
  },
});

export default async function program() {
  const store = new InMemoryStore();
  const agent = createDeepAgent({
    model: scripted([call("note", { text: "buy milk" }), call("ls", { path: "/" }), "done"]),
    tools: [note],
    store,
    middleware: [watching],
    contextSchema,
    stateSchema: new StateSchema({ author: z.string().default("unknown") }),
  });
  const result = await agent.invoke(
    { messages: [{ role: "user", content: "go" }] },
    { context: { user: "ann" } },
  );
  const author: string = result.author;
  return {
    author,
    steps: result.steps,
    calls,
    outline: outline(result.messages),
    note: results(result.messages, "note"),
    stored: (await store.get(["notes"], "last"))?.value,
    keys: Object.entries(result)
      .filter(([, value]) => value !== undefined)
      .map(([key]) => key)
      .sort(),
  };
}
