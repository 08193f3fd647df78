import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver, StateSchema } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import {
  conversations,
  isSummary,
  strictModel,
  summariser,
  talk,
  thread,
  words,
} from "../../context/fixtures/agents-for-tests.ts";
import { createSummarizationMiddleware } from "../../middleware/summarization.ts";
import { callTool, fault, say, scriptedModel } from "../../testing/index.ts";
import { AGAIN, type Stages } from "../contract/stages.ts";
import { hooksForStages } from "./stage-hooks.ts";

const middleware = (stages: Stages) => ({
  name: "staged",
  stateSchema: new StateSchema({ _seen: z.any() }) as never,
  ...hooksForStages(stages),
});

const hello = { messages: [{ role: "user", content: "hello" }] };

describe("stages in LangChain's own loop", () => {
  it("see what comes in, results and replies, and what they write reaches the state", async () => {
    const model = scriptedModel([callTool("talk", { words: 2 }), say("bye")]);
    const stages: Stages = {
      input: (messages) =>
        messages.map((message) => new HumanMessage({ id: message.id ?? "", content: "hello there" })),
      result: (message, call, task) => {
        task.write("_seen", call.name);
        return new ToolMessage({
          ...message.lc_kwargs,
          tool_call_id: message.tool_call_id,
          content: "short",
        });
      },
      section: () => "BE KIND.",
      render: (message) =>
        message.type === "human" ? new HumanMessage({ id: message.id ?? "", content: "HELLO" }) : message,
      outgoing: (sent) => ({ ...sent, settings: { stop: ["x"] } }),
    };
    const agent = createAgent({
      model,
      tools: [talk],
      middleware: [middleware(stages)],
      checkpointer: new MemorySaver(),
    });
    const result = await agent.invoke(hello, thread());
    expect(result.messages.map((message: BaseMessage) => message.text)).toEqual([
      "hello there",
      "",
      "short",
      "bye",
    ]);
    const [first] = model.calls;
    expect(first?.messages.map(({ text }) => text)).toEqual(["BE KIND.", "HELLO"]);
    expect(first?.options.stop).toEqual(["x"]);
    expect(await agent.getState(thread())).toMatchObject({ values: { _seen: "talk" } });
  });

  it("build a request anew as often as they must, and then ask", async () => {
    const model = scriptedModel([say("hi")]);
    let tries = 0;
    const stages: Stages = {
      view: (view, task) => {
        tries += 1;
        task.write("_seen", tries);
        return tries < 3 ? AGAIN : view.valid;
      },
    };
    const agent = createAgent({
      model,
      tools: [],
      middleware: [middleware(stages)],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(hello, thread());
    expect(tries).toBe(3);
    expect(await agent.getState(thread())).toMatchObject({ values: { _seen: 3 } });
    expect(model.callCount).toBe(1);
  });

  it("are not asked for ever", async () => {
    const agent = createAgent({
      model: scriptedModel([say("hi")]),
      tools: [],
      middleware: [middleware({ view: () => AGAIN })],
    });
    await expect(agent.invoke(hello)).rejects.toThrow("too often");
  });

  it("decide what follows a failure", async () => {
    const model = scriptedModel([fault.contextOverflow(), say("hi"), new Error("down")]);
    const stages: Stages = { failed: (error) => (String(error).includes("too long") ? AGAIN : undefined) };
    const agent = createAgent({ model, tools: [], middleware: [middleware(stages)] });
    expect((await agent.invoke(hello)).messages.at(-1)?.text).toBe("hi");
    await expect(agent.invoke(hello)).rejects.toThrow("down");
  });

  it("compact a conversation of 60 turns", async () => {
    const backend = new MapBackend();
    const model = strictModel(6000, ({ turn }) =>
      turn < 60 ? callTool("talk", { words: 80 }) : say("done"),
    );
    const notes = summariser();
    const agent = createAgent({
      model,
      tools: [talk],
      middleware: [createSummarizationMiddleware({ model: notes, backend })],
      checkpointer: new MemorySaver(),
    });
    const result = await agent.invoke(
      { messages: [new HumanMessage("Go.")] },
      { ...thread(), recursionLimit: 500 },
    );
    expect(result.messages.at(-1)?.text).toBe("done");
    expect(result.messages.filter(AIMessage.isInstance)).toHaveLength(61);
    expect(model.violations).toEqual([]);
    const last = conversations(model).at(-1);
    expect(isSummary(last?.[0])).toBe(true);
    expect(last?.[0]?.text).toContain("Go.");
    expect((await backend.readRaw("/conversation_history/t.md")).data?.content).toContain(words(80));
    expect(notes.callCount).toBeLessThan(12);
  });
});
