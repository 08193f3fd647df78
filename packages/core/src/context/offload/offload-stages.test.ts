import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { StateBackend } from "../../backends/state/state.ts";
import type { StageTask } from "../../loop/contract/stages.ts";
import { callTool, type ScriptedModel, scriptedModel, type Turn } from "../../testing/index.ts";
import { estimateTokens } from "../../tokens.ts";
import { createReadFileTool } from "../../tools/read-file.ts";
import { manyLines, offloadAgent, PIXEL, toolMessages, wire } from "./offload-for-tests.ts";
import { OffloadLimits } from "./offload-limits.ts";
import { createOffloadStages } from "./offload-stages.ts";

const TEXT = manyLines(10_000);
const hi = { messages: [{ role: "user", content: "go" }] };
const config = { configurable: { thread_id: "t" } };

/** Content of the first call, as the second request shows it. */
function contentSent(model: ScriptedModel): string {
  const sent = model.calls[1]?.messages.find((message) => AIMessage.isInstance(message));
  return String(sent?.tool_calls?.[0]?.args.content ?? "");
}

describe("an argument that is too long", () => {
  const write = callTool("write_file", { file_path: "/a.txt", content: TEXT }, "call_1");

  it("reaches its tool whole, and the model shortened", async () => {
    const { agent, model } = offloadAgent({ turns: [write, "done"] });
    const state: any = await agent.invoke(hi);
    expect(state.files["/a.txt"].content).toBe(TEXT);
    const stored = state.messages.find((message: AIMessage) => message.tool_calls?.length);
    expect(stored.tool_calls[0].args.content).toBe(TEXT);
    const [mark] = stored.additional_kwargs.deepwright.arguments;
    expect(state.files[mark.path].content).toBe(TEXT);
    const sent = model.calls[1]?.messages.find((message) => AIMessage.isInstance(message)) as AIMessage;
    expect(sent.tool_calls?.[0]?.args.file_path).toBe("/a.txt");
    expect(contentSent(model)).toContain(mark.path);
    expect(contentSent(model)).toContain("row 10 of 10000");
    expect(contentSent(model).length).toBeLessThan(6000);
  });

  it("is shortened wherever the message repeats it", async () => {
    const raw = { id: "call_1", type: "function", function: { name: "write_file", arguments: TEXT } };
    const output = [{ type: "function_call", call_id: "call_1", name: "write_file", arguments: TEXT }];
    const { agent, model } = offloadAgent({
      turns: [
        {
          ...write,
          additionalKwargs: { tool_calls: [raw], other: 1 },
          responseMetadata: { output, id: "r" },
        },
        "done",
      ],
    });
    await agent.invoke(hi);
    const sent = model.calls[1]?.messages.find((message) => AIMessage.isInstance(message)) as AIMessage;
    expect(JSON.stringify(sent.toDict()).length).toBeLessThan(30_000);
    expect(sent.additional_kwargs.other).toBe(1);
    expect(sent.response_metadata).toMatchObject({ id: "r", output: [{ call_id: "call_1" }] });
  });

  it("may be more than a string", async () => {
    const todos = Array.from({ length: 3000 }, (_, i) => ({
      content: `do ${i} and more`,
      status: "pending",
    }));
    const { agent, model } = offloadAgent({ turns: [callTool("write_todos", { todos }, "call_1"), "done"] });
    const state: any = await agent.invoke(hi);
    expect(state.todos.length).toBe(3000);
    const sent = model.calls[1]?.messages.find((message) => AIMessage.isInstance(message)) as AIMessage;
    const path = /in '([^']+)'/.exec(sent.tool_calls?.[0]?.args.todos as string)?.[1] ?? "";
    expect(JSON.parse(state.files[path].content)).toEqual(todos);
  });

  it("comes in a stream as well", async () => {
    const content = manyLines(100);
    const { agent, model } = offloadAgent({
      files: { toolTokenLimitBeforeEvict: 500 },
      turns: [callTool("write_file", { file_path: "/a.txt", content }, "call_1"), "done"],
    });
    for await (const _ of await agent.stream(hi, { streamMode: "messages" }));
    expect(contentSent(model).length).toBeLessThan(1500);
    expect(contentSent(model)).toContain("All of it is in '/large_tool_results/write_file-content-");
  });

  it("is known by its text, though its call gets another id", async () => {
    const long = callTool("write_file", { file_path: "/a.txt", content: TEXT }, "id with spaces/".repeat(50));
    const { agent, model } = offloadAgent({ turns: [long, "done"] });
    await agent.invoke(hi);
    expect(contentSent(model).length).toBeLessThan(6000);
  });

  it("that a person changed is sent as it is now", () => {
    const { render } = createOffloadStages({
      ...{ backend: new StateBackend(), limits: new OffloadLimits(), tools: new Set<string>() },
    });
    const mark = {
      name: "content",
      characters: 5,
      hash: "0".repeat(16),
      path: "/p",
      limit: 1,
      canRead: true,
    };
    const message = new AIMessage({
      content: "",
      tool_calls: [{ id: "a", name: "write_file", args: { content: "other" } }],
      additional_kwargs: { deepwright: { arguments: [mark] } },
    });
    expect(render?.(message)).toBe(message);
  });
});

describe("a message of a person that is too long", () => {
  const long = manyLines(20_000);

  it("is kept whole, and the model sees a preview and where the rest is", async () => {
    const { agent, model } = offloadAgent({ turns: ["done"] });
    const state: any = await agent.invoke({ messages: [{ role: "user", content: long }] });
    expect(state.messages[0].content).toBe(long);
    const { path } = state.messages[0].additional_kwargs.deepwright.offloaded;
    expect(path).toMatch(/^\/conversation_history\//);
    expect(state.files[path].content).toBe(long);
    const sent = model.calls[0]?.messages.at(-1)?.text ?? "";
    expect(sent).toContain(`'${path}'`);
    expect(sent).toContain("row 10 of 20000");
    expect(sent.endsWith("row 20000 of 20000: lorem ipsum dolor sit")).toBe(true);
  });

  it("in blocks keeps its pictures", async () => {
    const content = [
      { type: "text", text: long.slice(0, 400_000) },
      { type: "image", mimeType: "image/png", data: PIXEL },
      { type: "text", text: long.slice(400_000) },
    ];
    const { agent, model } = offloadAgent({ turns: ["done"], profile: { imageInputs: true } });
    const state: any = await agent.invoke({ messages: [new HumanMessage({ content: content as never })] });
    expect(state.messages[0].content.length).toBe(3);
    const sent = model.calls[0]?.messages.at(-1)?.content as { type: string; text?: string }[];
    expect(sent.map(({ type }) => type)).toEqual(["text", "image"]);
    expect(sent[0]?.text?.length).toBeLessThan(6000);
  });

  it("is left alone below the limit, and where there is none", async () => {
    const short = "x".repeat(40_000);
    for (const [content, humanMessageTokenLimitBeforeEvict] of [
      [short, undefined],
      [short.repeat(6), null],
    ] as const) {
      const { agent, model } = offloadAgent({
        ...{ files: { humanMessageTokenLimitBeforeEvict }, turns: ["done"] },
        profile: { maxInputTokens: 1_000_000 },
      });
      await agent.invoke({ messages: [{ role: "user", content }] });
      expect(model.calls[0]?.messages.at(-1)?.content).toBe(content);
    }
  });

  it("does not change the message its caller holds", async () => {
    const message = new HumanMessage(long);
    const { agent } = offloadAgent({ turns: ["done"] });
    await agent.invoke({ messages: [message] });
    expect(message.additional_kwargs).toEqual({});
  });
});

describe("what was sent once", () => {
  const turns = (from: number): Turn[] => [
    {
      toolCalls: [
        {
          name: "write_file",
          id: `w${from}`,
          args: { file_path: `/f${from}`, content: manyLines(500) + from },
        },
        { name: "plain", id: `p${from}`, args: {} },
      ],
    },
    callTool("blocks", { size: 9000 + from }, `b${from}`),
    `done ${from}`,
  ];

  it("is sent the same way in later turns, and by another process", async () => {
    const checkpointer = new MemorySaver();
    const requests: string[][] = [];
    for (const process of [0, 1, 2]) {
      const { agent, model } = offloadAgent({
        ...{ turns: [...turns(process * 10), ...turns(process * 10 + 1)], agent: { checkpointer } },
        files: { toolTokenLimitBeforeEvict: 1000, humanMessageTokenLimitBeforeEvict: 1000 },
        text: manyLines(500),
      });
      for (const _ of [0, 1])
        await agent.invoke({ messages: [{ role: "user", content: manyLines(400 + process) }] }, config);
      requests.push(...model.calls.map((call) => wire(call.messages)));
    }
    expect(requests.length).toBe(18);
    for (const [index, request] of requests.entries()) {
      const next = requests[index + 1];
      if (next) expect(next.slice(0, request.length)).toEqual(request);
    }
    expect(requests.at(-1)?.join("").length).toBeLessThan(80_000);
  });

  it("is made once for each message", async () => {
    const stages = createOffloadStages({
      ...{ backend: new StateBackend({ state: {} } as never), limits: new OffloadLimits() },
      tools: new Set(["read_file"]),
    });
    const written: Record<string, unknown> = {};
    const task = {
      ...{ config: {}, signal: undefined, runtime: { state: {} } },
      ...{ read: (key: string) => written[key], remind: () => {}, model: () => undefined },
      write: (key: string, value: unknown) => {
        written[key] = value;
      },
    } as unknown as StageTask;
    const two = [manyLines(20_000), manyLines(20_001)].map(
      (text, id) => new HumanMessage({ content: text, id: `${id}` }),
    );
    const [one, other] = ((await stages.input?.(two, task)) ?? []) as HumanMessage[];
    expect(stages.render?.(one as HumanMessage)).toBe(stages.render?.(one as HumanMessage));
    expect(Object.keys(written.files as object).length).toBe(2);
    const before = stages.render?.(other as HumanMessage);
    (other as HumanMessage).content = "short now";
    expect(before?.text).toContain("too long");
    expect(stages.render?.(other as HumanMessage).text).toBe("short now");
  });
});

describe("reading it back", () => {
  it.each([
    [5 * 1024 * 1024, 20_000],
    [512 * 1024, 2000],
  ])("a line of %i characters is read to its end, in pages of at most %i tokens", async (size, tokens) => {
    const line = Array.from({ length: size / 16 }, (_, i) => `${String(i).padStart(15, ".")};`).join("");
    let seen = "";
    let reads = 0;
    const gutter = "     1│".length;
    const files = { "/line": { content: line, created_at: "", modified_at: "" } };
    const tool = createReadFileTool({
      ...{ backend: () => new StateBackend({ state: { files } } as never), pageTokens: () => tokens },
    });
    for (let column: number | undefined = 0; column !== undefined; reads++) {
      const page: any = await tool.invoke({ file_path: "/line", column });
      const text: string = page.text ?? page;
      expect(estimateTokens(text)).toBeLessThanOrEqual(tokens);
      const [row = "", remark = ""] = text.split("\n");
      seen += row.slice(gutter);
      const next = /column=(\d+)$/.exec(remark)?.[1];
      column = next === undefined ? undefined : Number(next);
    }
    expect(seen === line).toBe(true);
    expect(reads).toBeLessThanOrEqual(Math.ceil(size / 2000));
  });

  it("a model that follows the words finds the end of a result, and no page is moved again", async () => {
    const text = "y".repeat(300_000);
    const reader = scriptedModel(({ messages }) => {
      const last = messages.at(-1)?.text ?? "";
      if (messages.at(-1)?.type === "human") return callTool("plain", {}, "call_1");
      const path = /All of it is in '([^']+)'/.exec(last)?.[1];
      if (path) return callTool("read_file", { file_path: path });
      const next = /offset=(\d+), column=(\d+)/.exec(last);
      if (!next) return "the end";
      return callTool("read_file", {
        ...{ file_path: "/large_tool_results/call_1", offset: next[1], column: next[2] },
      });
    });
    const following = offloadAgent({ text, turns: [], agent: { model: reader } });
    const state: any = await following.agent.invoke(hi, { recursionLimit: 500 });
    expect(state.messages.at(-1).text).toBe("the end");
    expect(Object.keys(state.files)).toEqual(["/large_tool_results/call_1"]);
    expect(toolMessages(state).length).toBeLessThan(20);
  });
});
