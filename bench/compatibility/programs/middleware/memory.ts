/** Memory files in the system prompt. */
import { createAgent } from "langchain";
import { createDeepAgent, createMemoryMiddleware, FilesystemBackend } from "library";
import { fill, scratch } from "../../kit/scratch.ts";
import { scripted } from "../../kit/scripted-model.ts";

const input = { messages: [{ role: "user", content: "go" }] };

export default async function program() {
  const rootDir = scratch("memory");
  fill(rootDir, { "AGENTS.md": "Always answer in French.", "team/AGENTS.md": "The team is small." });
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const deep = scripted(["oui"]);
  const agent = createDeepAgent({
    model: deep,
    backend,
    memory: ["/AGENTS.md", "/team/AGENTS.md", "/missing/AGENTS.md"],
  });
  const result = await agent.invoke(input);
  const plain = scripted(["oui"]);
  const middleware = createMemoryMiddleware({ backend, sources: ["/AGENTS.md"], addCacheControl: true });
  await createAgent({ model: plain, middleware: [middleware], systemPrompt: "Base." }).invoke(input);
  const inState = scripted(["oui"]);
  const date = new Date(0).toISOString();
  await createDeepAgent({ model: inState, memory: ["/AGENTS.md"] }).invoke({
    ...input,
    files: { "/AGENTS.md": { content: ["From the state."], created_at: date, modified_at: date } },
  });
  const system = deep.requests[0]?.system ?? "";
  const content = plain.requests[0]?.messages[0]?.content;
  return {
    both: ["Always answer in French.", "The team is small."].map((text) => system.includes(text)),
    inOrder: system.indexOf("French") < system.indexOf("small"),
    paths: ["/AGENTS.md", "/team/AGENTS.md", "/missing/AGENTS.md"].map((path) => system.includes(path)),
    inState: "memoryContents" in result,
    name: middleware.name,
    base: plain.requests[0]?.system.startsWith("Base."),
    cached: Array.isArray(content) && content.some((block) => "cache_control" in block && "text" in block),
    fromState: inState.requests[0]?.system.includes("From the state."),
  };
}
