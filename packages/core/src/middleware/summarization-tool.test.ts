import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../agent.ts";
import {
  ask,
  compactingAgent,
  compactionOf,
  conversations,
  isSummary,
  strictModel,
  summariser,
  thread,
  words,
} from "../context/fixtures/agents-for-tests.ts";
import { ConfigurationError } from "../errors.ts";
import { callTool, say } from "../testing/index.ts";
import { createSummarizationToolMiddleware } from "./summarization-tool.ts";

const script = ({ messages }: { messages: readonly BaseMessage[] }) =>
  messages.at(-1)?.text === "compact" ? callTool("compact_conversation") : say(`answer ${words(100)}`);

describe("compact_conversation", () => {
  it("compacts before the model goes on, whatever the size", async () => {
    const model = strictModel(100_000, script);
    const notes = summariser();
    const agent = compactingAgent({
      model,
      summary: { model: notes },
      agent: { middleware: [createSummarizationToolMiddleware()] as never },
    });
    for (let i = 0; i < 6; i += 1) await agent.invoke(ask(`q${i} ${words(100)}`), thread());
    expect(notes.callCount).toBe(0);
    await agent.invoke(ask("compact"), thread());
    expect(notes.callCount).toBe(1);
    const last = conversations(model).at(-1) as BaseMessage[];
    expect(isSummary(last[0])).toBe(true);
    expect(last.at(-1)).toMatchObject({ name: "compact_conversation" });
    expect(last.length).toBeLessThan(10);
    await agent.invoke(ask("go on"), thread());
    expect(notes.callCount).toBe(1);
    expect(model.violations).toEqual([]);
  });

  it("works alone, with the model and the place it was given", async () => {
    const model = strictModel(100_000, script);
    const notes = summariser();
    const middleware = [{ SummarizationMiddleware: false }, createSummarizationToolMiddleware(notes)];
    const agent = createDeepAgent({ model, middleware: middleware as never });
    const first = Array.from({ length: 8 }, (_, i) => ({
      role: i % 2 === 0 ? "user" : "assistant",
      content: `m${i} ${words(50)}`,
    }));
    await agent.invoke({ messages: [...first, { role: "user", content: "compact" }] as never });
    expect(notes.callCount).toBe(1);
    expect(isSummary(conversations(model).at(-1)?.[0])).toBe(true);
  });

  it("is made from a model and a backend, and says so to those who give an object of both", () => {
    const both = { model: summariser(), backend: "/x" };
    expect(() => createSummarizationToolMiddleware(both as never)).toThrow(ConfigurationError);
    expect(() => createSummarizationToolMiddleware(both as never)).toThrow(
      "It takes (model, backend), not an object.",
    );
    expect(() => createSummarizationToolMiddleware(both.model, both.backend as never)).toThrow(
      ConfigurationError,
    );
  });

  it("says so when there is nothing to compact", async () => {
    const model = strictModel(100_000, ({ messages }) =>
      messages.at(-1)?.type === "tool" ? say("fine") : callTool("compact_conversation"),
    );
    const notes = summariser();
    const agent = compactingAgent({
      model,
      summary: { model: notes },
      agent: { middleware: [createSummarizationToolMiddleware()] as never },
    });
    const { messages } = await agent.invoke(ask("compact"), thread());
    expect(messages.find(ToolMessage.isInstance)?.text).toContain("nothing to compact");
    expect(notes.callCount).toBe(0);
    expect(await compactionOf(agent)).toBeUndefined();
  });
});
