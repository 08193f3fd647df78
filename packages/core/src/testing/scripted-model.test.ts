import { getRetryable } from "@langchain/core/errors";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { concat } from "@langchain/core/utils/stream";
import { createAgent, modelRetryMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fault } from "./fault.ts";
import { RequestViolation } from "./request-checker.ts";
import { type ScriptedModelOptions, type ScriptedRequest, scriptedModel } from "./scripted-model.ts";
import { callTool, type ScriptedTurn, say, type Turn } from "./turn.ts";

const hello = [new HumanMessage("Hello.")];

async function chunksFrom(model: Pick<BaseChatModel, "stream">): Promise<AIMessageChunk[]> {
  const chunks: AIMessageChunk[] = [];
  for await (const chunk of await model.stream(hello)) chunks.push(chunk);
  return chunks;
}

async function streamed(turn: Turn, options: Partial<ScriptedModelOptions> = {}): Promise<AIMessageChunk> {
  return (await chunksFrom(scriptedModel([turn], options))).reduce((a, b) => concat(a, b));
}

const whole = (turn: Turn): Promise<AIMessage> => scriptedModel([turn]).invoke(hello);

describe("a script", () => {
  it("is answered turn by turn, in all the forms a turn may have", async () => {
    const model = scriptedModel([
      "one",
      say("two"),
      { text: "three", toolCalls: [{ name: "look", args: { at: "/" }, id: "c1" }] },
      callTool("look"),
      new AIMessage({ id: "m5", content: "five", response_metadata: { stop_reason: "end_turn" } }),
      new Error("six"),
    ]);
    expect((await model.invoke(hello)).content).toBe("one");
    expect((await model.invoke(hello)).content).toBe("two");
    const third = await model.invoke(hello);
    expect(third).toMatchObject({
      content: "three",
      tool_calls: [{ name: "look", args: { at: "/" }, id: "c1" }],
      response_metadata: { finish_reason: "tool_calls", model_name: "scripted" },
    });
    expect((await model.invoke(hello)).tool_calls).toMatchObject([{ name: "look", args: {} }]);
    const fifth = await model.invoke(hello);
    expect(fifth).toMatchObject({ id: "m5", content: "five" });
    expect(fifth.response_metadata).toEqual({ model_name: "scripted", stop_reason: "end_turn" });
    await expect(model.invoke(hello)).rejects.toThrow("six");
    expect(model.callCount).toBe(6);
  });

  it("says clearly that it has ended", async () => {
    const model = scriptedModel(["one"]);
    await model.invoke(hello);
    await expect(model.invoke(hello)).rejects.toThrow("The script has 1 turn, this was call 2.");
    await expect(scriptedModel([]).invoke(hello)).rejects.toThrow("The script has 0 turns, this was call 1.");
  });

  it("begins again with loop, and goes on with whenDone", async () => {
    const looping = scriptedModel({ turns: ["a", "b"], loop: true });
    const finished = scriptedModel(["a"], { whenDone: "done" });
    const said = async (model: BaseChatModel) => (await model.invoke(hello)).content;
    expect([await said(looping), await said(looping), await said(looping)]).toEqual(["a", "b", "a"]);
    expect([await said(finished), await said(finished), await said(finished)]).toEqual(["a", "done", "done"]);
  });

  it("may be a function of the request", async () => {
    const seen: ScriptedRequest[] = [];
    const model = scriptedModel(async (request) => {
      seen.push(request);
      return `You said ${request.messages.at(-1)?.content}`;
    });
    const reply = await model.bindTools([{ name: "look" }]).invoke("hi");
    expect(reply.content).toBe("You said hi");
    expect(seen).toMatchObject([{ turn: 0, tools: [{ name: "look" }], signal: undefined }]);
  });

  it("refuses what is no turn", async () => {
    const typo = { toolcalls: [] } as unknown as ScriptedTurn;
    await expect(whole(typo)).rejects.toThrow("Unknown field 'toolcalls' in turn 1.");
    const nothing = scriptedModel(() => undefined as never);
    await expect(nothing.invoke(hello)).rejects.toThrow(/Expected turn 1 to be a string/);
    expect(() => scriptedModel({} as never)).toThrow(/expected an array of turns or a function/);
    expect(() => scriptedModel([], { chunkSize: 0 })).toThrow(/chunkSize/);
  });

  it("gives calls ids that are the same in every run and never repeat in a thread", async () => {
    const ids = async () => {
      const model = scriptedModel([{ toolCalls: [{ name: "a" }, { name: "b" }] }, callTool("a")]);
      return [await model.invoke(hello), await model.invoke(hello)].flatMap(({ tool_calls }) =>
        tool_calls?.map(({ id }) => id),
      );
    };
    expect(await ids()).toEqual(["call_1_1", "call_1_2", "call_1_3"]);
    expect(await ids()).toEqual(await ids());
  });

  it("hands out fresh messages and arguments every time it loops", async () => {
    const model = scriptedModel([callTool("look", { at: { path: "/" } })], { loop: true });
    const [first, second] = [await model.invoke(hello), await model.invoke(hello)];
    expect(first.tool_calls?.[0]?.args).toEqual(second.tool_calls?.[0]?.args);
    expect(first.tool_calls?.[0]?.args).not.toBe(second.tool_calls?.[0]?.args);
  });
});

describe("usage and names", () => {
  it("estimates usage from what was asked and what was said", async () => {
    const { usage_metadata } = await scriptedModel(["12345678"]).invoke("x".repeat(400));
    expect(usage_metadata).toMatchObject({ input_tokens: 100, output_tokens: 2, total_tokens: 102 });
  });

  it("counts a growing conversation the same as one that is asked at once", async () => {
    const model = scriptedModel(["a", "b"], { loop: true });
    const history = [new HumanMessage("x".repeat(40)), new AIMessage("y".repeat(40)), new HumanMessage("z")];
    await model.invoke(history.slice(0, 1));
    const grown = await model.invoke(history);
    const shrunk = await model.invoke(history.slice(0, 1));
    expect(grown.usage_metadata).toEqual((await scriptedModel(["b"]).invoke(history)).usage_metadata);
    expect(shrunk.usage_metadata?.input_tokens).toBe(10);
  });

  it("reads a message once, however long the conversation grows", async () => {
    let reads = 0;
    const first = new HumanMessage("x");
    Object.defineProperty(first, "content", {
      get: () => {
        reads += 1;
        return "x";
      },
    });
    const model = scriptedModel(["a"], { loop: true, check: false, record: false });
    const history = [first];
    for (let turn = 0; turn < 20; turn += 1) {
      await model._generate([...history], {});
      history.push(new HumanMessage("y"));
    }
    expect(reads).toBe(1);
  });

  it("reports the usage it is given, and none when told so", async () => {
    const usage = { input_tokens: 9, output_tokens: 1, input_token_details: { cache_read: 4 } };
    expect((await whole({ text: "a", usage })).usage_metadata).toMatchObject({ ...usage, total_tokens: 10 });
    expect((await scriptedModel(["a"], { usage: false }).invoke(hello)).usage_metadata).toBeUndefined();
  });

  it("carries a profile, a model name and a name that middleware can look at", async () => {
    const model = scriptedModel([{ text: "a", finishReason: "length" }], {
      profile: { structuredOutput: true, maxInputTokens: 1000 },
      modelName: "tiny",
      name: "ChatAnthropic",
    });
    expect(model.profile).toEqual({ toolCalling: true, structuredOutput: true, maxInputTokens: 1000 });
    expect(model.getName()).toBe("ChatAnthropic");
    expect(model._llmType()).toBe("scripted");
    expect((await model.invoke(hello)).response_metadata).toEqual({
      finish_reason: "length",
      model_name: "tiny",
    });
  });

  it("can be traced: what callbacks receive is JSON", async () => {
    const traced: string[] = [];
    const model = scriptedModel(["a"]);
    await model.bindTools([{ name: "look" }]).invoke(hello, {
      callbacks: [
        {
          handleChatModelStart: (...start: unknown[]) => void traced.push(JSON.stringify(start)),
          handleLLMEnd: (output: unknown) => void traced.push(JSON.stringify(output)),
        },
      ],
    });
    expect(traced).toHaveLength(2);
    expect(JSON.stringify(model)).toContain("ScriptedModel");
  });
});

describe("recording", () => {
  it("keeps every request with its tools and options, through any binding", async () => {
    const model = scriptedModel(["a", "b"]);
    const look = { name: "look" };
    await model.bindTools([look], { tool_choice: "any" }).invoke(hello);
    await model.invoke(hello);
    expect(model.calls.map(({ tools }) => tools)).toEqual([[look], []]);
    expect(model.calls[0]?.tools[0]).toBe(look);
    expect(model.calls[0]?.messages[0]).toBe(hello[0]);
    expect(model.calls[0]?.options.tool_choice).toBe("any");
    expect(model.bindings).toEqual([{ tools: [look], options: { tool_choice: "any" } }]);
  });

  it("keeps nothing but the count with record: false", async () => {
    const model = scriptedModel(["a"], { record: false });
    await model.bindTools([]).invoke(hello);
    expect([model.calls, model.bindings, model.callCount]).toEqual([[], [], 1]);
  });
});

describe("checking", () => {
  const dangling = [...hello, new AIMessage({ content: "", tool_calls: [{ id: "a", name: "f", args: {} }] })];

  it("refuses a request that a provider would refuse, and remembers it", async () => {
    const model = scriptedModel(["a"]);
    const error = await model.invoke([...dangling, ...hello]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RequestViolation);
    expect(getRetryable(error)).toBe(false);
    expect(model.violations).toMatchObject([{ rule: "call-answered", index: 1 }]);
    expect(model.calls).toHaveLength(1);
    expect((await model.invoke(hello)).content).toBe("a");
  });

  it("can be turned off or narrowed", async () => {
    const dotted = new AIMessage({ content: "", tool_calls: [{ id: "a", name: "a.b", args: {} }] });
    const request = [...hello, dotted, new ToolMessage({ tool_call_id: "a", content: "" })];
    await expect(scriptedModel(["a"]).invoke(request)).rejects.toThrow(/call-name-dot/);
    await scriptedModel(["a"], { check: { providers: ["gemini"] } }).invoke(request);
    await scriptedModel(["a"], { check: false }).invoke(dangling);
    await expect(scriptedModel(["a"], { check: { ids: true } }).invoke(hello)).rejects.toThrow(/message-id/);
  });
});

describe("streaming", () => {
  const TURNS: Record<string, ScriptedTurn> = {
    words: say("The quick brown fox jumps over the lazy dog. 🦊🦊🦊"),
    "one call": callTool("write_file", { path: "/a.txt", content: "line\n".repeat(20) }, "c1"),
    "words and parallel calls": {
      text: "Looking around.",
      toolCalls: [
        { name: "ls", args: {}, id: "c1" },
        { name: "read_file", args: { path: "/ü" }, id: "c2" },
      ],
    },
    "calls without words": {
      toolCalls: [
        { name: "a", id: "x" },
        { name: "b", id: "y" },
      ],
    },
    nothing: fault.empty(),
    "given usage and metadata": {
      id: "m1",
      text: "a longer text than one chunk",
      usage: { input_tokens: 3, output_tokens: 4, input_token_details: { cache_read: 2 } },
      responseMetadata: { system_fingerprint: "fp" },
      additionalKwargs: { refusal: "no" },
      finishReason: "content_filter",
    },
  };

  it.each(Object.entries(TURNS))("%s: the chunks add up to the whole message", async (_, turn) => {
    const message = await whole(turn);
    for (const chunkSize of [1, 5, 1000]) {
      const sum = await streamed(turn, { chunkSize });
      for (const field of ["content", "tool_calls", "usage_metadata", "response_metadata"] as const)
        expect(sum[field]).toEqual(message[field]);
      expect(sum.additional_kwargs).toEqual(message.additional_kwargs);
      if (turn.id !== undefined) expect(sum.id).toBe(turn.id);
    }
  });

  it("sends words in pieces and calls as partial JSON under one index", async () => {
    const turn = { text: "abcdefgh", toolCalls: [{ name: "f", args: { key: "value" }, id: "c1" }] };
    const chunks = await chunksFrom(scriptedModel([turn], { chunkSize: 4 }));
    expect(chunks.map(({ content }) => content).filter((text) => text !== "")).toEqual(["abcd", "efgh"]);
    const calls = chunks.flatMap(({ tool_call_chunks }) => tool_call_chunks ?? []);
    expect(calls.map(({ args }) => args)).toEqual(["", '{"ke', 'y":"', "valu", 'e"}']);
    expect(calls.map(({ index }) => index)).toEqual([1, 1, 1, 1, 1]);
    expect(calls.map(({ name, id }) => [name, id]).slice(0, 2)).toEqual([
      ["f", "c1"],
      [undefined, undefined],
    ]);
  });

  it("never cuts through a character", async () => {
    const chunks = await chunksFrom(scriptedModel(["a🦊b🦊"], { chunkSize: 2 }));
    for (const { content } of chunks) expect(() => encodeURIComponent(String(content))).not.toThrow();
  });

  it("streams content blocks under their index", async () => {
    const content = [
      { type: "thinking", thinking: "Let me see what is there.", signature: "s" },
      { type: "text", text: "Here is what is there." },
    ];
    const sum = await streamed({ content, toolCalls: [{ name: "f", id: "c" }] }, { chunkSize: 5 });
    expect(sum.content).toEqual(content.map((block, index) => ({ ...block, index })));
    expect(sum.tool_calls).toMatchObject([{ name: "f", args: {}, id: "c" }]);
  });

  it("is used by invoke when a callback asks for tokens", async () => {
    const tokens: string[] = [];
    const callback = {
      lc_prefer_streaming: true,
      handleLLMNewToken: (token: string) => void tokens.push(token),
    };
    const model = scriptedModel(["streamed in invoke"], { chunkSize: 6 });
    const reply = await model.invoke(hello, { callbacks: [callback as never] });
    expect(tokens).toEqual(["stream", "ed in ", "invoke", ""]);
    expect(reply.content).toBe("streamed in invoke");
  });

  it("speaks LangChain's event protocol with the real reason to stop", async () => {
    const message = await scriptedModel([TURNS["words and parallel calls"] as Turn]).streamEvents(hello);
    expect(message.tool_calls).toMatchObject([
      { name: "ls", id: "c1" },
      { name: "read_file", args: { path: "/ü" } },
    ]);
    expect(message.text).toBe("Looking around.");
    expect(message.response_metadata.finish_reason).toBe("tool_use");
    const cut = await scriptedModel([fault.length("a")]).streamEvents(hello).output;
    expect(cut.response_metadata).toMatchObject({ finish_reason: "length", model_name: "scripted" });
  });
});

describe("under LangChain's createAgent", () => {
  const add = tool(({ a, b }) => String(a + b), {
    name: "add",
    description: "Adds two numbers.",
    schema: z.object({ a: z.number(), b: z.number() }),
  });
  const input = { messages: [{ role: "user" as const, content: "What is 1 + 2?" }] };

  it("runs a turn with a tool", async () => {
    const model = scriptedModel([callTool("add", { a: 1, b: 2 }), say("It is 3.")]);
    const agent = createAgent({ model, tools: [add], systemPrompt: "You calculate." });
    const { messages } = await agent.invoke(input);
    expect(messages.map(({ type, content }) => [type, content])).toEqual([
      ["human", "What is 1 + 2?"],
      ["ai", ""],
      ["tool", "3"],
      ["ai", "It is 3."],
    ]);
    expect(model.calls.map((call) => call.messages.map(({ type }) => type))).toEqual([
      ["system", "human"],
      ["system", "human", "ai", "tool"],
    ]);
    expect(model.calls[0]?.tools).toMatchObject([{ name: "add" }]);
    expect(model.violations).toEqual([]);
  });

  it("streams its words in the messages mode", async () => {
    const model = scriptedModel([callTool("add", { a: 1, b: 2 }), say("It is three.")], { chunkSize: 4 });
    const words: string[] = [];
    const stream = await createAgent({ model, tools: [add] }).stream(input, { streamMode: "messages" });
    for await (const [message] of stream)
      if (AIMessageChunk.isInstance(message) && message.content !== "") words.push(String(message.content));
    expect(words).toEqual(["It i", "s th", "ree."]);
  });

  it("lets retry middleware ride out a fault", async () => {
    const model = scriptedModel([fault.rateLimit(), fault.status(529), say("At last.")]);
    const retry = modelRetryMiddleware({ maxRetries: 3, initialDelayMs: 1 });
    const { messages } = await createAgent({ model, tools: [], middleware: [retry] }).invoke(input);
    expect(messages.at(-1)?.content).toBe("At last.");
    expect(model.callCount).toBe(3);
  });

  it("answers with a structure, by tool or by the provider's own means", async () => {
    const responseFormat = z.object({ city: z.string() });
    const byTool = scriptedModel(({ tools }) => {
      const answer = tools.at(-1) as { function: { name: string } };
      return callTool(answer.function.name, { city: "Bern" });
    });
    const byText = scriptedModel(['{"city":"Bern"}'], { profile: { structuredOutput: true } });
    for (const model of [byTool, byText]) {
      const { structuredResponse } = await createAgent({ model, tools: [], responseFormat }).invoke(input);
      expect(structuredResponse).toEqual({ city: "Bern" });
    }
  });
});

describe("withStructuredOutput", () => {
  const schema = z.object({ city: z.string() });

  it("reads a call of the schema's tool, or JSON in a text", async () => {
    const model = scriptedModel([callTool("extract", { city: "Bern" }), '{"city":"Rome"}']);
    const structured = model.withStructuredOutput(schema);
    expect(await structured.invoke("Where?")).toEqual({ city: "Bern" });
    expect(await structured.invoke("Where?")).toEqual({ city: "Rome" });
    expect(model.calls[0]?.options.tool_choice).toBe("extract");
  });

  it("rejects an answer that does not fit, and gives the raw message when asked", async () => {
    const model = scriptedModel([callTool("place", { city: 1 }), callTool("place", { city: "Bern" })]);
    await expect(model.withStructuredOutput(schema, { name: "place" }).invoke("?")).rejects.toThrow();
    const both = await model.withStructuredOutput(schema, { name: "place", includeRaw: true }).invoke("?");
    expect(both.parsed).toEqual({ city: "Bern" });
    expect(AIMessage.isInstance(both.raw)).toBe(true);
  });
});
