import { ContextOverflowError, getRetryable } from "@langchain/core/errors";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type AIMessage, type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { concat } from "@langchain/core/utils/stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fault } from "./fault.ts";
import { type Script, type ScriptedModelOptions, scriptedModel } from "./scripted-model.ts";
import { callTool, type ScriptedCall, say, type Turn } from "./turn.ts";

const hello = [new HumanMessage("Hello.")];

/** Parts of a stream that arrived, and the error it ended with. */
async function drain(
  model: Pick<BaseChatModel, "stream">,
  signal?: AbortSignal,
  onChunk: () => void = () => undefined,
) {
  const chunks: AIMessageChunk[] = [];
  let error: unknown;
  try {
    for await (const chunk of await model.stream(hello, { signal })) {
      chunks.push(chunk);
      onChunk();
    }
  } catch (thrown) {
    error = thrown;
  }
  const message = chunks.length > 0 ? chunks.reduce((a, b) => concat(a, b)) : undefined;
  return { chunks, message, error };
}

const whole = (turn: Turn): Promise<AIMessage> => scriptedModel([turn]).invoke(hello);

describe("errors of the provider", () => {
  it.each([
    ["a rate limit", fault.rateLimit(), 429, true],
    ["an overload", fault.status(529), 529, undefined],
    ["a server error", fault.status(500), 500, undefined],
    ["a wrong key", fault.status(401), 401, false],
  ])("%s is thrown with what retry logic looks at", async (_, error, status, retryable) => {
    await expect(whole(error)).rejects.toMatchObject({ status });
    await expect(drain(scriptedModel([error]))).resolves.toMatchObject({ chunks: [], error: { status } });
    expect(getRetryable(error)).toBe(retryable);
  });

  it("a rate limit tells how long to wait", () => {
    const error = fault.rateLimit({ retryAfter: 2 });
    expect(error.headers.get("retry-after")).toBe("2");
    expect(error).toMatchObject({ retryAfterMs: 2000, lc_error_code: "MODEL_RATE_LIMIT" });
  });

  it("a reset connection has the system's code", async () => {
    await expect(whole(fault.connectionReset())).rejects.toMatchObject({
      code: "ECONNRESET",
      cause: { code: "ECONNRESET" },
    });
  });

  it("an overflowing context is LangChain's own error", async () => {
    const error = await whole(fault.contextOverflow()).catch((thrown: unknown) => thrown);
    expect(ContextOverflowError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ status: 400 });
  });
});

describe("replies that are not what one hoped for", () => {
  it.each([
    ["empty", fault.empty(), { content: "" }, "stop"],
    ["only thinking", fault.onlyThinking("hm"), { content: [{ type: "thinking", thinking: "hm" }] }, "stop"],
    ["a refusal", fault.refusal("no"), { additional_kwargs: { refusal: "no" } }, "refusal"],
    ["cut at the limit", fault.length("half"), { content: "half" }, "length"],
    ["filtered", fault.contentFilter("so"), { content: "so" }, "content_filter"],
  ])("%s, whole and streamed", async (_, turn, expected, finish_reason) => {
    const match = { ...expected, response_metadata: { finish_reason } };
    expect(await whole(turn)).toMatchObject(match);
    expect((await drain(scriptedModel([turn]))).message).toMatchObject(match);
  });
});

describe("calls that are not sound", () => {
  type Shape = Pick<AIMessage, "tool_calls" | "invalid_tool_calls">;
  const rows: [string, ScriptedCall, Shape, Shape][] = [
    [
      "broken JSON",
      { name: "f", rawArgs: '{"a": nope}', id: "c" },
      { tool_calls: [], invalid_tool_calls: [{ name: "f", args: '{"a": nope}', id: "c" }] },
      { tool_calls: [], invalid_tool_calls: [{ name: "f", args: '{"a": nope}', id: "c" }] },
    ],
    [
      "JSON that breaks off, which LangChain completes when it was streamed",
      { name: "f", rawArgs: '{"a": ', id: "c" },
      { tool_calls: [], invalid_tool_calls: [{ name: "f", args: '{"a": ', id: "c" }] },
      { tool_calls: [{ name: "f", args: {}, id: "c" }], invalid_tool_calls: [] },
    ],
    [
      "arguments that are text",
      { name: "f", args: "x", id: "c" },
      { tool_calls: [{ name: "f", args: "x" as never, id: "c" }], invalid_tool_calls: [] },
      { tool_calls: [], invalid_tool_calls: [{ name: "f", args: '"x"', id: "c" }] },
    ],
    [
      "arguments that are a list",
      { name: "f", args: [1], id: "c" },
      { tool_calls: [{ name: "f", args: [1], id: "c" }], invalid_tool_calls: [] },
      { tool_calls: [], invalid_tool_calls: [{ name: "f", args: "[1]", id: "c" }] },
    ],
    [
      "arguments that are null",
      { name: "f", args: null, id: "c" },
      { tool_calls: [{ name: "f", args: null as never, id: "c" }], invalid_tool_calls: [] },
      { tool_calls: [], invalid_tool_calls: [{ name: "f", args: "null", id: "c" }] },
    ],
    [
      "no id",
      { name: "f", id: null },
      { tool_calls: [{ name: "f", args: {}, id: undefined }], invalid_tool_calls: [] },
      { tool_calls: [], invalid_tool_calls: [{ name: "f", args: "{}", id: undefined }] },
    ],
    [
      "no name",
      { name: "", id: "c" },
      { tool_calls: [{ name: "", args: {}, id: "c" }], invalid_tool_calls: [] },
      { tool_calls: [{ name: "", args: {}, id: "c" }], invalid_tool_calls: [] },
    ],
  ];

  it.each(rows)("%s", async (_, call, plain, streamed) => {
    expect(await whole({ toolCalls: [call] })).toMatchObject(plain);
    expect((await drain(scriptedModel([{ toolCalls: [call] }]))).message).toMatchObject(streamed);
  });

  it("two calls of one id stay two calls", async () => {
    const toolCalls = [
      { name: "f", args: { n: 1 }, id: "c" },
      { name: "g", args: { n: 2 }, id: "c" },
    ];
    expect((await whole({ toolCalls })).tool_calls).toMatchObject(toolCalls);
    expect((await drain(scriptedModel([{ toolCalls }]))).message?.tool_calls).toMatchObject(toolCalls);
  });

  it("fault.malformedCall and callTool write the same things shortly", () => {
    expect(fault.malformedCall({ name: "f", args: "{" })).toEqual({
      toolCalls: [{ name: "f", rawArgs: "{" }],
    });
    expect(callTool("f", null, null)).toEqual({ toolCalls: [{ name: "f", args: null, id: null }] });
  });
});

describe("a cut stream", () => {
  const turn = callTool("write_file", { path: "/a", content: "x".repeat(40) }, "c1");

  it("throws in the middle of a call's arguments", async () => {
    const { chunks, message, error } = await drain(scriptedModel([fault.cutStream({ turn, after: 3 })]));
    expect(chunks).toHaveLength(3);
    expect(message?.tool_call_chunks?.[0]).toMatchObject({
      id: "c1",
      args: '{"path":"/a","content":"xxxxxxxx',
    });
    expect(message?.response_metadata).toEqual({});
    expect(error).toMatchObject({ code: "ECONNRESET" });
  });

  it("or just ends, without a reason to stop and without usage", async () => {
    const cut = fault.cutStream({ turn, after: 3, silently: true });
    const { message, error } = await drain(scriptedModel([cut]));
    expect(error).toBeUndefined();
    expect(message?.response_metadata).toEqual({});
    expect(message?.usage_metadata).toBeUndefined();
  });

  it("is a broken connection for a call that does not stream", async () => {
    const cut = fault.cutStream({ after: 1, silently: true });
    await expect(whole(cut)).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("must be cut somewhere", async () => {
    const { error } = await drain(scriptedModel([fault.cutStream({ turn: say("short"), after: 2 })]));
    expect(error).toMatchObject({ message: expect.stringContaining("`after` may be 0 to 1") });
  });
});

describe("an abort", () => {
  const STAGES: [string, Script, Partial<ScriptedModelOptions>][] = [
    ["during the latency", ["a"], { latency: 3_600_000 }],
    ["during the latency before an error", [fault.status(500)], { latency: 3_600_000 }],
    ["during a turn's own latency", [{ text: "a", latency: 3_600_000 }], {}],
    ["while nothing ever comes", [fault.never()], {}],
    ["while a function decides", () => new Promise<never>(() => {}), {}],
  ];

  it.each(STAGES)("%s ends the call at once", async (_, script, options) => {
    for (const streaming of [false, true]) {
      const controller = new AbortController();
      const model = scriptedModel(script, options);
      const { signal } = controller;
      const ended = streaming
        ? drain(model, signal).then(({ error }) => error)
        : model.invoke(hello, { signal }).catch((error: unknown) => error);
      setTimeout(() => controller.abort(), 5);
      expect(await ended).toMatchObject({ name: "AbortError" });
    }
  });

  it("between two chunks ends the stream", async () => {
    const controller = new AbortController();
    const model = scriptedModel(["abcdef"], { chunkSize: 1, chunkLatency: 3_600_000 });
    const { chunks, error } = await drain(model, controller.signal, () => controller.abort());
    expect(chunks.map(({ content }) => content)).toEqual(["a"]);
    expect(error).toMatchObject({ name: "AbortError" });
  });

  it("before the call takes no turn", async () => {
    const model = scriptedModel(["a"]);
    const aborted = model.invoke(hello, { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    expect(model.callCount).toBe(0);
    expect((await model.invoke(hello)).content).toBe("a");
  });

  it("with a reason of another kind keeps that reason as the cause", async () => {
    const controller = new AbortController();
    const ended = scriptedModel([fault.never()]).invoke(hello, { signal: controller.signal });
    controller.abort("stop button");
    await expect(ended).rejects.toMatchObject({ name: "AbortError", cause: "stop button" });
  });

  it("and a call that ends by itself leave no timer and no listener behind", async () => {
    const LONG = 61_234;
    const made = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => made.mockRestore());
    const controller = new AbortController();
    const { signal } = controller;
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await scriptedModel(["abc"], { latency: 1 })._generate(hello, { signal });
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
    const ended = scriptedModel(["abc"], { latency: LONG })._generate(hello, { signal });
    controller.abort();
    await expect(ended).rejects.toMatchObject({ name: "AbortError" });
    // The runner has timers of its own.
    const ours = made.mock.results.filter((_, call) => made.mock.calls[call]?.[1] === LONG);
    expect(ours).toHaveLength(1);
    expect(ours[0]?.value).toMatchObject({ _destroyed: true });
  });
});
