/** streamEvents, versions 2 and 3. */
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, fault, say, scriptedModel } from "../../testing/index.ts";

const ask = () => ({ messages: [new HumanMessage("Go.")] });
/** A loaded machine may take its time. */
const WORDS = "A rather long answer, in several chunks of text.";
const echo = tool(({ text }) => text, {
  name: "echo",
  description: "Echoes.",
  schema: z.object({ text: z.string() }),
});
const echoing = (options: Partial<Parameters<typeof createDeepAgent>[0]> = {}) =>
  createDeepAgent({
    name: "echoing",
    model: scriptedModel([callTool("echo", { text: "hi" }, "e1"), say(WORDS)]),
    tools: [echo],
    ...(options as object),
  });

describe('streamEvents, version "v2"', () => {
  async function events(agent = echoing()) {
    const all: any[] = [];
    for await (const event of agent.streamEvents(ask(), { version: "v2" })) all.push(event);
    return all;
  }

  test("tool runs have the name of the tool, nodes that of the node", async () => {
    const all = await events();
    const of = (type: string) => all.filter(({ event }) => event === type).map(({ name }) => name);
    expect(of("on_tool_start")).toEqual(["echo"]);
    expect(of("on_tool_end")).toEqual(["echo"]);
    expect(of("on_chat_model_start")).toEqual(["ScriptedModel", "ScriptedModel"]);
    const chains = of("on_chain_start");
    expect(chains[0]).toBe("echoing");
    expect(chains.filter((name) => name === "model_request")).toHaveLength(2);
    expect(chains.filter((name) => name === "tools")).toHaveLength(1);
  });

  test("tokens come as events, and the last event has the result", async () => {
    const all = await events();
    const tokens = all
      .filter(({ event }) => event === "on_chat_model_stream")
      .map(({ data }) => data.chunk.text);
    expect(tokens.join("")).toBe(WORDS);
    const end = all.at(-1);
    expect(end.event).toBe("on_chain_end");
    expect(end.data.output.messages.at(-1).text).toBe(WORDS);
  });

  test("inner runs carry the node, the agent and what they were given", async () => {
    const all = await events();
    const { metadata, data } = all.find(({ event }) => event === "on_tool_start");
    expect(metadata).toMatchObject({ langgraph_node: "tools", lc_agent_name: "echoing" });
    expect(JSON.stringify(data.input)).toContain("hi");
  });

  test("leaving the loop over the events stops the run", async () => {
    const model = scriptedModel([callTool("echo", { text: "hi" })], { loop: true });
    const agent = createDeepAgent({ model, tools: [echo] });
    for await (const { event } of agent.streamEvents(ask(), { version: "v2" }))
      if (event === "on_tool_end") break;
    const calls = model.callCount;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(model.callCount).toBeLessThanOrEqual(calls + 1);
  });

  test("an error of the run comes out of the loop over the events", async () => {
    await expect(
      events(createDeepAgent({ model: scriptedModel([fault.status(400)]) })),
    ).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe('streamEvents, version "v3"', () => {
  test("run.output is the result, run.values the states", async () => {
    const run: any = await echoing().streamEvents(ask(), { version: "v3" });
    const states: any[] = [];
    for await (const state of run.values) states.push(state);
    const output = await run.output;
    expect(output.messages.at(-1).text ?? output.messages.at(-1).content).toBe(WORDS);
    expect(states.at(-1).messages).toHaveLength(4);
  });

  test("run.messages streams the text of each message", async () => {
    const run: any = await echoing().streamEvents(ask(), { version: "v3" });
    const texts: string[] = [];
    for await (const message of run.messages) {
      let text = "";
      for await (const token of message.text) text += token;
      texts.push(text);
    }
    expect(texts.filter((text) => text !== "")).toEqual([WORDS]);
  });

  test("run.toolCalls tells name, input, output and status", async () => {
    const run: any = await echoing().streamEvents(ask(), { version: "v3" });
    const calls: any[] = [];
    for await (const call of run.toolCalls)
      calls.push([call.name, call.callId, call.input, await call.output, await call.status]);
    expect(calls).toEqual([["echo", "e1", { text: "hi" }, "hi", "finished"]]);
  });

  test("a failed call is told as such", async () => {
    const broken = tool(
      () => {
        throw new Error("out of order");
      },
      { name: "broken", description: "Breaks.", schema: z.object({}) },
    );
    const agent = createDeepAgent({
      model: scriptedModel([callTool("broken", {}, "b1"), say("done")]),
      tools: [broken],
    });
    const run: any = await agent.streamEvents(ask(), { version: "v3" });
    const calls: any[] = [];
    for await (const call of run.toolCalls) {
      call.output.catch(() => undefined);
      calls.push([call.name, await call.status]);
    }
    expect(calls).toEqual([["broken", "error"]]);
    expect((await run.output).messages).toHaveLength(4);
  });

  test("run.abort() stops the run", async () => {
    const model = scriptedModel([fault.never()]);
    const run: any = await createDeepAgent({ model }).streamEvents(ask(), { version: "v3" });
    const output = Promise.resolve(run.output).then(
      () => "finished",
      () => "stopped",
    );
    await expect.poll(() => model.callCount).toBe(1);
    run.abort();
    expect(await output).toBe("stopped");
  });

  test("it works on a thread, and with transformers of the agent", async () => {
    const seen: string[] = [];
    const transformer = () => ({
      init: () => ({}),
      process: (event: { method: string }) => {
        seen.push(event.method);
        return true;
      },
    });
    const agent = echoing({ checkpointer: new MemorySaver(), streamTransformers: [transformer] });
    const thread = { configurable: { thread_id: "t" } };
    const run: any = await agent.streamEvents(ask(), { version: "v3", ...thread });
    await run.output;
    expect(new Set(seen)).toEqual(expect.objectContaining(new Set(["values", "messages"])));
    expect((await agent.getState(thread)).values.messages).toHaveLength(4);
  });
});
