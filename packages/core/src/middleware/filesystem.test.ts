import { AIMessage, SystemMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../agent.ts";
import type { BackendProtocol, SandboxBackendProtocol } from "../backends/backend.ts";
import { StateBackend } from "../backends/state/state.ts";
import { INHERIT } from "../internal-symbols.ts";
import { stagesOf } from "../loop/contract/stages.ts";
import { type RecordedCall, scriptedModel } from "../testing/index.ts";
import { createFilesystemMiddleware, EXECUTION_SYSTEM_PROMPT, FILESYSTEM_TOOL_NAMES } from "./filesystem.ts";
import { createTodoListMiddleware } from "./todo-list.ts";

const descriptionIn = (middleware: { tools?: readonly unknown[] }): unknown =>
  (middleware.tools?.[0] as { description?: string } | undefined)?.description;

const namesIn = (middleware: { tools?: readonly unknown[] }): string[] =>
  (middleware.tools ?? []).map((tool) => (tool as { name: string }).name);

const readOnly = { ls: () => ({ files: [] }) } as unknown as BackendProtocol;
const sandbox = {
  ls: () => ({ files: [] }),
  id: "box",
  commandNote: "Write ./a for /a.",
  execute: (command: string) => ({ output: `ran ${command}`, exitCode: 0, truncated: false }),
} as unknown as SandboxBackendProtocol;
const section = (
  middleware: ReturnType<typeof createFilesystemMiddleware>,
  visible: readonly string[],
): string => stagesOf(middleware)?.prompt?.(new Set(visible)) ?? "";

describe("createFilesystemMiddleware", () => {
  it("offers all file tools on the state of the thread", () => {
    const middleware = createFilesystemMiddleware();
    expect(middleware.name).toBe("FilesystemMiddleware");
    expect(namesIn(middleware)).toEqual([
      "ls",
      "read_file",
      "write_file",
      "edit_file",
      "delete",
      "glob",
      "grep",
    ]);
    expect(Object.keys(middleware.stateSchema?.fields ?? {})).toEqual(["files"]);
  });

  it("adds the channel only where files may be in the state", () => {
    expect(createFilesystemMiddleware({ backend: null }).stateSchema).toBeDefined();
    expect(createFilesystemMiddleware({ backend: () => new StateBackend() }).stateSchema).toBeDefined();
    expect(createFilesystemMiddleware({ backend: StateBackend }).stateSchema).toBeDefined();
    expect(createFilesystemMiddleware({ backend: readOnly }).stateSchema).toBeUndefined();
  });

  it("offers delete only where the backend can, or might", () => {
    expect(namesIn(createFilesystemMiddleware({ backend: readOnly }))).not.toContain("delete");
    expect(namesIn(createFilesystemMiddleware({ backend: () => readOnly }))).toContain("delete");
  });

  it.each([
    [["read_file", "ls"] as const, ["ls", "read_file"]],
    [["read_file", "execute"] as const, ["read_file"]], // the state runs no commands
    [[] as const, []],
    ["all" as const, ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"]],
    [null, ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"]],
  ])("tools: %j offers %j", (tools, expected) =>
    expect(namesIn(createFilesystemMiddleware({ tools }))).toEqual(expected),
  );

  it("takes other words for a tool", () => {
    const middleware = createFilesystemMiddleware({ customToolDescriptions: { ls: "Look around." } });
    expect(descriptionIn(middleware)).toBe("Look around.");
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["an unknown option", { backends: 1 }, "UNKNOWN_OPTION"],
    [
      "permissions that are none",
      { permissions: [{ operations: ["read"], paths: [] }] },
      "INVALID_PERMISSION",
    ],
    ["a tool that does not exist", { tools: ["red_file"] }, "INVALID_OPTION"],
    ["a time without length", { maxExecuteTimeout: 0 }, "INVALID_OPTION"],
    ["tools that are no list", { tools: "ls" }, "INVALID_OPTION"],
    ["words for a tool that does not exist", { customToolDescriptions: { lz: "x" } }, "INVALID_OPTION"],
  ])("refuses %s", (_name, options, code) => {
    expect(() => createFilesystemMiddleware(options)).toThrow(expect.objectContaining({ code }));
  });

  it("speaks in the prompt only of tools the model can see", () => {
    const middleware = createFilesystemMiddleware();
    for (let bits = 0; bits < 2 ** FILESYSTEM_TOOL_NAMES.length; bits++) {
      const visible = FILESYSTEM_TOOL_NAMES.filter((_, index) => bits & (1 << index));
      const words = section(middleware, visible);
      for (const name of FILESYSTEM_TOOL_NAMES)
        if (!visible.includes(name)) expect(words).not.toMatch(new RegExp(`\`${name}\`|\\b${name}\\(`));
    }
    expect(section(middleware, ["task"])).toBe("");
    expect(section(middleware, FILESYSTEM_TOOL_NAMES)).toMatchInlineSnapshot(`
      "## Files
      Paths are absolute and begin with \`/\`.
      Find what you need with \`glob\` and \`grep\` before you read it.
      Keep long results and notes in files instead of messages.

      ## Commands
      \`execute\` runs a command in a shell. Nobody can answer its questions: use flags that avoid them.
      Each command starts anew: directory and variables do not last. Put paths with spaces in quotes."
    `);
    expect(section(middleware, ["execute"])).toBe(EXECUTION_SYSTEM_PROMPT);
  });

  it("takes other words for the prompt, or none", () => {
    expect(section(createFilesystemMiddleware({ systemPrompt: "Mine." }), ["ls"])).toBe("Mine.");
    expect(section(createFilesystemMiddleware({ systemPrompt: "" }), ["ls"])).toBe("");
  });

  it("appends the same words in a loop that does not know about sections", async () => {
    const middleware = createFilesystemMiddleware({ systemPrompt: "About files." });
    const request = {
      ...{ tools: middleware.tools, systemMessage: new SystemMessage("You are.") },
      ...{ messages: [], model: scriptedModel([]), state: {}, runtime: {} },
    };
    let seen: any;
    await middleware.wrapModelCall?.(
      request as never,
      (async (given: unknown) => {
        seen = given;
        return new AIMessage("done");
      }) as never,
    );
    expect(seen.systemMessage.text).toContain("About files.");
  });

  it.each(["toolTokenLimitBeforeEvict", "humanMessageTokenLimitBeforeEvict"])(
    "takes tokens or null as %s",
    (name) => {
      expect(() => createFilesystemMiddleware({ [name]: null })).not.toThrow();
      expect(() => createFilesystemMiddleware({ [name]: 100 })).not.toThrow();
      for (const value of [0, -1, Number.NaN, "many"])
        expect(() => createFilesystemMiddleware({ [name]: value as number })).toThrow(name);
    },
  );

  it("takes the backend of the agent when it was given none", () => {
    const inherited = createFilesystemMiddleware({ overwrite: true })[INHERIT]?.({ backend: readOnly });
    expect(inherited?.stateSchema).toBeUndefined();
    const own = createFilesystemMiddleware({ backend: new StateBackend() })[INHERIT]?.({ backend: readOnly });
    expect(own?.stateSchema).toBeDefined();
  });
});

const NO_TEAM = { subAgentMiddleware: false } as const;

describe("execute", () => {
  it("is offered where the backend can run commands", () => {
    expect(namesIn(createFilesystemMiddleware({ backend: sandbox })).at(-1)).toBe("execute");
    expect(namesIn(createFilesystemMiddleware({ backend: sandbox, tools: ["ls"] }))).toEqual(["ls"]);
    const wrapped = { ...sandbox, id: "" } as SandboxBackendProtocol;
    expect(namesIn(createFilesystemMiddleware({ backend: wrapped }))).not.toContain("execute");
  });

  it("is explained with what the backend says about its paths", () => {
    const words = section(createFilesystemMiddleware({ backend: sandbox }), ["execute"]);
    expect(words).toBe(`${EXECUTION_SYSTEM_PROMPT}\nWrite ./a for /a.`);
  });

  it.each<[string, BackendProtocol, string[]]>([
    ["runs commands", sandbox, ["ls", "execute"]],
    ["cannot", new StateBackend(), ["ls", "delete"]],
    ["can only list", readOnly, ["ls"]],
  ])("of a factory whose backend %s: the model sees what can be done", async (_name, backend, expected) => {
    const model = scriptedModel(["done"]);
    const agent = createDeepAgent({
      model,
      backend: async () => backend,
      middleware: [createFilesystemMiddleware({ tools: ["ls", "delete", "execute"] }), NO_TEAM],
    });
    await agent.invoke({ messages: [{ role: "user", content: "go" }] });
    const { messages, tools } = model.calls[0] as RecordedCall;
    expect(
      tools.map((tool) => (tool as { name: string }).name).filter((name) => name !== "write_todos"),
    ).toEqual(expected);
    const prompt = messages[0]?.text ?? "";
    expect(prompt).toContain("## Files");
    expect(prompt.includes("`execute`")).toBe(expected.includes("execute"));
    expect(prompt.includes("Write ./a for /a.")).toBe(expected.includes("execute"));
  });

  it("leaves tools of the user alone that have the same name", async () => {
    const model = scriptedModel(["done"]);
    const own = new DynamicStructuredTool({
      name: "delete",
      description: "Mine.",
      schema: z.object({}),
      func: async () => "",
    });
    const agent = createDeepAgent({
      model,
      backend: () => readOnly,
      tools: [own],
      middleware: [createFilesystemMiddleware({ tools: ["execute"] }), NO_TEAM],
    });
    await agent.invoke({ messages: [{ role: "user", content: "go" }] });
    expect(model.calls[0]?.tools.map((tool) => (tool as { name: string }).name)).toEqual([
      "delete",
      "write_todos",
    ]);
  });
});

describe("createTodoListMiddleware", () => {
  it("brings a tool, a list that begins empty and a section that needs the tool", () => {
    const middleware = createTodoListMiddleware();
    expect(middleware.name).toBe("todoListMiddleware");
    expect(namesIn(middleware)).toEqual(["write_todos"]);
    expect(middleware.stateSchema.getChannels().todos.get()).toEqual([]);
    expect(section(middleware, ["write_todos"])).toContain("`write_todos`");
    expect(section(middleware, ["ls"])).toBe("");
  });

  it("takes other words", () => {
    const middleware = createTodoListMiddleware({ systemPrompt: "Plan.", toolDescription: "Note." });
    expect(section(middleware, ["write_todos"])).toBe("Plan.");
    expect(descriptionIn(middleware)).toBe("Note.");
  });

  it("refuses an unknown option", () => {
    expect(() => createTodoListMiddleware({ prompt: "x" } as never)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_OPTION" }),
    );
  });
});

describe("what the built-in tools cost", () => {
  it("stays well under 2,000 tokens, prompt sections included", () => {
    const both = [createFilesystemMiddleware(), createTodoListMiddleware()];
    const definitions = both.flatMap((middleware) =>
      (middleware.tools ?? []).map((tool) => JSON.stringify(convertToOpenAITool(tool as never))),
    );
    const visible = new Set(both.flatMap(namesIn));
    const words = both.map((middleware) => stagesOf(middleware)?.prompt?.(visible) ?? "");
    expect([...definitions, ...words].join("").length / 4).toBeLessThan(1500);
  });
});
