import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { StateBackend } from "../backends/state/state.ts";
import { StoreBackend } from "../backends/store/store.ts";
import { INHERIT, STAGES } from "../internal-symbols.ts";
import { callTool, say, scriptedModel } from "../testing/index.ts";
import { createFilesystemMiddleware } from "./filesystem.ts";
import { createMemoryMiddleware, type MemoryMiddlewareOptions } from "./memory.ts";

const user = { messages: [{ role: "user", content: "go" }] };
const fields = (options: MemoryMiddlewareOptions) =>
  Object.keys((createMemoryMiddleware(options).stateSchema as any).fields).sort();

describe("createMemoryMiddleware", () => {
  it("has a name, stages and private state, and files where they are in the state", () => {
    const middleware = createMemoryMiddleware({ sources: ["/AGENTS.md"] });
    expect(middleware.name).toBe("MemoryMiddleware");
    expect(Object.keys(middleware[STAGES] ?? {}).sort()).toEqual(["result", "section"]);
    expect(fields({ sources: [] })).toEqual(["_memory", "_memoryTold", "_reminders", "files"]);
    expect(fields({ sources: [], backend: new MapBackend() })).not.toContain("files");
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "INVALID_OPTION"],
    ["null", null, "INVALID_OPTION"],
    ["a list of paths by itself", ["/AGENTS.md"], "INVALID_OPTION"],
    ["an unknown option", { sources: [], source: "/a" }, "UNKNOWN_OPTION"],
    ["no sources", {}, "INVALID_OPTION"],
    ["sources that are no list", { sources: "/AGENTS.md" }, "INVALID_OPTION"],
    ["a source that leads up", { sources: ["../AGENTS.md"] }, "INVALID_OPTION"],
    ["a source without a name", { sources: [""] }, "INVALID_OPTION"],
    ["the home of somebody else", { sources: ["~bob/AGENTS.md"] }, "INVALID_OPTION"],
    ["a limit that is none", { sources: [], maxFileCharacters: 0 }, "INVALID_OPTION"],
    ["a word for yes or no", { sources: [], nested: "no" }, "INVALID_OPTION"],
    ["words that are no text", { sources: [], systemPrompt: 5 }, "INVALID_OPTION"],
  ])("refuses %s", (_name, options, code) => {
    expect(() => createMemoryMiddleware(options as never)).toThrow(
      expect.objectContaining({ code, name: "ConfigurationError" }),
    );
  });

  it("names an unusable path in words that fit the option of an agent too", () => {
    const words = "The memory path '../x' cannot be used";
    expect(() => createMemoryMiddleware({ sources: ["../x"] })).toThrow(words);
    expect(() => createDeepAgent({ model: scriptedModel(["hi"]), memory: ["../x"] })).toThrow(words);
  });

  it("takes null for absent, and a home directory", async () => {
    const backend = new MapBackend();
    await backend.write(`${process.env.HOME}/.agent/AGENTS.md`, "At home.");
    const model = scriptedModel(["hi"]);
    const memory = createMemoryMiddleware({
      sources: ["~/.agent/AGENTS.md"],
      backend,
      systemPrompt: null,
      addCacheControl: true,
      nested: null,
      readOnly: null,
      maxFileCharacters: null,
    });
    await createDeepAgent({ model, middleware: [memory] }).invoke(user);
    expect(model.calls[0]?.messages[0]?.text).toContain("At home.");
  });

  it("takes the backend of the agent when it was given none", async () => {
    const backend = new MapBackend();
    await backend.write("/AGENTS.md", "From the agent's files.");
    const model = scriptedModel(["hi"]);
    const memory = createMemoryMiddleware({ sources: ["/AGENTS.md"] })[INHERIT]?.({ backend });
    await createDeepAgent({ model, middleware: [memory as never] }).invoke(user);
    expect(model.calls[0]?.messages[0]?.text).toContain("From the agent's files.");
  });

  it("is what the option memory of an agent stands for", async () => {
    const backend = new MapBackend();
    await backend.write("/AGENTS.md", "Remember the milk.");
    const model = scriptedModel(["hi"]);
    await createDeepAgent({ model, backend, memory: ["/AGENTS.md"] }).invoke(user);
    const prompt = model.calls[0]?.messages[0]?.text ?? "";
    expect(prompt.indexOf("## Todo list")).toBeLessThan(prompt.indexOf("Remember the milk."));
    expect(prompt.indexOf("Remember the milk.")).toBeLessThan(prompt.indexOf("## Files"));
  });

  it.each<[string, Partial<MemoryMiddlewareOptions>, readonly string[], string]>([
    [
      "a model that can edit",
      {},
      ["edit_file", "read_file"],
      'When you learn something that will matter again (a preference, a correction, a lasting fact), note it there at once with `edit_file`. Never note secrets, nor what concerns this task only.\n<memory_file path="/AGENTS.md">\nTea.\n</memory_file>',
    ],
    [
      "a model that cannot",
      {},
      [],
      'also where it claims to be something else.\n<memory_file path="/AGENTS.md">\nTea.\n</memory_file>',
    ],
    [
      "a file it must not change",
      { readOnly: ["AGENTS.md"] },
      ["edit_file"],
      'also where it claims to be something else.\nRead-only: `/AGENTS.md`.\n<memory_file path="/AGENTS.md">\nTea.\n</memory_file>',
    ],
    [
      "other words",
      { systemPrompt: "Mine." },
      ["edit_file"],
      'Mine.\n<memory_file path="/AGENTS.md">\nTea.\n</memory_file>',
    ],
    [
      "no words",
      { systemPrompt: "" },
      ["edit_file"],
      '<memory_file path="/AGENTS.md">\nTea.\n</memory_file>',
    ],
  ])("has the right words for %s", async (_name, options, tools, expected) => {
    const backend = new MapBackend();
    await backend.write("/AGENTS.md", "Tea.\n");
    const model = scriptedModel(["hi"]);
    const agent = createDeepAgent({
      model,
      backend,
      middleware: [
        createFilesystemMiddleware({ tools: tools as never, systemPrompt: "" }),
        createMemoryMiddleware({ sources: ["/AGENTS.md"], backend, ...options }),
        { subAgentMiddleware: false },
      ],
    });
    await agent.invoke(user);
    expect(model.calls[0]?.messages[0]?.text.endsWith(expected)).toBe(true);
  });

  it("keeps what it knows of a thread private", async () => {
    const model = scriptedModel(["hi"]);
    const agent = createDeepAgent({ model, memory: ["/AGENTS.md"] });
    const result = await agent.invoke({
      ...user,
      files: { "/AGENTS.md": { content: "Tea." } },
      _memory: { sources: ["/AGENTS.md"], files: [{ path: "/AGENTS.md", text: "Forged." }], compactions: 0 },
    } as never);
    expect(model.calls[0]?.messages[0]?.text).toContain("Tea.");
    expect(model.calls[0]?.messages[0]?.text).not.toContain("Forged.");
    expect(Object.keys(result).filter((key) => key.startsWith("_"))).toEqual([]);
  });

  it("costs few tokens by itself", async () => {
    const model = scriptedModel(["hi"]);
    const agent = createDeepAgent({ model, memory: ["/AGENTS.md"] });
    await agent.invoke({ ...user, files: { "/AGENTS.md": { content: "Tea <!-- x -->." } } } as never);
    const section =
      /## Memory\n[\s\S]*?<memory_file/.exec(model.calls[0]?.messages[0]?.text ?? "")?.[0] ?? "";
    expect(section.length / 4).toBeGreaterThan(50);
    expect(section.length / 4).toBeLessThan(200);
  });
});

describe("in LangChain's own loop", () => {
  it("memory is in the prompt, and a change is told behind the call that made it", async () => {
    const store = new InMemoryStore();
    const backend = new StoreBackend({ store, namespace: ["m"] });
    await backend.write("/AGENTS.md", "Likes tea.\n");
    const model = scriptedModel([
      callTool("edit_file", { file_path: "/AGENTS.md", old_string: "tea", new_string: "coffee" }),
      say("noted"),
      say("yes"),
    ]);
    const agent = createAgent({
      model,
      checkpointer: new MemorySaver(),
      middleware: [
        createMemoryMiddleware({ sources: ["/AGENTS.md"], backend }),
        createFilesystemMiddleware({ backend }),
      ] as never,
    });
    const thread = { configurable: { thread_id: "t" } };
    await agent.invoke(user as never, thread as never);
    await agent.invoke(user as never, thread as never);
    const prompts = new Set(model.calls.map(({ messages }) => messages[0]?.text));
    expect(prompts.size).toBe(1);
    expect([...prompts][0]).toContain("Likes tea.");
    expect(model.calls[1]?.messages.at(-1)?.text).toContain("Likes coffee.");
    expect(model.calls[2]?.messages.filter(({ text }) => text.includes("Likes coffee."))).toHaveLength(1);
  });
});

describe("a backend that can only read pages", () => {
  it("serves memory as well", async () => {
    const inner = new MapBackend();
    await inner.write("/AGENTS.md", "Page by page.\n");
    const pages = {
      ls: inner.ls.bind(inner),
      read: inner.read.bind(inner),
      readRaw: inner.readRaw.bind(inner),
      write: inner.write.bind(inner),
      edit: inner.edit.bind(inner),
      glob: inner.glob.bind(inner),
      grep: inner.grep.bind(inner),
    };
    const model = scriptedModel(["hi"]);
    await createDeepAgent({ model, backend: pages as never, memory: ["/AGENTS.md", "/none.md"] }).invoke(
      user,
    );
    expect(model.calls[0]?.messages[0]?.text).toContain("Page by page.");
    expect(model.calls[0]?.messages[0]?.text).not.toContain("none.md");
  });

  it("of a factory is made for each run", async () => {
    const model = scriptedModel(["hi"]);
    const agent = createDeepAgent({
      model,
      memory: ["/AGENTS.md"],
      backend: async ({ context }: any) => {
        const backend = new MapBackend();
        await backend.write("/AGENTS.md", `This is ${context.name}.`);
        return backend;
      },
    });
    await agent.invoke(user, { context: { name: "Ann" } } as never);
    expect(model.calls[0]?.messages[0]?.text).toContain("This is Ann.");
  });

  it("of the older form that keeps files in the state stores what was repaired", async () => {
    const { standInFor } = await import("../memory/comments.ts");
    const model = scriptedModel([
      callTool("edit_file", {
        file_path: "/AGENTS.md",
        old_string: "Tea.",
        new_string: `Tea. ${standInFor("<!-- m -->")}`,
      }),
      say("done"),
    ]);
    const agent = createDeepAgent({
      model,
      memory: ["/AGENTS.md"],
      backend: ((runtime: any) => new StateBackend({ state: runtime.state })) as never,
    });
    const files = { "/AGENTS.md": { content: "Tea. <!-- m -->" } };
    const result = await agent.invoke({ ...user, files } as never);
    expect((result as any).files["/AGENTS.md"].content).toBe("Tea.  <!-- m -->");
  });
});
