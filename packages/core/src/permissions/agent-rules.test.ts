/** Permissions as an agent lives with them: every middleware works on, and none is a way around. */
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import type { BackendProtocol } from "../backends/backend.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { compactingAgent, converse, strictModel, summariser } from "../context/fixtures/agents-for-tests.ts";
import { createFilesystemMiddleware } from "../middleware/filesystem.ts";
import { createMemoryMiddleware } from "../middleware/memory.ts";
import { parentPath } from "../paths.ts";
import { skillText } from "../skills/skill-files-for-tests.ts";
import { callTool, say, scriptedModel } from "../testing/index.ts";
import { answersOf, ask, callingAgent, onThread, resultsIn, verdictsOf } from "./agent-for-tests.ts";
import { FILES, onDisk, onHost, rule } from "./backends-for-tests.ts";
import type { FilesystemPermission } from "./rules.ts";

const READ_ONLY = [rule("deny", "/**", ["write"])];
const WORKSPACE = [rule("allow", "/workspace/**"), rule("deny", "/**")];
const GUARDED = [rule("deny", "/workspace/.env"), ...WORKSPACE];
const MEMORY = [rule("deny", ["/memories/**", "/policies/**", "/AGENTS.md"], ["write"])];
const AUDITOR = [...READ_ONLY, rule("allow", "/workspace/**", ["read"]), rule("deny", "/**", ["read"])];
const PATTERNS: readonly [string, FilesystemPermission[]][] = [
  ["read only", READ_ONLY],
  ["the workspace alone", WORKSPACE],
  ["the workspace without its secrets", GUARDED],
  ["memory that is read only", MEMORY],
  ["the auditor", AUDITOR],
];

describe("the tools of an agent", () => {
  it("tell the model what was denied, in the agreed words, as a failed call", async () => {
    const calls = [
      ["read_file", { file_path: "/secrets/./key.txt" }],
      ["write_file", { file_path: "secrets/new.txt", content: "x" }],
      ["edit_file", { file_path: "//secrets/key.txt", old_string: "a", new_string: "b" }],
      ["delete", { file_path: "/secrets" }],
      ["ls", { path: "/secrets" }],
      ["glob", { pattern: "*", path: "/secrets" }],
      ["grep", { pattern: "needle", path: "/secrets" }],
    ] as const;
    const { agent } = callingAgent(calls, {
      backend: new MapBackend(FILES),
      permissions: [rule("deny", "/secrets/**")],
    });
    const results = resultsIn((await agent.invoke(ask())).messages);
    expect(results.map(({ text, status }) => [text, status])).toEqual([
      ["Error: permission denied for read on /secrets/key.txt", "error"],
      ["Error: permission denied for write on /secrets/new.txt", "error"],
      ["Error: permission denied for write on /secrets/key.txt", "error"],
      ["Error: permission denied for write on /secrets", "error"],
      ["Error: permission denied for read on /secrets", "error"],
      ["Error: permission denied for read on /secrets", "error"],
      ["Error: permission denied for read on /secrets", "error"],
    ]);
  });

  it("hold with files in the state of the thread", async () => {
    const { agent } = callingAgent(
      [
        ["write_file", { file_path: "/workspace/a", content: "x" }],
        ["write_file", { file_path: "/b", content: "x" }],
      ],
      { permissions: WORKSPACE },
    );
    const { files } = await agent.invoke(ask());
    expect(Object.keys(files)).toEqual(["/workspace/a"]);
  });

  it("keep what can be checked in a path of one's own beside them", async () => {
    const validatePath = (path: string): string => {
      if (path.includes("/.env")) throw new Error("Access to sensitive paths is forbidden");
      return path;
    };
    const answers = await answersOf(
      [
        ["read_file", { file_path: "/workspace/.env" }],
        ["read_file", { file_path: "/notes.md" }],
      ],
      {
        backend: new MapBackend(FILES),
        permissions: [rule("deny", "/notes.md")],
        middleware: [createFilesystemMiddleware({ validatePath })] as never,
      },
    );
    expect(answers[0]).toContain("sensitive paths");
    expect(answers[1]).toBe("Error: permission denied for read on /notes.md");
  });
});

const long = tool(async () => "long line of a result\n".repeat(8000), {
  name: "fetch_all",
  description: "Gives much.",
  schema: z.object({}),
});

const PLACES_OF_RESULTS: Readonly<Record<string, () => BackendProtocol>> = {
  shared: () => new MapBackend(),
  disk: () => onDisk({}),
  host: () => onHost({}),
};

describe.each(PATTERNS)("under rules for %s", (_, permissions) => {
  it.each(["state", "shared", "disk", "host"])(
    "a long result is put aside and can be read again, on %s",
    async (place) => {
      const backend = PLACES_OF_RESULTS[place]?.();
      let path = "";
      const model = scriptedModel(({ messages, turn }) => {
        if (turn === 0) return callTool("fetch_all", {});
        if (turn === 2) return say("done");
        path = /\/[\w./-]*large_tool_results\/[\w-]+/.exec(messages.at(-1)?.text ?? "")?.[0] ?? "";
        const calls = [
          callTool("read_file", { file_path: path, limit: 3 }),
          callTool("grep", { pattern: "long line", path, max_count: 2 }),
          callTool("ls", { path: parentPath(path) }),
        ];
        return { toolCalls: calls.flatMap(({ toolCalls }) => toolCalls ?? []) };
      });
      const agent = createDeepAgent({ model, tools: [long], permissions, backend: backend ?? null });
      const { messages } = await agent.invoke(ask());
      const [, read, found, listed] = resultsIn(messages).map(({ text }) => text);
      expect(path).not.toBe("");
      expect(read).toContain("long line of a result");
      expect(found).toContain("long line of a result");
      expect(listed).toContain(path);
    },
  );

  it("the record of a conversation is written, and the agent can read it", async () => {
    const window = 6000;
    let path = "";
    const model = strictModel(window, ({ messages }) => {
      const text = messages.map((message) => message.text).join("\n");
      path = /\/conversation_history\/[\w.*-]+\.md/.exec(text)?.[0] ?? path;
      return messages.at(-1)?.text.startsWith("read")
        ? callTool("read_file", { file_path: path, limit: 5 })
        : say(`answer ${"word ".repeat(100)}`);
    });
    const agent = compactingAgent({
      model,
      summary: { model: summariser() as never },
      agent: { backend: new MapBackend(), permissions },
    });
    await converse(agent, 30);
    expect(path).not.toBe("");
    const { messages } = await agent.invoke(ask("read it"), onThread("t"));
    expect(resultsIn(messages).at(-1)?.text).toContain("archived");
    expect(resultsIn(messages).at(-1)?.status).not.toBe("error");
  });

  it.each([
    ["a map", (files: Record<string, string>) => new MapBackend(files)],
    ["a disk", onDisk],
  ])("memory and skills are loaded, whatever the agent itself may read, on %s", async (_place, make) => {
    const backend = make({
      "/AGENTS.md": "Always whistle.",
      "/skills/baking/SKILL.md": skillText("baking"),
    });
    const { agent, model } = callingAgent([], {
      backend,
      permissions,
      memory: ["/AGENTS.md"],
      skills: ["/skills/"],
    });
    await agent.invoke(ask());
    expect(model.calls[0]?.messages[0]?.text).toContain("Always whistle.");
    expect(model.calls[0]?.messages[0]?.text).toContain("baking");
  });
});

describe("what the harness puts aside", () => {
  it("of another thread is not readable", async () => {
    const backend = new MapBackend({
      "/large_tool_results/other": "of another thread",
      "/conversation_history/other.md": "of another thread",
    });
    const answers = await answersOf(
      [
        ["read_file", { file_path: "/large_tool_results/other" }],
        ["read_file", { file_path: "/conversation_history/other.md" }],
        ["grep", { pattern: "another", path: "/conversation_history" }],
        ["ls", { path: "/large_tool_results" }],
      ],
      { backend, permissions: WORKSPACE, checkpointer: new MemorySaver() },
      onThread("mine"),
    );
    expect(answers.slice(0, 2).every((text) => text.startsWith("Error: permission denied"))).toBe(true);
    expect(answers.join()).not.toContain("of another thread");
  });

  it("is not readable where a rule names it", async () => {
    for (const path of ["/large_tool_results/**", "/{large_tool_results,x}/*", "/large_tool_results"]) {
      const answers = await answersOf(
        [
          ["fetch_all", {}],
          ["ls", { path: "/large_tool_results" }],
          ["grep", { pattern: "long line", path: "/" }],
        ],
        { tools: [long], permissions: [rule("deny", path, ["read"])] },
      );
      expect(answers[0]).toContain("/large_tool_results/");
      expect(answers[2]).not.toContain("of a result");
    }
  });

  it("cannot be written by the agent", async () => {
    const calls = [["write_file", { file_path: "/large_tool_results/x", content: "x" }]] as const;
    expect(await verdictsOf(calls, { permissions: READ_ONLY })).toEqual(["denied"]);
  });
});

describe("memory", () => {
  it("that is read only by permission stays as it is, and in the prompt", async () => {
    const backend = new MapBackend({ "/AGENTS.md": "Always whistle." });
    const { agent, model } = callingAgent(
      [
        ["edit_file", { file_path: "/AGENTS.md", old_string: "Always", new_string: "Never" }],
        ["write_file", { file_path: "/notes.md", content: "mine" }],
      ],
      { backend, memory: ["/AGENTS.md"], permissions: MEMORY },
    );
    const results = resultsIn((await agent.invoke(ask())).messages);
    expect(results.map(({ text }) => text)).toEqual([
      "Error: permission denied for write on /AGENTS.md",
      expect.stringContaining("/notes.md"),
    ]);
    for (const call of model.calls) expect(call.messages[0]?.text).toContain("Always whistle.");
    expect(await backend.read("/AGENTS.md")).toMatchObject({ content: "Always whistle." });
  });

  it("that was declared is not thereby readable by the agent", async () => {
    const answers = await answersOf([["read_file", { file_path: "/AGENTS.md" }]], {
      backend: new MapBackend({ "/AGENTS.md": "Always whistle." }),
      memory: ["/AGENTS.md"],
      permissions: WORKSPACE,
    });
    expect(answers).toEqual(["Error: permission denied for read on /AGENTS.md"]);
  });

  it("of directories nobody declared is not told where it may not be read", async () => {
    const backend = new MapBackend({ "/AGENTS.md": "secret rule", "/workspace/AGENTS.md": "open rule" });
    const { agent, model } = callingAgent([["ls", { path: "/workspace" }]], {
      backend,
      permissions: WORKSPACE,
      middleware: [createMemoryMiddleware({ sources: [] })] as never,
    });
    await agent.invoke(ask());
    const sent = JSON.stringify(model.calls.at(-1)?.messages.map((message) => message.text));
    expect(sent).toContain("open rule");
    expect(sent).not.toContain("secret rule");
  });
});

describe("a FilesystemMiddleware in place of the built-in one", () => {
  const calls = [
    ["read_file", { file_path: "/secrets/key.txt" }],
    ["read_file", { file_path: "/notes.md" }],
  ] as const;
  const permissions = [rule("deny", "/secrets/**")];
  const replacements = {
    "with the agent's backend": createFilesystemMiddleware({ tools: ["read_file"] }),
    "with a backend of its own": createFilesystemMiddleware({ backend: new MapBackend(FILES) }),
    "with a factory of its own": createFilesystemMiddleware({ backend: () => new MapBackend(FILES) }),
    "with no rules of its own": createFilesystemMiddleware({ permissions: [] }),
    "with rules that allow": createFilesystemMiddleware({ permissions: [rule("allow", "/**")] }),
  };

  it.each(Object.entries(replacements))("%s cannot drop the permissions", async (_, middleware) => {
    const options = { backend: new MapBackend(FILES), permissions, middleware: [middleware] as never };
    expect(await verdictsOf(calls, options)).toEqual(["denied", "done"]);
  });

  it("can add rules of its own", async () => {
    const middleware = createFilesystemMiddleware({ permissions: [rule("deny", "/notes.md")] });
    const options = { backend: new MapBackend(FILES), permissions, middleware: [middleware] as never };
    expect(await verdictsOf(calls, options)).toEqual(["denied", "denied"]);
    expect(await verdictsOf(calls, { ...options, permissions: [] })).toEqual(["done", "denied"]);
  });

  it("holds its rules in LangChain's own loop", async () => {
    const agent = createAgent({
      model: scriptedModel([...calls.map(([name, args]) => callTool(name, args)), say("done")]),
      middleware: [createFilesystemMiddleware({ backend: new MapBackend(FILES), permissions })],
    });
    const { messages } = await agent.invoke(ask() as never);
    const [denied, read] = resultsIn(messages as never).map(({ text }) => text);
    expect(denied).toBe("Error: permission denied for read on /secrets/key.txt");
    expect(read).toContain("needle in the notes");
  });

  it("that is none of ours is refused beside permissions", () => {
    const stranger = createMiddleware({ name: "filesystemMiddleware", tools: [] });
    const make = (given: FilesystemPermission[]) => () =>
      createDeepAgent({ model: scriptedModel([]), permissions: given, middleware: [stranger] });
    expect(make(permissions)).toThrow(expect.objectContaining({ code: "INVALID_PERMISSION" }));
    expect(make([])).not.toThrow();
  });
});
