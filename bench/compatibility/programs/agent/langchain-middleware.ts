/** LangChain's own middleware on a deep agent. */
import { tool } from "@langchain/core/tools";
import {
  createMiddleware,
  modelCallLimitMiddleware,
  todoListMiddleware,
  toolCallLimitMiddleware,
} from "langchain";
import { createDeepAgent } from "library";
import { z } from "zod";
import { outcome, outline, results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const ping = tool(() => "pong", { name: "ping", description: "Pings.", schema: z.object({}) });
const input = { messages: [{ role: "user", content: "go" }] };

export default async function program() {
  const todos = [{ content: "first", status: "in_progress" }];
  const planner = scripted([call("write_todos", { todos }), "planned"]);
  const planned = await createDeepAgent({ model: planner, middleware: [todoListMiddleware()] }).invoke(input);
  const endless = scripted(({ turn }) => call("ping", {}, `p${turn}`));
  const limited = await createDeepAgent({
    model: endless,
    tools: [ping],
    middleware: [modelCallLimitMiddleware({ runLimit: 3, exitBehavior: "end" })],
  }).invoke(input);
  const refused = createDeepAgent({
    model: scripted(({ turn }) => call("ping", {}, `q${turn}`)),
    tools: [ping],
    middleware: [modelCallLimitMiddleware({ runLimit: 2, exitBehavior: "error" })],
  });
  const once = scripted([call("ping", {}), call("ping", {}), "done"]);
  const capped = await createDeepAgent({
    model: once,
    tools: [ping],
    middleware: [toolCallLimitMiddleware({ toolName: "ping", runLimit: 1 })],
  }).invoke(input);
  const other = scripted(["from the other model"]);
  const switching = createMiddleware({
    name: "Switching",
    wrapModelCall: (request, handler) => handler({ ...request, model: other }),
  });
  const switched = await createDeepAgent({
    model: scripted(["from the first"]),
    middleware: [switching],
  }).invoke(input);
  return {
    todos: planned.todos,
    toolsOnce: planner.requests[0]?.tools.filter((one) => one.name === "write_todos").length,
    calls: endless.requests.length,
    limited: outline(limited.messages).slice(0, 6),
    refused: await outcome(() => refused.invoke(input)),
    pings: results(capped.messages, "ping").map((text) => text === "pong"),
    switched: switched.messages.at(-1)?.text,
  };
}
