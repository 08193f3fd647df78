/** Requests are valid and fit the window, for any history. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { sized } from "../../../../../scripts/test-size.ts";
import { DeepwrightError } from "../../errors.ts";
import { fault, say } from "../../testing/index.ts";
import { compactingAgent, countTokens, strictModel, thread, words } from "../fixtures/agents-for-tests.ts";

const WINDOW = 8000;
const FIVE_MEGABYTES = words(780_000);

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

const hugeTurn: Turn = (number) => [
  new AIMessage({
    content: "",
    tool_calls: ["a", "b"].map((id) => ({ id: `c${number}_${id}`, name: "ls", args: { path: "/" } })),
  }),
  new ToolMessage({ tool_call_id: `c${number}_a`, name: "ls", content: FIVE_MEGABYTES }),
  new ToolMessage({ tool_call_id: `c${number}_b`, name: "ls", content: [image] as never }),
];

const anyTurn = fc.oneof(humanTurn, wordsTurn, toolTurn, toolTurn);
const some = fc.array(anyTurn, { maxLength: 60 });
const many = fc.array(anyTurn, { minLength: 50, maxLength: 70 });

/** Three of four are long, and three of four have results of five megabytes. */
const historyOf = (scale: number): fc.Arbitrary<BaseMessage[]> =>
  fc
    .record({
      turns: fc.oneof({ weight: 1, arbitrary: some }, { weight: 3, arbitrary: many }),
      last: fc.oneof(humanTurn, toolTurn),
      huge: fc.nat(3),
      at: fc.nat(60),
    })
    .map(({ turns, last, huge, at }) => {
      const all = Array.from({ length: scale }, () => turns).flat();
      if (huge > 0) all.splice(at, 0, hugeTurn);
      const messages = [new HumanMessage("Begin."), ...[...all, last].flatMap((turn, i) => turn(i))];
      return Object.assign(messages, { [fc.toStringMethod]: () => outline(messages) });
    });

const outline = (messages: readonly BaseMessage[]): string =>
  messages.map(({ type, text }) => `${type} ${text.length}`).join(", ");

const isHuge = ({ content }: BaseMessage): boolean => content === FIVE_MEGABYTES;
const hasImage = ({ content }: BaseMessage): boolean =>
  typeof content !== "string" && content.includes(image);
const hasParallelCalls = (message: BaseMessage): boolean =>
  ((message as AIMessage).tool_calls?.length ?? 0) > 1;

/** Ten windows without what is huge, and all that makes a history hard. */
function isHard(messages: readonly BaseMessage[], window: number): boolean {
  return (
    [isHuge, hasImage, hasParallelCalls].every((is) => messages.some(is)) &&
    countTokens(messages.filter((message) => !isHuge(message))) >= 10 * window
  );
}

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

describe("any history", () => {
  it.each([
    ["few tools", 3, "Be brief.", WINDOW, sized(10, 40)],
    ["200 tools", 200, "Be brief.", 5 * WINDOW, sized(5, 30)],
    ["a prompt of 30,000 tokens", 3, words(12_000), 7 * WINDOW, sized(5, 20)],
  ])(
    "of ten windows and more, with %s, gives a valid request that fits, in a bounded number of calls",
    async (_name, count, systemPrompt, window, numRuns) => {
      const failure = fc.constantFrom<Failure>("none", "none", "throws", "overflows", "empty");
      let hard = 0;
      await fc.assert(
        fc.asyncProperty(historyOf(window / WINDOW), failure, async (messages, kind) => {
          if (isHard(messages, window)) hard += 1;
          const model = strictModel(window, [say("done")]);
          const notes = strictModel(window, failures[kind], { maxRetries: 0 });
          const agent = compactingAgent({
            model,
            summary: { model: notes },
            agent: { tools: tools(count), systemPrompt, checkpointer: false },
          });
          const done = await agent.invoke({ messages }, thread());
          expect(done.messages.at(-1)?.text).toBe("done");
          expect(model.violations).toEqual([]);
          const sent = model.calls.at(-1);
          expect(countTokens(sent?.messages ?? [], sent?.tools)).toBeLessThanOrEqual(window);
          expect(model.callCount).toBeLessThanOrEqual(3);
          const read = countTokens(messages.filter((message) => !isHuge(message))) + 4 * window;
          expect(notes.callCount).toBeLessThanOrEqual(Math.ceil(read / (window * 0.25)) + 1);
        }),
        { numRuns },
      );
      if (numRuns >= 20) expect(hard).toBeGreaterThan(0);
    },
  );

  it("with a result of five megabytes at its end is no matter", async () => {
    const messages = [new HumanMessage("Read it."), ...hugeTurn(0)];
    const model = strictModel(WINDOW, [say("done")]);
    const notes = strictModel(WINDOW, failures.none);
    await compactingAgent({ model, summary: { model: notes } }).invoke({ messages }, thread());
    expect(model.calls.at(-1)?.messages.at(-2)?.text).toContain("characters left out");
    expect(notes.callCount).toBeLessThanOrEqual(1);
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
