import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { withinCpuLimit } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import { wholeStream } from "./whole-stream.ts";

/** Streams what it is given, has private fields, and ends a run when the calls were answered. */
class PieceModel extends BaseChatModel {
  readonly #pieces: readonly AIMessageChunk[];

  constructor(pieces: readonly AIMessageChunk[]) {
    super({});
    this.#pieces = pieces;
  }

  override _llmType(): string {
    return "pieces";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(): Promise<ChatResult> {
    throw new Error("This model only streams.");
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    listener?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const isAnswered = messages.at(-1)?.type === "tool";
    for (const message of isAnswered ? [new AIMessageChunk("done")] : this.#pieces) {
      const chunk = new ChatGenerationChunk({ text: message.text, message });
      yield chunk;
      await listener?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

function callPieces(json: string, size: number): AIMessageChunk[] {
  const pieces = [call({ index: 0, id: "c1", name: "save", args: "" })];
  for (let at = 0; at < json.length; at += size)
    pieces.push(call({ index: 0, args: json.slice(at, at + size) }));
  return pieces;
}

function call(chunk: { index?: number; id?: string; name?: string; args: string }): AIMessageChunk {
  return new AIMessageChunk({ content: "", tool_call_chunks: [{ type: "tool_call_chunk", ...chunk }] });
}

describe("a streamed reply", () => {
  test("of 200,000 characters of arguments in small pieces costs linear time and runs", async () => {
    const text = 'some "words" of a file\n'.repeat(8_400);
    const saved: string[] = [];
    const save = tool(
      ({ content }) => {
        saved.push(content);
        return "saved";
      },
      { name: "save", description: "Saves.", schema: z.object({ content: z.string() }) },
    );
    const pieces = callPieces(JSON.stringify({ content: text }), 8);
    let heard = 0;
    await withinCpuLimit("a call whose arguments come in 25,000 pieces", async () => {
      const agent = createDeepAgent({ model: new PieceModel(pieces), tools: [save] });
      heard = 0;
      for await (const [piece] of await agent.stream(
        { messages: [{ role: "user", content: "go" }] },
        { streamMode: "messages" },
      ))
        if (AIMessage.isInstance(piece)) heard += 1;
    });
    expect(saved.at(-1)).toBe(text);
    expect(heard).toBeGreaterThan(pieces.length);
  });

  test.each<[string, AIMessageChunk[]]>([
    ["of words", ["a", "b", ""].map((content) => new AIMessageChunk({ id: "m", content }))],
    ["of one call", callPieces('{"a":[1,2,"x"]}', 3)],
    ["of a call that is cut off", callPieces('{"a":[1,2', 3)],
    [
      "of calls by turns",
      [0, 1, 0, 1, 0].map((index) => call({ index, id: `c${index}`, name: "n", args: "1" })),
    ],
    ["of calls without a number", ["a", "b"].map((id) => call({ id, name: "n", args: "{}" }))],
    ["of pieces without number and id", [call({ args: "{" }), call({ args: "}" })]],
    [
      "of two calls in one piece",
      [
        new AIMessageChunk(""),
        new AIMessageChunk({
          content: "",
          tool_call_chunks: [
            { index: 0, id: "a", name: "n", args: "{" },
            { index: 0, args: "}" },
          ],
        }),
      ],
    ],
    [
      "of whole calls",
      ["a", "b"].map((id) => new AIMessageChunk({ content: "", tool_calls: [{ id, name: "n", args: {} }] })),
    ],
    [
      "of blocks",
      [
        new AIMessageChunk({ content: [{ type: "text", text: "a", index: 0 }] }),
        new AIMessageChunk({
          content: [{ type: "text", text: "b", index: 0 }],
          additional_kwargs: { x: "1" },
        }),
        new AIMessageChunk({
          content: [{ type: "input_json_delta", input: "{}", index: 1 }],
          additional_kwargs: { x: "2" },
          response_metadata: { stop: "end" },
          usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
          tool_call_chunks: [{ index: 1, id: "c", name: "n", args: "{}" }],
        }),
      ],
    ],
  ])("%s is what LangChain makes of it", async (_, messages) => {
    const pieces = () => messages.map((message) => new ChatGenerationChunk({ text: message.text, message }));
    async function* stream(): AsyncGenerator<ChatGenerationChunk> {
      yield* pieces();
    }
    const listener = { runId: "r" };
    const got: ChatGenerationChunk[] = [];
    for await (const whole of wholeStream(stream(), [[], {}, listener])) got.push(whole);
    const [first, ...others] = pieces();
    const expected = others.reduce((sum, piece) => sum.concat(piece), first as ChatGenerationChunk);
    expect(got).toHaveLength(1);
    expect(JSON.stringify(got[0])).toBe(JSON.stringify(expected));
    expect(got[0]?.message).toEqual(expected.message);
  });

  test("is passed on in pieces where nobody listens, and ends at an abort", async () => {
    const stop = new AbortController();
    async function* stream(): AsyncGenerator<ChatGenerationChunk> {
      for (const text of ["a", "b", "c"]) {
        if (text === "c") stop.abort();
        yield new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      }
    }
    const texts: string[] = [];
    for await (const { text } of wholeStream(stream(), [[], {}])) texts.push(text);
    expect(texts).toEqual(["a", "b", "c"]);
    const cut: string[] = [];
    for await (const { text } of wholeStream(stream(), [[], { signal: stop.signal }, { runId: "r" }]))
      cut.push(text);
    expect(cut).toEqual([]);
  });
});
