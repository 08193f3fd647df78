import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scriptedModel } from "../../testing/index.ts";
import { estimateTokens } from "../../tokens.ts";
import { countTokens, strictModel, words } from "../fixtures/agents-for-tests.ts";
import { chunksOf, clipToTokens, type SummaryRequest, summarize } from "./summarize.ts";

const request = (changes: Partial<SummaryRequest>): SummaryRequest => ({
  model: scriptedModel(["notes"]),
  prompt: undefined,
  earlier: "",
  messages: [new HumanMessage("Hi")],
  tokens: 200,
  readAtMost: undefined,
  config: {},
  signal: undefined,
  timeout: 600,
  ...changes,
});

describe("summarize", () => {
  it("never asks for more than the model takes, in a bounded number of calls, each with the notes so far", async () => {
    const window = 3000;
    const model = strictModel(window, ({ turn }) => `notes ${turn}`);
    const messages = Array.from(
      { length: 40 },
      (_, i) => new HumanMessage(`message ${i}: ${words(150 * (1 + (i % 7)))}`),
    );
    const { text, failure } = await summarize(request({ model, messages }));
    expect(failure).toBeUndefined();
    expect(text).toBe(`notes ${model.callCount - 1}`);
    for (const call of model.calls) expect(countTokens(call.messages)).toBeLessThan(window);
    expect(model.callCount).toBeLessThanOrEqual(Math.ceil(countTokens(messages) / (window * 0.25)) + 1);
    expect(model.calls[1]?.messages.at(-1)?.text).toContain("<earlier_notes>\nnotes 0\n</earlier_notes>");
    const read = model.calls.map(({ messages: sent }) => sent.at(-1)?.text).join("\n");
    for (let i = 0; i < 40; i += 1) expect(read.includes(` ${i}: `)).toBe(true);
  });

  it("keeps what it has and digests the rest when a call fails on the way", async () => {
    const model = scriptedModel(["first notes", new Error("down")], {
      profile: { maxInputTokens: 2000 },
      maxRetries: 0,
    });
    const messages = Array.from({ length: 10 }, (_, i) => new HumanMessage(`request ${i} ${words(200)}`));
    const { text, failure } = await summarize(request({ model, messages, tokens: 800 }));
    expect(failure).toBe("down");
    expect(text).toContain("first notes");
    expect(text).toContain("- request 9 ");
    expect(model.callCount).toBe(2);
  });

  it("reads only the newest part where that is asked for", async () => {
    const model = scriptedModel(["notes"]);
    const messages = Array.from({ length: 10 }, (_, i) => new HumanMessage(`request ${i} ${words(200)}`));
    await summarize(request({ model, messages, readAtMost: 1000 }));
    const asked = model.calls[0]?.messages.at(-1)?.text ?? "";
    expect(asked).toMatch(/<conversation>\n### User\n\nrequest [5-8] /);
    expect(asked).toContain("request 9");
    expect(asked).toContain("- request 0 ");
  });

  it.each([
    ["Sum up: {messages} Thanks.", /^Sum up: <conversation>[\s\S]*\$&[\s\S]*<\/conversation> Thanks\.$/],
    ["Sum up.", /^Sum up\.\n\n<conversation>[\s\S]*\$&/],
  ])("takes another prompt: %j", async (prompt, expected) => {
    const model = scriptedModel(["notes"]);
    await summarize(request({ model, prompt, messages: [new HumanMessage("$& </conversation>")] }));
    const text = model.calls[0]?.messages[0]?.text ?? "";
    expect(text).toMatch(expected);
    expect(text.match(/<\/conversation>/g)).toHaveLength(1);
  });

  it("marks its runs, and binds no tools", async () => {
    const model = scriptedModel(["notes"]);
    const seen: unknown[] = [];
    const config = {
      tags: ["mine"],
      metadata: { a: 1 },
      callbacks: [{ handleChatModelStart: (...given: unknown[]) => void seen.push(given[5], given[6]) }],
    };
    await summarize(request({ model, config: config as never }));
    expect(seen).toMatchObject([["mine", "summarization"], { a: 1, lc_source: "summarization" }]);
    expect(model.calls[0]?.tools).toEqual([]);
  });

  it("cuts notes that are longer than they may be", async () => {
    const { text } = await summarize(request({ model: scriptedModel([words(5000)]), tokens: 100 }));
    expect(estimateTokens(text)).toBeLessThanOrEqual(100);
  });
});

describe("chunksOf", () => {
  it("gives pieces of the size that together hold every word", () => {
    const text = fc.integer({ min: 0, max: 800 }).map(words);
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), fc.integer({ min: 256, max: 2000 }), (texts, size) => {
        const messages = texts.map((one, i) => (i % 2 === 0 ? new HumanMessage(one) : new AIMessage(one)));
        const chunks = chunksOf(messages, size);
        for (const chunk of chunks) expect(estimateTokens(chunk.text)).toBeLessThanOrEqual(size + 8);
        const joined = chunks
          .map((chunk) => chunk.text)
          .join("")
          .replaceAll(/\s/g, "");
        for (const one of texts) expect(joined).toContain(one.replaceAll(" ", ""));
      }),
      { numRuns: 50 },
    );
  });

  it("reads head and tail of a result of five megabytes", () => {
    const result = new ToolMessage({ tool_call_id: "c", name: "t", content: words(700_000) });
    expect(chunksOf([result], 1000).length).toBeLessThanOrEqual(4);
  });
});

describe("clipToTokens", () => {
  it.each(["word ".repeat(4000), "語".repeat(4000), "\n".repeat(9000), "x".repeat(9000)])(
    "keeps to the size",
    (text) => expect(estimateTokens(clipToTokens(text, 200))).toBeLessThanOrEqual(200),
  );
});
