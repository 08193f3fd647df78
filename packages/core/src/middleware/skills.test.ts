import { utimesSync } from "node:fs";
import { join } from "node:path";
import type { BaseMessage } from "@langchain/core/messages";
import { MemorySaver, StateSchema } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, it, vi } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { StateBackend } from "../backends/state/state.ts";
import { INHERIT } from "../internal-symbols.ts";
import { skillText, temporaryDirectory, writeTree } from "../skills/skill-files-for-tests.ts";
import type { SkillWarning } from "../skills/skill-metadata.ts";
import { skillsMetadataValue } from "../skills/skills-value.ts";
import { type ScriptedModelOptions, scriptedModel } from "../testing/index.ts";
import { createFilesystemMiddleware } from "./filesystem.ts";
import { createSkillsMiddleware, type SkillsMiddlewareOptions } from "./skills.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const user = (content: string) => ({ messages: [{ role: "user" as const, content }] });
const file = (content: string) => ({ content, mimeType: "text/markdown", created_at: NOW, modified_at: NOW });

function onDisk(files: Record<string, string>) {
  const root = temporaryDirectory();
  writeTree(root, files);
  return { root, backend: new FilesystemBackend({ rootDir: root, virtualMode: true }) };
}

function agentWith(
  turns: ScriptedModelOptions["turns"],
  backend: FilesystemBackend | StateBackend,
  options: Partial<SkillsMiddlewareOptions> = {},
) {
  const warnings: SkillWarning[] = [];
  const model = scriptedModel({ turns, whenDone: "done" });
  const agent = createDeepAgent({
    model,
    backend,
    checkpointer: new MemorySaver(),
    middleware: [
      createSkillsMiddleware({
        backend,
        sources: ["/skills/"],
        onWarning: (warning) => warnings.push(warning),
        ...options,
      }),
    ],
  });
  const systemOf = (call: number): string => model.calls[call]?.messages[0]?.text ?? "";
  return { agent, model, warnings, systemOf };
}

const thread = (id: string) => ({ configurable: { thread_id: id } });
const textsOf = (messages: readonly BaseMessage[] | undefined): string[] =>
  (messages ?? []).map((message) => message.text);
const calling = (name: string, args: Record<string, unknown>) => ({ toolCalls: [{ name, args }] });

describe("an agent with skills", () => {
  it("is told of them, reads one when it fits, and reaches its helper files", async () => {
    const { backend } = onDisk({
      "/skills/pdf/SKILL.md": skillText("pdf", "Fills in forms."),
      "/skills/pdf/scripts/fill.py": "print('filled')",
    });
    const { agent, model, systemOf } = agentWith(
      [
        calling("read_file", { file_path: "/skills/pdf/SKILL.md" }),
        calling("read_file", { file_path: "/skills/pdf/scripts/fill.py" }),
        "filled in",
      ],
      backend,
    );
    await agent.invoke(user("fill in this form"), thread("one"));
    expect(systemOf(0)).toContain("- pdf (/skills/pdf/SKILL.md): Fills in forms.");
    expect(systemOf(0)).not.toContain("Follow these steps");
    expect(textsOf(model.calls[1]?.messages).at(-1)).toContain("Follow these steps");
    expect(textsOf(model.calls[2]?.messages).at(-1)).toContain("print('filled')");
    expect(systemOf(2)).toBe(systemOf(0));
  });

  it("takes them from the state of the thread too", async () => {
    const { agent, systemOf } = agentWith(["hello"], new StateBackend());
    const files = { "/skills/pdf/SKILL.md": file(skillText("pdf")) };
    await agent.invoke({ ...user("hi"), files }, thread("one"));
    expect(systemOf(0)).toContain("- pdf (/skills/pdf/SKILL.md): Does pdf things.");
  });

  it("sees in the next run what was changed since the last, in the same thread and in others", async () => {
    const { root, backend } = onDisk({ "/skills/pdf/SKILL.md": skillText("pdf", "one") });
    const earlier = new Date(Date.now() - 60_000);
    utimesSync(join(root, "/skills/pdf/SKILL.md"), earlier, earlier);
    const { agent, systemOf } = agentWith(["a", "b", "c", "d"], backend);
    await agent.invoke(user("1"), thread("one"));
    await agent.invoke(user("2"), thread("one"));
    writeTree(root, {
      "/skills/pdf/SKILL.md": skillText("pdf", "two"),
      "/skills/web/SKILL.md": skillText("web"),
    });
    await agent.invoke(user("3"), thread("one"));
    await agent.invoke(user("4"), thread("two"));
    expect(systemOf(1)).toBe(systemOf(0));
    expect(systemOf(2)).toContain("- pdf (/skills/pdf/SKILL.md): two\n- web");
    expect(systemOf(3)).toBe(systemOf(2));
  });

  it("keeps its prompt within a run, and is reminded of what it changed itself", async () => {
    const { backend } = onDisk({ "/skills/pdf/SKILL.md": skillText("pdf") });
    const { agent, model, systemOf, warnings } = agentWith(
      [
        calling("write_file", {
          file_path: "/skills/web/SKILL.md",
          content: skillText("web", "Reads the web."),
        }),
        calling("write_file", { file_path: "/skills/web/notes.md", content: "no skill" }),
        calling("write_file", { file_path: "/skills/bad/SKILL.md", content: "no front matter" }),
        "done",
        "next",
      ],
      backend,
    );
    await agent.invoke(user("make a skill"), thread("one"));
    for (const call of [1, 2, 3]) expect(systemOf(call)).toBe(systemOf(0));
    expect(textsOf(model.calls[1]?.messages).at(-1)).toContain(
      "- web (/skills/web/SKILL.md): Reads the web. (new)",
    );
    expect(textsOf(model.calls[2]?.messages).at(-1)).not.toContain("skills have changed");
    expect(textsOf(model.calls[3]?.messages).at(-1)).toContain("'/skills/bad/SKILL.md' was skipped");
    expect(warnings.map(({ path }) => path)).toEqual(["/skills/bad/SKILL.md"]);
    await agent.invoke(user("go on"), thread("one"));
    expect(systemOf(4)).toContain("- web (/skills/web/SKILL.md): Reads the web.");
  });

  it("is reminded once of what several calls of a turn did", async () => {
    const files = { "/skills/pdf/SKILL.md": file(skillText("pdf")) };
    const both = {
      toolCalls: ["web", "doc"].map((name) => ({
        name: "write_file",
        args: { file_path: `/skills/${name}/SKILL.md`, content: skillText(name) },
      })),
    };
    const { agent, model } = agentWith([both, "done"], new StateBackend());
    await agent.invoke({ ...user("two skills"), files }, thread("one"));
    const said = textsOf(model.calls[1]?.messages).join("\n");
    expect(said.match(/- web \(/g)).toHaveLength(1);
    expect(said.match(/- doc \(/g)).toHaveLength(1);
  });

  it("warns of what it could not load, once", async () => {
    const { backend } = onDisk({ "/skills/pdf/SKILL.md": skillText("pdf"), "/skills/bad/SKILL.md": "x" });
    const { agent, warnings } = agentWith(["a", "b"], backend, { sources: ["/skills/", "/nowhere"] });
    await agent.invoke(user("1"), thread("one"));
    await agent.invoke(user("2"), thread("two"));
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([
      ["SOURCE_NOT_FOUND", "/nowhere"],
      ["INVALID_FRONT_MATTER", "/skills/bad/SKILL.md"],
    ]);
  });

  it("shows warnings on the console where nobody else takes them", async () => {
    const shown = vi.spyOn(console, "warn").mockImplementation(() => {});
    try {
      const { agent } = agentWith(["a"], onDisk({}).backend, { onWarning: null });
      await agent.invoke(user("1"), thread("one"));
      expect(shown.mock.calls.flat().join()).toMatch(/'\/skills' .*SOURCE_NOT_FOUND/);
    } finally {
      shown.mockRestore();
    }
  });

  it("says nothing of skills when there are none, or when the model cannot read", async () => {
    const empty = agentWith(["a"], onDisk({ "/skills/readme.md": "x" }).backend);
    await empty.agent.invoke(user("1"), thread("one"));
    expect(empty.systemOf(0)).not.toContain("## Skills");
    const { backend } = onDisk({ "/skills/pdf/SKILL.md": skillText("pdf") });
    const model = scriptedModel({ turns: ["a"] });
    const middleware = [
      createFilesystemMiddleware({ backend, tools: ["ls"] }),
      createSkillsMiddleware({ backend, sources: ["/skills/"] }),
    ];
    await createDeepAgent({ model, backend, middleware }).invoke(user("1"));
    expect(model.calls[0]?.messages[0]?.text).not.toContain("## Skills");
  });

  it("keeps nothing of them in the thread and takes no extra step", async () => {
    const { backend } = onDisk({ "/skills/pdf/SKILL.md": skillText("pdf", "A description to look for.") });
    const saver = new MemorySaver();
    const stepsOf = async (sources: readonly string[]): Promise<number> => {
      const model = scriptedModel({ turns: ["a"] });
      const middleware = [createSkillsMiddleware({ backend, sources })];
      const agent = createDeepAgent({ model, backend, checkpointer: saver, middleware });
      const id = `thread-${sources.length}`;
      await agent.invoke(user("1"), thread(id));
      let steps = 0;
      for await (const { checkpoint } of saver.list(thread(id))) {
        expect(JSON.stringify(checkpoint)).not.toContain("A description to look for.");
        steps += 1;
      }
      return steps;
    };
    expect(await stepsOf(["/skills"])).toBe(await stepsOf([]));
  });
});

describe("createSkillsMiddleware", () => {
  it("has the name programs know", () => {
    expect(createSkillsMiddleware({ sources: [] }).name).toBe("SkillsMiddleware");
  });

  it("works in LangChain's own loop too", async () => {
    const { backend } = onDisk({ "/skills/pdf/SKILL.md": skillText("pdf") });
    const write = { file_path: "/skills/web/SKILL.md", content: skillText("web") };
    const model = scriptedModel({ turns: [calling("write_file", write), "done"] });
    const middleware = [
      createFilesystemMiddleware({ backend }),
      createSkillsMiddleware({ backend, sources: ["/skills"] }),
    ];
    await createAgent({ model, systemPrompt: "Work.", middleware } as never).invoke(user("go") as never);
    expect(model.calls[0]?.messages[0]?.text).toContain("- pdf (/skills/pdf/SKILL.md)");
    expect(textsOf(model.calls[1]?.messages).join("\n")).toContain("- web (/skills/web/SKILL.md)");
  });

  it("takes over the backend of the agent", () => {
    const { backend } = onDisk({});
    const inherited = createSkillsMiddleware({ sources: ["/skills"] })[INHERIT]?.({ backend });
    expect(inherited?.name).toBe("SkillsMiddleware");
    const { fields } = (inherited?.stateSchema ?? {}) as { fields?: object };
    expect(Object.keys(fields ?? {})).toEqual(["skillsMetadata", "_reminders"]);
  });

  it.each([
    [{ sources: ["/skills"], source: 1 }, "UNKNOWN_OPTION"],
    [{}, "INVALID_OPTION"],
    [{ sources: ["../skills"] }, "INVALID_OPTION"],
    [undefined, "INVALID_OPTION"],
    [null, "INVALID_OPTION"],
    ["/skills", "INVALID_OPTION"],
    [{ sources: ["~ann/skills"] }, "INVALID_OPTION"],
    [{ sources: [], onWarning: 5 }, "INVALID_OPTION"],
    [{ sources: [], listTokens: "5" }, "INVALID_OPTION"],
    [{ sources: [1] }, "INVALID_OPTION"],
    [{ sources: [], listTokens: 0 }, "INVALID_OPTION"],
  ])("refuses %j", (options, code) => {
    expect(() => createSkillsMiddleware(options as never)).toThrow(
      expect.objectContaining({ code, name: "ConfigurationError" }),
    );
  });

  it("names an unusable directory in words that fit the option of an agent too", () => {
    const words = "The skill directory '../x' cannot be used";
    expect(() => createSkillsMiddleware({ sources: ["../x"] })).toThrow(words);
    expect(() => createDeepAgent({ model: scriptedModel(["hi"]), skills: ["../x"] })).toThrow(words);
  });

  it("takes a home directory", async () => {
    const backend = new MapBackend({ [`${process.env.HOME}/skills/pdf/SKILL.md`]: skillText("pdf") });
    const model = scriptedModel(["hi"]);
    await createDeepAgent({ model, backend, skills: ["~/skills"] }).invoke(user("go"));
    expect(model.calls[0]?.messages[0]?.text).toContain("- pdf");
  });

  it("lets a program keep `skillsMetadata` in the state, and depends on nothing there", async () => {
    const { backend } = onDisk({ "/skills/pdf/SKILL.md": skillText("pdf") });
    const own = createMiddleware({
      name: "Own",
      stateSchema: new StateSchema({ skillsMetadata: skillsMetadataValue }),
      afterAgent: () => ({ skillsMetadata: null }),
    });
    const model = scriptedModel({ turns: ["a", "b"] });
    const agent = createDeepAgent({
      model,
      backend,
      checkpointer: new MemorySaver(),
      middleware: [createSkillsMiddleware({ backend, sources: ["/skills/"] }), own],
    });
    const input = { ...user("1"), skillsMetadata: null };
    await agent.invoke(input, thread("one"));
    await agent.graph.updateState(thread("one"), { skillsMetadata: null });
    await agent.invoke(user("2"), thread("one"));
    expect(model.calls[1]?.messages[0]?.text).toContain("- pdf");
  });
});
