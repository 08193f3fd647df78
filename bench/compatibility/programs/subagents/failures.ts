/** A subagent whose model fails, a subagent that nobody declared, and one with state of its own. */
import { createMiddleware } from "langchain";
import { createDeepAgent } from "library";
import { z } from "zod";
import { outcome } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const counting = createMiddleware({
  name: "Counting",
  stateSchema: z.object({ count: z.number().default(0) }),
  beforeModel: (state) => ({ count: state.count + 1 }),
});

export default async function program() {
  const parent = () => scripted([call("task", { subagent_type: "child", description: "Do it." }), "done"]);
  const broken = createDeepAgent({
    model: parent(),
    subagents: [
      {
        name: "child",
        description: "Fails.",
        systemPrompt: "Fail.",
        model: scripted(() => new Error("no model today")),
      },
    ],
  });
  const counted = createDeepAgent({
    model: parent(),
    middleware: [counting],
    subagents: [
      {
        name: "child",
        description: "Counts.",
        systemPrompt: "Count.",
        model: scripted([call("ls", { path: "/" }), "counted"]),
        middleware: [counting],
      },
    ],
  });
  const input = { messages: [{ role: "user", content: "go" }] };
  const result = await counted.invoke({ ...input, count: 10 });
  const unknown = createDeepAgent({
    model: scripted([call("task", { subagent_type: "nobody", description: "?" }), "done"]),
  });
  return {
    unknown: await outcome(() => unknown.invoke(input)),
    broken: await outcome(() => broken.invoke(input)),
    count: result.count,
  };
}
