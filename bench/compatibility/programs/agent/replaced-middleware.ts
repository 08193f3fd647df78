/** A program brings its own variant of a built-in middleware. */
import {
  createDeepAgent,
  createFilesystemMiddleware,
  createSubAgentMiddleware,
  FilesystemBackend,
} from "library";
import { outcome, results } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const rootDir = scratch("replaced");
  fill(rootDir, { "a.txt": "alpha" });
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const model = scripted([call("read_file", { file_path: "/a.txt" }), "done"]);
  const agent = createDeepAgent({
    model,
    backend,
    middleware: [createFilesystemMiddleware({ backend, tools: ["read_file", "ls"] })],
  });
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const delegating = scripted([call("task", { subagent_type: "mine", description: "x" }), "done"]);
  const own = createSubAgentMiddleware({
    defaultModel: scripted(["from mine"]),
    generalPurposeAgent: false,
    subagents: [{ name: "mine", description: "Mine.", systemPrompt: "Mine.", tools: [] }],
  });
  const delegated = await createDeepAgent({ model: delegating, middleware: [own] }).invoke({
    messages: [{ role: "user", content: "go" }],
  });
  const files = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"];
  return {
    tools: model.requests[0]?.tools
      .map((one) => one.name)
      .filter((name) => files.includes(name))
      .sort(),
    read: results(result.messages, "read_file")[0]?.includes("alpha"),
    tasks: delegating.requests[0]?.tools.filter((one) => one.name === "task").length,
    report: results(delegated.messages, "task"),
    twice: await outcome(() =>
      createDeepAgent({ model, middleware: [createFilesystemMiddleware(), createFilesystemMiddleware()] }),
    ),
  };
}
