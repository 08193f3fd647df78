import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import {
  ask,
  compactingAgent,
  compactionOf,
  conversations,
  isSummary,
  strictModel,
  summariser,
  talk,
  thread,
  words,
} from "../context/fixtures/agents-for-tests.ts";
import { ConfigurationError } from "../errors.ts";
import { INHERIT, STAGES } from "../internal-symbols.ts";
import { callTool, say, scriptedModel } from "../testing/index.ts";
import { computeSummarizationDefaults, createSummarizationMiddleware } from "./summarization.ts";

function expectRefusal(options: unknown, code: string): void {
  const create = (): unknown => createSummarizationMiddleware(options as never);
  expect(create).toThrow(ConfigurationError);
  expect(create).toThrow(expect.objectContaining({ code }));
}

describe("createSummarizationMiddleware", () => {
  it("has its name, its stages, and one private key of the state", () => {
    const middleware = createSummarizationMiddleware({ backend: new MapBackend() });
    expect(middleware.name).toBe("SummarizationMiddleware");
    expect(Object.keys(middleware[STAGES] ?? {})).toEqual(["view", "failed", "reply"]);
    const { fields } = middleware.stateSchema as unknown as { fields: object };
    expect(Object.keys(fields)).toEqual(["_compaction"]);
  });

  it("brings the files of the state where its record may be kept there", () => {
    const { fields } = createSummarizationMiddleware().stateSchema as unknown as { fields: object };
    expect(Object.keys(fields)).toEqual(["_compaction", "files"]);
  });

  it("takes the backend of the agent when it was given none", () => {
    const inherited = createSummarizationMiddleware()[INHERIT]?.({ backend: new MapBackend() });
    const { fields = {} } = (inherited?.stateSchema ?? {}) as { fields?: object };
    expect(Object.keys(fields)).toEqual(["_compaction"]);
  });

  it.each<[string, object, string]>([
    ["an unknown option", { triger: 1 }, "UNKNOWN_OPTION"],
    ["a trigger that is no size", { trigger: { percent: 3 } }, "INVALID_OPTION"],
    ["a list with one that is none", { trigger: [{ tokens: 3 }, {}] }, "INVALID_OPTION"],
    ["a keep that is no size", { keep: ["fraction", 3] }, "INVALID_OPTION"],
    ["a model that is none", { model: 3 }, "INVALID_OPTION"],
    ["a relative directory", { historyPathPrefix: "history" }, "INVALID_OPTION"],
    ["no time", { summaryTimeout: 0 }, "INVALID_OPTION"],
    ["a time that is text", { summaryTimeout: "5" }, "INVALID_OPTION"],
    ["a size in settings for arguments", { truncateArgsSettings: { trigger: {} } }, "INVALID_OPTION"],
    ["an unknown setting for arguments", { truncateArgsSettings: { max: 5 } }, "UNKNOWN_OPTION"],
    ["a length below nothing", { truncateArgsSettings: { maxLength: -1 } }, "INVALID_OPTION"],
    ["a length that is text", { truncateArgsSettings: { maxLength: "x" } }, "INVALID_OPTION"],
    ["a number for text", { truncateArgsSettings: { truncationText: 5 } }, "INVALID_OPTION"],
    ["settings for arguments that are none", { truncateArgsSettings: true }, "INVALID_OPTION"],
    ["a prompt that is no text", { summaryPrompt: 5 }, "INVALID_OPTION"],
    ["a directory above the root", { historyPathPrefix: "/../hist" }, "INVALID_OPTION"],
    ["a directory that is no text", { historyPathPrefix: 5 }, "INVALID_OPTION"],
    ["a size with a member that is none", { trigger: { tokens: 5, foo: 1 } }, "INVALID_OPTION"],
    ["a size in two forms", { trigger: { type: "tokens", value: 5, messages: 1 } }, "INVALID_OPTION"],
    ["a path for a backend", { backend: "/x" }, "INVALID_OPTION"],
    ["a number for a backend", { backend: 5 }, "INVALID_OPTION"],
    ["a list for options", [], "INVALID_OPTION"],
  ])("refuses %s", (_name, options, code) => expectRefusal(options, code));

  it("refuses null for its options", () => expectRefusal(null, "INVALID_OPTION"));

  it.each<[object, string]>([
    [{ summaryPrompt: 5 }, "The option 'summaryPrompt' must be text, not 5."],
    [
      { truncateArgsSettings: { maxLength: -1 } },
      "The option 'truncateArgsSettings.maxLength' must be a number above 0, not -1.",
    ],
    [{ backend: "/x" }, "The option 'backend' must be a backend or a function that makes one, not '/x'."],
  ])("names the option and what it must be: %j", (options, message) =>
    expect(() => createSummarizationMiddleware(options)).toThrow(message),
  );

  it("takes null for absent", () => {
    const nothing = { model: null, backend: null, trigger: null, keep: null, summaryPrompt: null };
    expect(() => createSummarizationMiddleware(nothing)).not.toThrow();
  });
});

describe("computeSummarizationDefaults", () => {
  it("is 85 % and 10 % of a known window", () => {
    const model = scriptedModel([], { profile: { maxInputTokens: 1000 } });
    expect(computeSummarizationDefaults(model)).toMatchObject({
      trigger: { type: "fraction", value: 0.85 },
      keep: { type: "fraction", value: 0.1 },
    });
  });

  it("is 170,000 tokens and six messages where the window is not known", () => {
    expect(computeSummarizationDefaults(scriptedModel([]))).toMatchObject({
      trigger: { type: "tokens", value: 170_000 },
      keep: { type: "messages", value: 6 },
    });
  });

  it("is what createSummarizationMiddleware takes, also after it was changed", () => {
    const defaults = computeSummarizationDefaults(scriptedModel([]));
    defaults.keep.value = 8;
    defaults.truncateArgsSettings.trigger = { type: "messages", value: 30 };
    expect(defaults.truncateArgsSettings.keep?.value).toBe(20);
    expect(defaults.trigger.value).toBe(170_000);
    expect(() => createSummarizationMiddleware(defaults)).not.toThrow();
    expect(computeSummarizationDefaults(scriptedModel([])).keep.value).toBe(6);
  });

  it.each([[undefined], [null], ["openai:gpt-4o"]])("refuses %j, which is no model", (model) =>
    expect(() => computeSummarizationDefaults(model as never)).toThrow(ConfigurationError),
  );
});

describe("the options of a summary", () => {
  it("count messages where that is asked for, and keep as many as is asked for", async () => {
    const model = strictModel(100_000, () => say("yes"));
    const summary = { model: summariser(), trigger: { messages: 10 }, keep: { messages: 4 } };
    const agent = compactingAgent({ model, summary });
    for (let i = 0; i < 12; i += 1) await agent.invoke(ask(`q${i}`), thread());
    const lengths = conversations(model).map((list) => list.length);
    expect(Math.max(...lengths)).toBeLessThan(11);
    const first = conversations(model).find((list) => isSummary(list[0]));
    expect(first).toHaveLength(1 + 4);
    expect(first?.at(-1)?.text).toBe("q5");
  });

  it("count messages inside one long run as well", async () => {
    const model = strictModel(100_000, ({ turn }) =>
      turn < 40 ? callTool("talk", { words: 5 }) : say("done"),
    );
    const notes = summariser();
    const summary = { model: notes, trigger: { messages: 20 }, keep: { messages: 6 } };
    const agent = compactingAgent({ model, summary, agent: { tools: [talk] } });
    const result = await agent.invoke(ask("Talk forty times."), thread());
    expect(result.messages.at(-1)?.text).toBe("done");
    const lengths = conversations(model).map((list) => list.length);
    expect(lengths).toHaveLength(41);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(20);
    expect(conversations(model).at(-1)?.[0]?.text).toContain("<request>\nTalk forty times.\n</request>");
    expect(notes.callCount).toBeLessThanOrEqual(7);
    expect(model.violations).toEqual([]);
  });

  it("count tokens beyond what prompt and tools take", async () => {
    const model = strictModel(100_000, () => say(words(50)));
    const agent = compactingAgent({ model, summary: { model: summariser(), trigger: ["tokens", 900] } });
    for (let i = 0; i < 10; i += 1) await agent.invoke(ask(`q${i} ${words(50)}`), thread());
    expect((await compactionOf(agent))?.count).toBeGreaterThan(0);
    expect((await compactionOf(agent))?.count).toBeLessThan(6);
  });

  it("name another prompt, another place and the model of the agent", async () => {
    const backend = new MapBackend();
    const model = strictModel(6000, ({ messages }) =>
      messages[0]?.text.startsWith("IN SHORT") ? say("short") : say(words(100)),
    );
    const summary = { backend, summaryPrompt: "IN SHORT: {messages}", historyPathPrefix: "/records/" };
    const agent = compactingAgent({ model, summary });
    for (let i = 0; i < 30; i += 1) await agent.invoke(ask(`q${i} ${words(100)}`), thread());
    expect((await compactionOf(agent))?.historyPath).toBe("/records/t.md");
    expect((await backend.readRaw("/records/t.md")).data?.content).toContain("q0 ");
    expect(conversations(model).at(-1)?.[0]?.text).toContain("<summary>\nshort\n</summary>");
  });

  it("are for each thread: records of two threads do not mix", async () => {
    const backend = new MapBackend();
    const model = strictModel(6000, () => say(words(100)));
    const agent = compactingAgent({ model, summary: { backend, model: summariser() } });
    for (const id of ["one", "two"])
      for (let i = 0; i < 30; i += 1) await agent.invoke(ask(`${id} ${i} ${words(100)}`), thread(id));
    for (const [id, other] of [
      ["one", "two"],
      ["two", "one"],
    ] as const) {
      const { content } = (await backend.readRaw(`/conversation_history/${id}.md`)).data ?? { content: "" };
      expect(content).toContain(`${id} 0 `);
      expect(content).not.toContain(`${other} 0 `);
    }
  });

  it("do without append: the record is in numbered parts, each written once", async () => {
    const store = new MapBackend();
    const { append: _, ...rest } = Object.fromEntries(
      ["ls", "read", "readRaw", "write", "edit", "grep", "glob"].map((name) => [
        name,
        (store as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.bind(store),
      ]),
    );
    const model = strictModel(6000, () => say(words(100)));
    const agent = compactingAgent({ model, summary: { backend: rest as never, model: summariser() } });
    for (let i = 0; i < 50; i += 1) await agent.invoke(ask(`q${i} ${words(100)}`), thread());
    const state = await compactionOf(agent);
    const parts = (await store.glob("*.md", "/conversation_history")).files?.map(({ path }) => path) ?? [];
    expect(parts.length).toBe(state?.count);
    expect(parts[0]).toBe("/conversation_history/t.part-0001.md");
    expect(state?.historyPath).toBe("/conversation_history/t.part-*.md");
  });

  it("shorten arguments at a trigger of their own", async () => {
    const model = strictModel(50_000, ({ turn }) =>
      turn < 8
        ? { toolCalls: [{ name: "write_file", args: { file_path: `/${turn}`, content: words(300) } }] }
        : say("done"),
    );
    const notes = summariser();
    const truncateArgsSettings = {
      trigger: { messages: 10 },
      keep: { messages: 4 },
      maxLength: 100,
      truncationText: "[cut]",
    };
    const agent = compactingAgent({ model, summary: { model: notes, truncateArgsSettings } });
    await agent.invoke({ messages: [new HumanMessage("Write.")] }, thread());
    expect(JSON.stringify(model.calls.at(-1)?.messages[2])).toContain("[cut]");
    expect(notes.callCount).toBe(0);
  });
});
