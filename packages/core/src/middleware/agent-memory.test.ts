import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { ConfigurationError } from "../errors.ts";
import { workspace } from "../memory/agents-for-tests.ts";
import { scriptedModel } from "../testing/index.ts";
import { createAgentMemoryMiddleware } from "./agent-memory.ts";

const settingsIn = (root: string, project: string | null) => ({
  getUserAgentMdPath: (name: string) => join(root, "home", name, "agent.md"),
  getProjectAgentMdPath: () => project && join(root, project, "agent.md"),
});

async function promptWith(middleware: ReturnType<typeof createAgentMemoryMiddleware>): Promise<string> {
  const model = scriptedModel(["hi", "ho"]);
  const backend = new MapBackend();
  await backend.write("/AGENTS.md", "Of the agent.\n");
  const agent = createDeepAgent({ model, backend, memory: ["/AGENTS.md"], middleware: [middleware] });
  await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  expect(model.calls[1]?.messages[0]?.text).toBe(model.calls[0]?.messages[0]?.text);
  return model.calls[0]?.messages[0]?.text ?? "";
}

describe("createAgentMemoryMiddleware", () => {
  it("shows the file of the user and that of the project, beside the memory of the agent", async () => {
    const root = await workspace({
      "home/ann/agent.md": "Of the user.\n",
      "project/agent.md": "Of the project.\n",
    });
    const prompt = await promptWith(
      createAgentMemoryMiddleware({ settings: settingsIn(root, "project"), assistantId: "ann" }),
    );
    for (const words of ["Of the agent.", "Of the user.", "Of the project."]) expect(prompt).toContain(words);
  });

  it("takes a template, and works outside a project", async () => {
    const root = await workspace({ "home/ann/agent.md": "Of the user.\n" });
    const prompt = await promptWith(
      createAgentMemoryMiddleware({
        settings: settingsIn(root, null),
        assistantId: "ann",
        systemPromptTemplate: "User: {user_memory}; project: {project_memory}.",
      }),
    );
    expect(prompt).toContain(
      `User: ${join(root, "home/ann/agent.md")}; project: (not in a project).\n<memory_file`,
    );
  });

  it.each([
    [undefined, "The option 'settings' must say where the files are. For example createSettings()."],
    [{}, "The option 'settings' must say where"],
    [{ settings: {}, assistantId: "a" }, "The option 'settings' must say where"],
    [{ settings: settingsIn("/", null) }, "The option 'assistantId' must be the name of the agent."],
    [
      { settings: settingsIn("/", null), assistantId: "a", systemPromptTemplate: 5 },
      "'systemPromptTemplate' must be text",
    ],
  ])("refuses %j", (options, words) => {
    expect(() => createAgentMemoryMiddleware(options as never)).toThrow(ConfigurationError);
    expect(() => createAgentMemoryMiddleware(options as never)).toThrow(words);
  });

  it("refuses an unknown option", () => {
    const options = { settings: settingsIn("/", null), assistantId: "a", agentId: "b" };
    expect(() => createAgentMemoryMiddleware(options)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_OPTION" }),
    );
  });
});
