import { HumanMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { scriptedModel } from "../../testing/index.ts";
import { compactingAgent, strictModel, summariser, thread, words } from "../fixtures/agents-for-tests.ts";
import { knownWindow, learnFit, learnOverflow } from "./learned-window.ts";

const modelOf = (window: number) => scriptedModel([], { profile: { maxInputTokens: window } });

describe("the window of a model", () => {
  it("is not learned from a refusal of little: that is about bytes or names, or from a proxy", () => {
    const model = modelOf(200_000);
    learnOverflow(model, 4_000, undefined);
    expect(knownWindow(model)).toBe(200_000);
  });

  it("is learned from a refusal of much, or of what the provider names, and forgotten when more was taken", () => {
    const model = modelOf(200_000);
    learnOverflow(model, 150_000, undefined);
    expect(knownWindow(model)).toBe(135_000);
    learnOverflow(model, 4_000, 3_000);
    expect(knownWindow(model)).toBe(3_000);
    learnFit(model, 120_000);
    expect(knownWindow(model)).toBe(120_000);
  });

  it("belongs to the model that refused, not to the one the agent was built with", async () => {
    const large = modelOf(200_000);
    const small = strictModel(4_000, () => "ok");
    const choose = createMiddleware({
      name: "choose",
      wrapModelCall: (request, handler) => handler({ ...request, model: small as never }),
    });
    const agent = compactingAgent({
      model: large,
      summary: { model: summariser() },
      agent: { middleware: [choose] },
    });
    const history = Array.from({ length: 30 }, (_, i) => [
      new HumanMessage(`question ${i} ${words(60)}`),
      { role: "assistant", content: `answer ${i} ${words(60)}` },
    ]).flat();
    await agent.invoke({ messages: [...history, new HumanMessage("and now?")] }, thread());
    expect(knownWindow(large)).toBe(200_000);
    expect(small.violations).toEqual([]);
  });
});
