/** The file tools alone, inside LangChain's own agent. */
import { createAgent } from "langchain";
import { createFilesystemMiddleware, FilesystemBackend } from "library";
import { outline, results } from "../../kit/look.ts";
import { fill, scratch } from "../../kit/scratch.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const rootDir = scratch("fs-middleware");
  fill(rootDir, { "a.txt": "alpha" });
  const model = scripted([call("read_file", { file_path: "/a.txt" }), call("ls", { path: "/" }), "done"]);
  const files = createFilesystemMiddleware({
    backend: new FilesystemBackend({ rootDir, virtualMode: true }),
    tools: ["read_file", "ls", "glob"],
    systemPrompt: "Files are yours to read.",
    customToolDescriptions: { ls: "Lists things." },
  });
  const agent = createAgent({ model, middleware: [files], systemPrompt: "Base prompt." });
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  const all = createFilesystemMiddleware();
  const request = model.requests[0];
  return {
    name: files.name,
    tools: request?.tools.map((tool) => tool.name),
    description: request?.tools.find((tool) => tool.name === "ls")?.description,
    system: [request?.system.includes("Base prompt."), request?.system.includes("Files are yours to read.")],
    outline: outline(result.messages),
    read: results(result.messages, "read_file")[0]?.includes("alpha"),
    allTools: all.tools?.map((tool) => tool.name).sort(),
  };
}
