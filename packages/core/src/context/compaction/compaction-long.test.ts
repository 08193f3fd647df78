/** A thread that never ends. */
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { createDeepAgent } from "../../agent.ts";
import { createSummarizationMiddleware } from "../../middleware/summarization.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import { asTurn } from "../../testing/turn.ts";
import { countTokens, strictModel, talk, words } from "../fixtures/agents-for-tests.ts";

const WINDOW = 8000;
const TURNS = sized(2_500, 10_000);

/** Counts each message once. */
function counter(): (messages: readonly BaseMessage[], tools: readonly unknown[]) => number {
  const known = new WeakMap<BaseMessage, number>();
  let fixed: number | undefined;
  const countOf = (message: BaseMessage): number => {
    const count = known.get(message) ?? countTokens([message]);
    known.set(message, count);
    return count;
  };
  return (messages, tools) => {
    fixed ??= countTokens([], tools);
    return messages.reduce((sum, message) => sum + countOf(message), fixed);
  };
}

describe("a run of very many turns", { timeout: 1_800_000 }, () => {
  it("fits into a small window at each of them, and pays for summaries in proportion", async () => {
    const summarised: number[] = [];
    const sizes: number[] = [];
    const count = counter();
    const model = scriptedModel(
      ({ turn, messages, tools }) => {
        const size = count(messages, tools);
        sizes.push(size);
        const next = turn < TURNS ? callTool("talk", { words: 20 + ((turn * 37) % 60) }) : say("done");
        return { ...asTurn(next), usage: { input_tokens: size, output_tokens: 20 } };
      },
      { record: false, profile: { maxInputTokens: WINDOW } },
    );
    const notes = strictModel(
      WINDOW,
      () => {
        summarised.push(sizes.length);
        return `Notes. ${words(100)}`;
      },
      { record: false },
    );
    const agent = createDeepAgent({
      model,
      tools: [talk],
      middleware: [createSummarizationMiddleware({ model: notes })] as never,
    });
    const messages = [new HumanMessage("Talk for ever.")];
    const result = await agent.invoke({ messages }, { recursionLimit: 10 * TURNS });
    expect(result.messages).toHaveLength(2 * TURNS + 2);
    expect(result.messages.at(-1)?.text).toBe("done");
    expect(sizes).toHaveLength(TURNS + 1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(WINDOW);
    expect([...model.violations, ...notes.violations]).toEqual([]);
    const half = summarised.filter((turn) => turn < TURNS / 2).length;
    expect(half).toBeGreaterThan(20);
    expect(Math.abs(summarised.length - 2 * half)).toBeLessThanOrEqual(0.1 * half);
  });
});
