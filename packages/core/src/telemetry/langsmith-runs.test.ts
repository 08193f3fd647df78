import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { expect, test } from "vitest";
import { createDeepAgent } from "../index.ts";
import { callTool, scriptedModel } from "../testing/index.ts";

interface TracedRun {
  readonly run_type: string;
  readonly name: string;
  readonly extra?: { readonly metadata?: Record<string, unknown> };
}

test("runs that LangSmith gets say whether they are of the agent or of a subagent", async () => {
  const runs: TracedRun[] = [];
  const client = { createRun: async (run: TracedRun) => void runs.push(run), updateRun: async () => {} };
  const model = scriptedModel([
    callTool("task", { description: "Look.", subagent_type: "general-purpose" }),
    "the child is done",
    "done",
  ]);
  const tracer = new LangChainTracer({ client: client as never });
  await createDeepAgent({ model }).invoke({ messages: "go" }, { callbacks: [tracer] });
  const types = runs
    .filter(({ run_type }) => run_type === "llm")
    .map(({ extra }) => extra?.metadata?.ls_agent_type);
  expect(types).toEqual(["root", "subagent", "root"]);
});
