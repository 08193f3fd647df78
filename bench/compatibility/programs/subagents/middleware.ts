/** The task tool alone, inside LangChain's own agent. */
import { createAgent } from "langchain";
import { createFilesystemMiddleware, createSubAgentMiddleware, GENERAL_PURPOSE_SUBAGENT } from "library";
import { results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const child = scripted(["from the child", "from the general one"]);
  const parent = scripted([
    call("task", { subagent_type: "helper", description: "Help." }),
    call("task", { subagent_type: "general-purpose", description: "Anything." }),
    "done",
  ]);
  const middleware = createSubAgentMiddleware({
    defaultModel: child,
    defaultTools: [],
    defaultMiddleware: [createFilesystemMiddleware()],
    subagents: [{ name: "helper", description: "Helps.", systemPrompt: "Help.", tools: [] }],
    taskDescription: "Delegates.",
    systemPrompt: "Delegate often.",
  });
  const agent = createAgent({ model: parent, middleware: [middleware] });
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const without = createSubAgentMiddleware({
    defaultModel: child,
    generalPurposeAgent: false,
    subagents: [{ ...GENERAL_PURPOSE_SUBAGENT, name: "variant", tools: [] }],
  });
  const task = parent.requests[0]?.tools[0];
  return {
    name: middleware.name,
    tools: parent.requests[0]?.tools.map((one) => one.name),
    description: task?.description.startsWith("Delegates."),
    system: parent.requests[0]?.system.includes("Delegate often."),
    reports: results(result.messages, "task"),
    childTools: child.requests.map((one) => one.tools.map((tool) => tool.name).sort()),
    withoutGeneral: without.tools?.map((one) => one.name),
  };
}
