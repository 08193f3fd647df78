import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import { callTool, say } from "../../testing/index.ts";
import {
  answers,
  ask,
  compactingAgent,
  compactionOf,
  conversations,
  converse,
  countTokens,
  isSummary,
  strictModel,
  summariser,
  talk,
  thread,
  words,
} from "../fixtures/agents-for-tests.ts";

async function messagesOf(agent: ReturnType<typeof compactingAgent>): Promise<BaseMessage[]> {
  return ((await agent.getState(thread())).values as { messages: BaseMessage[] }).messages;
}

describe("a conversation that outgrows its window", () => {
  it("is still told of by its summary when a program trims the thread", async () => {
    const model = strictModel(6000, answers);
    const agent = compactingAgent({ model, summary: { model: summariser() } });
    await converse(agent, 60);
    const messages = await messagesOf(agent);
    const after = (await compactionOf(agent))?.after;
    const newest = messages.findIndex(({ id }) => id === after);
    const old = messages.slice(0, newest).map(({ id }) => new RemoveMessage({ id: id as string }));
    await agent.updateState(thread(), { messages: old });
    await agent.invoke(ask("what was it about?"), thread());
    const last = conversations(model).at(-1) as BaseMessage[];
    expect(isSummary(last[0])).toBe(true);
    expect(last).toHaveLength(messages.length - newest + 2);
  });

  it("is seen by the model as a summary and the newest messages, and kept whole in the thread", async () => {
    const model = strictModel(6000, answers);
    const notes = summariser();
    const agent = compactingAgent({ model, summary: { model: notes } });
    await converse(agent, 60);
    const { messages } = (await agent.getState(thread())).values as { messages: BaseMessage[] };
    expect(messages).toHaveLength(120);
    expect(messages.some(isSummary)).toBe(false);
    const last = conversations(model).at(-1) as BaseMessage[];
    expect(isSummary(last[0])).toBe(true);
    expect(last[0]?.text).toContain("NOTES");
    expect(last.length).toBeLessThan(60);
    expect(model.violations).toEqual([]);
    expect(notes.callCount).toBeGreaterThan(1);
    expect(notes.callCount).toBeLessThan(20);
  });

  it("runs 300 turns of tools in 8,000 tokens", async () => {
    const model = strictModel(8000, ({ turn }) =>
      turn < 300 ? callTool("talk", { words: 60 + ((turn * 37) % 200) }) : say("done"),
    );
    const notes = strictModel(8000, () => `Notes. ${words(200)}`);
    const agent = compactingAgent({
      model,
      summary: { model: notes },
      agent: { tools: [talk], checkpointer: false },
    });
    const result = await agent.invoke(ask("Talk three hundred times."), thread());
    expect(result.messages.at(-1)?.text).toBe("done");
    expect(result.messages).toHaveLength(602);
    expect(model.violations).toEqual([]);
    expect(model.callCount).toBe(301);
    for (const { messages, tools } of model.calls)
      expect(countTokens(messages, tools)).toBeLessThanOrEqual(8000);
    const last = conversations(model).at(-1) as BaseMessage[];
    expect(last[0]?.text).toContain("Talk three hundred times.");
  });

  it("extends each request byte for byte between two compactions", async () => {
    const model = strictModel(6000, answers);
    const agent = compactingAgent({ model, summary: { model: summariser() } });
    await converse(agent, 50);
    const sent = conversations(model).map((list) => list.map((message) => JSON.stringify(message.toDict())));
    let breaks = 0;
    for (let i = 1; i < sent.length; i += 1)
      if (!sent[i - 1]!.every((text, at) => text === sent[i]![at])) breaks += 1;
    expect(breaks).toBe((await compactionOf(agent))?.count);
    expect(breaks).toBeGreaterThan(1);
  });

  it("keeps system prompt, latest request and todos byte-identical over five compactions", async () => {
    const todos = [{ content: "Keep the colours", status: "in_progress" }];
    const model = strictModel(8000, ({ turn }) =>
      turn === 0
        ? callTool("write_todos", { todos })
        : turn < 220
          ? callTool("talk", { words: 120 })
          : say("done"),
    );
    const agent = compactingAgent({
      model,
      summary: { model: summariser() },
      agent: { tools: [talk], systemPrompt: "RULE: never write to /secrets." },
    });
    await agent.invoke(ask("Paint it $& blue, and `never` red."), thread());
    expect((await compactionOf(agent))?.count).toBeGreaterThanOrEqual(5);
    expect(new Set(model.calls.map(({ messages }) => messages[0]?.text)).size).toBe(1);
    const summaries = new Set(
      conversations(model)
        .map((list) => list[0])
        .filter(isSummary)
        .map((message) => message?.text ?? ""),
    );
    expect(summaries.size).toBeGreaterThanOrEqual(5);
    for (const summary of summaries) {
      expect(summary).toContain("<request>\nPaint it $& blue, and `never` red.\n</request>");
      expect(summary).toContain("- [~] Keep the colours");
    }
  });

  it("hands each summary on to the next", async () => {
    const model = strictModel(6000, answers);
    const notes = summariser();
    await converse(compactingAgent({ model, summary: { model: notes } }), 60);
    expect(notes.calls[1]?.messages.at(-1)?.text).toContain("NOTES 1");
  });
});

describe("what is removed from view", () => {
  it("is appended to one file of its thread, every message once and in order", async () => {
    const backend = new MapBackend();
    const model = strictModel(6000, answers);
    const agent = compactingAgent({ model, summary: { model: summariser(), backend }, agent: { backend } });
    await converse(agent, 60, thread("a/b"));
    const state = await compactionOf(agent, thread("a/b"));
    const content = String((await backend.readRaw(state?.historyPath ?? "")).data?.content);
    expect(state?.historyPath).toMatch(/^\/conversation_history\/a_b-\w+\.md$/);
    const asked = [...content.matchAll(/question (\d+) /g)].map((match) => Number(match[1]));
    expect(asked).toEqual(asked.map((_, i) => i));
    expect(asked.length).toBeGreaterThan(30);
    expect(content.match(/<!-- archived /g)).toHaveLength(state?.count ?? 0);
    const last = conversations(model).at(-1) as BaseMessage[];
    expect(last[0]?.text).toContain(state?.historyPath);
  });

  it("goes to the state of the thread where there is no other place, also without a thread id", async () => {
    const model = strictModel(6000, ({ turn }) =>
      turn < 60 ? callTool("talk", { words: 100 }) : say("done"),
    );
    const agent = compactingAgent({
      model,
      summary: { model: summariser() },
      agent: { tools: [talk], checkpointer: false },
    });
    const { files } = (await agent.invoke(ask("Go."))) as unknown as {
      files: Record<string, { content: string }>;
    };
    const [path, file] = Object.entries(files)[0] as [string, { content: string }];
    expect(path).toMatch(/^\/conversation_history\/session_[\w-]+\.md$/);
    expect(file.content).toContain("### User\n\nGo.");
  });

  it("is not spoken of to a model that cannot read files", async () => {
    const model = strictModel(6000, answers);
    const agent = compactingAgent({
      model,
      summary: { model: summariser() },
      agent: { middleware: [{ name: "FilesystemMiddleware" }] as never },
    });
    await converse(agent, 40);
    const summary = conversations(model).at(-1)?.[0];
    expect(isSummary(summary)).toBe(true);
    expect(summary?.text).not.toContain("conversation_history");
  });

  it("is said to be lost when it could not be kept", async () => {
    const backend = { ...new MapBackend(), ls: () => ({ files: [] }) } as never;
    const model = strictModel(6000, answers);
    const agent = compactingAgent({ model, summary: { model: summariser(), backend } });
    await converse(agent, 40);
    expect(conversations(model).at(-1)?.[0]?.text).toContain("could not be kept");
  });
});

describe("the newest turn", () => {
  it("is shown with head and tail of its results when these are too long together", async () => {
    const many = { toolCalls: Array.from({ length: 30 }, () => ({ name: "talk", args: { words: 250 } })) };
    const model = strictModel(8000, [many, say("done")]);
    const agent = compactingAgent({ model, summary: { model: summariser() }, agent: { tools: [talk] } });
    const result = await agent.invoke(ask("Talk."), thread());
    expect(result.messages.at(-1)?.text).toBe("done");
    expect(model.violations).toEqual([]);
    const results = model.calls[1]?.messages.filter(ToolMessage.isInstance) ?? [];
    expect(results).toHaveLength(30);
    for (const { text } of results) {
      expect(text).toMatch(/^word0 word1 /);
      expect(text).toMatch(/characters left out; the whole text is in \/large_tool_results\//);
    }
    const path = /\/large_tool_results\/\S+/.exec(results[0]?.text ?? "")?.[0] ?? "";
    const { files } = result as unknown as { files: Record<string, { content: string }> };
    expect(files[path]?.content).toBe(words(250));
  });

  it("is shown without pictures when these are too many", async () => {
    const image = { type: "image", mimeType: "image/png", data: "A".repeat(4000) };
    const messages = [
      new HumanMessage("Look."),
      new AIMessage({
        content: "",
        tool_calls: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ id: `c${n}`, name: "talk", args: { words: n } })),
      }),
      ...[1, 2, 3, 4, 5, 6, 7, 8].map(
        (n) =>
          new ToolMessage({
            tool_call_id: `c${n}`,
            name: "talk",
            content: [image, { type: "text", text: `picture ${n}` }] as never,
          }),
      ),
    ];
    const model = strictModel(7000, [say("seen")]);
    const agent = compactingAgent({ model, summary: { model: summariser() }, agent: { tools: [talk] } });
    const result = await agent.invoke({ messages }, thread());
    expect(result.messages.at(-1)?.text).toBe("seen");
    expect(model.violations).toEqual([]);
    expect(JSON.stringify(model.calls.at(-1)?.messages)).toContain("picture 8");
  });
});

describe("old arguments of file tools", () => {
  it("are shortened first, and nothing is summed up when that suffices", async () => {
    const notes = summariser();
    const content = words(500);
    const model = strictModel(9000, ({ turn }) =>
      turn < 14 ? callTool("write_file", { file_path: `/f${turn}.txt`, content }) : say("done"),
    );
    const agent = compactingAgent({ model, summary: { model: notes } });
    const result = await agent.invoke(ask("Write."), thread());
    expect(result.messages.at(-1)?.text).toBe("done");
    expect(notes.callCount).toBe(0);
    const last = conversations(model).at(-1) as AIMessage[];
    expect(last).toHaveLength(29);
    expect(last[1]?.tool_calls?.[0]?.args).toMatchObject({
      file_path: "/f0.txt",
      content: expect.stringMatching(/^word0 .*… \[\d+ more characters were written\]$/),
    });
    expect((result.messages[1] as AIMessage).tool_calls?.[0]?.args).toMatchObject({ content });
    expect(model.violations).toEqual([]);
  });
});

describe("a thread that changes under a compaction", () => {
  async function compacted() {
    const model = strictModel(6000, answers);
    const agent = compactingAgent({ model, summary: { model: summariser() } });
    await converse(agent, 40);
    return { model, agent, state: await compactionOf(agent) };
  }

  it("goes back to what it was seen as when it is forked before the compaction", async () => {
    const { model, agent } = await compacted();
    const before: Parameters<typeof agent.invoke>[1][] = [];
    for await (const { values, next, config } of agent.getStateHistory(thread()))
      if ((values as Record<string, unknown>)._compaction === undefined && next.length === 0)
        before.push(config);
    // Not the last one: the next words there would be too many.
    await agent.invoke(ask("Another way."), before[1]);
    const last = conversations(model).at(-1) as BaseMessage[];
    expect(last.some(isSummary)).toBe(false);
    expect(last[0]?.text).toContain("question 0");
    expect(model.violations).toEqual([]);
  });

  it("is seen from the next message on when the first kept one is removed", async () => {
    const { model, agent, state } = await compacted();
    await agent.updateState(thread(), { messages: [new RemoveMessage({ id: state?.first ?? "" })] });
    await agent.invoke(ask("Go on."), thread());
    const last = conversations(model).at(-1) as BaseMessage[];
    expect(isSummary(last[0])).toBe(true);
    expect(last.some(({ id }) => id === state?.first)).toBe(false);
    expect(model.violations).toEqual([]);
  });

  it("has no summary once all messages were removed", async () => {
    const { model, agent } = await compacted();
    await agent.updateState(thread(), { messages: [new RemoveMessage({ id: REMOVE_ALL_MESSAGES })] });
    await agent.invoke(ask("Anew."), thread());
    expect(
      conversations(model)
        .at(-1)
        ?.map(({ text }) => text),
    ).toEqual(["Anew."]);
  });
});

describe("compaction and people", () => {
  it("waits for a decision as before, and the decided call keeps its result", async () => {
    const model = strictModel(6000, ({ turn }) =>
      turn < 30
        ? callTool("talk", { words: 100 })
        : turn === 30
          ? callTool("write_file", { file_path: "/x", content: "1" })
          : say("done"),
    );
    const agent = compactingAgent({
      model,
      summary: { model: summariser() },
      agent: { tools: [talk], interruptOn: { write_file: true } },
    });
    const paused = (await agent.invoke(ask("Go."), thread())) as { __interrupt__?: unknown[] };
    expect(paused.__interrupt__).toHaveLength(1);
    const { Command } = await import("@langchain/langgraph");
    const result = await agent.invoke(
      new Command({ resume: { decisions: [{ type: "approve" }] } }),
      thread(),
    );
    expect(result.messages.at(-1)?.text).toBe("done");
    expect(model.violations).toEqual([]);
  });
});

describe("streams", () => {
  it("can tell the words of the summariser from those of the agent", async () => {
    const model = strictModel(6000, ({ turn }) =>
      turn < 30 ? callTool("talk", { words: 100 }) : say("done"),
    );
    const agent = compactingAgent({
      model,
      summary: { model: summariser(() => "the notes") },
      agent: { tools: [talk] },
    });
    const heard = { summary: "", agent: "" };
    const config = { ...thread(), streamMode: "messages" as const };
    for await (const [token, metadata] of await agent.stream(ask("Go."), config)) {
      const source = (metadata as { lc_source?: string }).lc_source === "summarization" ? "summary" : "agent";
      if (token.type === "ai") heard[source] += token.text;
    }
    expect(heard.summary).toContain("the notes");
    expect(heard.agent).toContain("done");
    expect(heard.agent).not.toContain("the notes");
  });
});
