/** Whatever is in a history, what leaves for the model is valid and fits. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DeepwrightError } from "../errors.ts";
import { fault, say } from "../testing/index.ts";
import { compactingAgent, countTokens, strictModel, thread, words } from "./agents-for-tests.ts";

const WINDOW = 8000;
const LONG = 240_000;

type Turn = (number: number) => BaseMessage[];

const image = { type: "image", mimeType: "image/png", data: "A".repeat(2000) };
const length = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 120 }) },
  { weight: 2, arbitrary: fc.integer({ min: 120, max: 1500 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1500, max: 6000 }) },
);

const humanTurn = length.map(
  (count): Turn =>
    (number) => [new HumanMessage(`Request ${number}: ${words(Math.min(count, 900))}`)],
);
const wordsTurn = length.map(
  (count): Turn =>
    () => [new AIMessage(words(count)), new HumanMessage("Go on.")],
);
const result = fc.record({ count: length, hasImage: fc.nat(9).map((n) => n === 0), failed: fc.boolean() });
const toolTurn = fc.array(result, { minLength: 1, maxLength: 6 }).map(
  (results): Turn =>
    (number) => [
      new AIMessage({
        content: number % 2 === 0 ? "" : "Working.",
        tool_calls: results.map(({ count }, i) => ({
          id: `c${number}_${i}`,
          name: "write_file",
          args: { file_path: `/${number}/${i}`, content: words(Math.min(count, 1000)) },
        })),
      }),
      ...results.map(({ count, hasImage, failed }, i) => {
        const text = words(count);
        return new ToolMessage({
          tool_call_id: `c${number}_${i}`,
          name: "write_file",
          status: failed ? "error" : "success",
          content: hasImage ? ([image, { type: "text", text }] as never) : text,
        });
      }),
    ],
);

const history = fc
  .tuple(
    fc.array(fc.oneof(humanTurn, wordsTurn, toolTurn, toolTurn), { maxLength: 60 }),
    fc.oneof(humanTurn, toolTurn),
  )
  .map(([turns, last]) => [new HumanMessage("Begin."), ...[...turns, last].flatMap((turn, i) => turn(i))]);

const tools = (count: number): DynamicStructuredTool[] =>
  Array.from(
    { length: count },
    (_, i) =>
      new DynamicStructuredTool({
        name: `tool_${i}`,
        description: `Does thing ${i}.`,
        schema: z.object({ a: z.string() }),
        func: async () => "",
      }),
  );

type Failure = "none" | "throws" | "overflows" | "empty";
const failures: Record<Failure, () => never> = {
  none: () => say(`Notes: ${words(100)}`) as never,
  throws: () => new Error("down") as never,
  overflows: () => fault.contextOverflow() as never,
  empty: () => fault.empty() as never,
};

describe("any history", { timeout: LONG }, () => {
  it("of up to ten windows gives a valid request that fits, in a bounded number of calls", async () => {
    const cases = fc.tuple(history, fc.constantFrom<Failure>("none", "none", "throws", "overflows", "empty"));
    await fc.assert(
      fc.asyncProperty(cases, async ([messages, failure]) => {
        const model = strictModel(WINDOW, [say("done")]);
        const notes = strictModel(WINDOW, failures[failure], { maxRetries: 0 });
        const agent = compactingAgent({ model, summary: { model: notes } });
        const done = await agent.invoke({ messages }, thread());
        expect(done.messages.at(-1)?.text).toBe("done");
        expect(model.violations).toEqual([]);
        const sent = model.calls.at(-1);
        expect(countTokens(sent?.messages ?? [], sent?.tools)).toBeLessThanOrEqual(WINDOW);
        expect(model.callCount).toBeLessThanOrEqual(3);
        const evicted = countTokens(messages);
        expect(notes.callCount).toBeLessThanOrEqual(Math.ceil(evicted / (WINDOW * 0.25)) + 1);
      }),
      { numRuns: 40 },
    );
  });

  it("with a result of five megabytes is no matter", async () => {
    const messages = [
      new HumanMessage("Read it."),
      new AIMessage({ content: "", tool_calls: [{ id: "c", name: "read_file", args: { file_path: "/x" } }] }),
      new ToolMessage({ tool_call_id: "c", name: "read_file", content: words(750_000) }),
    ];
    const model = strictModel(WINDOW, [say("done")]);
    const notes = strictModel(WINDOW, failures.none);
    await compactingAgent({ model, summary: { model: notes } }).invoke({ messages }, thread());
    expect(model.calls.at(-1)?.messages.at(-1)?.text).toContain("characters left out");
    expect(notes.callCount).toBeLessThanOrEqual(1);
  });

  it.each([
    ["200 tools", 200, "Be brief.", 40_000],
    ["a prompt of 30,000 tokens", 3, words(12_000), 60_000],
  ])("with %s fits a window that has room for them", async (_name, count, systemPrompt, window) => {
    await fc.assert(
      fc.asyncProperty(history, async (messages) => {
        const model = strictModel(window, [say("done")]);
        const notes = strictModel(window, failures.none);
        const agent = compactingAgent({
          model,
          summary: { model: notes },
          agent: { tools: tools(count), systemPrompt },
        });
        await agent.invoke({ messages }, thread());
        expect(model.violations).toEqual([]);
        expect(model.callCount).toBeLessThanOrEqual(3);
      }),
      { numRuns: 8 },
    );
  });

  it.each([
    ["200 tools", 200, "Be brief."],
    ["a prompt of 30,000 tokens", 3, words(12_000)],
  ])("with %s in a small window is a typed error without any call", async (_name, count, systemPrompt) => {
    const model = strictModel(WINDOW, [say("done")]);
    const notes = strictModel(WINDOW, failures.none);
    const agent = compactingAgent({
      model,
      summary: { model: notes },
      agent: { tools: tools(count), systemPrompt },
    });
    const messages = [new HumanMessage("a"), new AIMessage(words(4000)), new HumanMessage("b")];
    const error = await agent.invoke({ messages }, thread()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DeepwrightError);
    expect(error).toMatchObject({ code: "CONTEXT_OVERFLOW" });
    expect(notes.callCount).toBe(0);
    expect(model.callCount).toBe(0);
  });
});
