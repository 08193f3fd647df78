import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, getWriter, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, fault, say, scriptedModel } from "../../testing/index.ts";
import type { AnyStreamPart } from "../graph/agent-graph.ts";

const ask = () => ({ messages: [new HumanMessage("Go.")] });
/** A loaded machine may take its time. */
const WORDS = "A rather long answer, in several chunks of text.";

/** Writes to the custom stream in both ways there are. */
const report = tool(
  (_, runtime) => {
    (runtime as { writer?: (chunk: unknown) => void }).writer?.({ progress: 1 });
    getWriter()?.({ progress: 2 });
    return "reported";
  },
  { name: "report", description: "Reports.", schema: z.object({}) },
);

const reporter = () =>
  createDeepAgent({
    name: "reporter",
    model: scriptedModel([callTool("report", {}, "r1"), say(WORDS)], { loop: true }),
    tools: [report],
  });

async function collect<T>(stream: Promise<AsyncIterable<T>>): Promise<T[]> {
  const chunks: T[] = [];
  for await (const chunk of await stream) chunks.push(chunk);
  return chunks;
}

describe("stream modes", () => {
  test("values: the whole state after each step", async () => {
    const states = await collect<any>(reporter().stream(ask(), { streamMode: "values" }));
    expect(states.map((state) => state.messages.length)).toEqual([1, 2, 3, 4]);
    expect(states.at(-1)).toMatchObject({ files: {}, todos: [], outcome: { kind: "done" } });
  });

  test("updates, the default: what each node wrote", async () => {
    const updates = await collect<any>(reporter().stream(ask()));
    expect(updates.map((update) => Object.keys(update)[0])).toEqual([
      "model_request",
      "tools",
      "model_request",
    ]);
    expect(updates[1].tools.messages.map((m: ToolMessage) => m.text)).toEqual(["reported"]);
    expect(updates[2].model_request.outcome).toEqual({ kind: "done" });
  });

  test("messages: tokens as they come, and tool results, with their metadata", async () => {
    const chunks = await collect<any>(reporter().stream(ask(), { streamMode: "messages" }));
    const words = chunks.filter(([message]) => AIMessageChunk.isInstance(message) && message.text !== "");
    expect(words.length).toBeGreaterThan(2);
    expect(words.map(([message]) => message.text).join("")).toBe(WORDS);
    const [[token, metadata] = []] = words;
    expect(token.id).toBeTruthy();
    expect(metadata).toMatchObject({ langgraph_node: "model_request", lc_agent_name: "reporter" });
    const results = chunks.filter(([message]) => ToolMessage.isInstance(message));
    expect(results).toHaveLength(1);
    expect(results[0][1].langgraph_node).toBe("tools");
  });

  test("messages: each message comes under the id it has in the state, and is not repeated", async () => {
    const parts = await collect<any>(reporter().stream(ask(), { streamMode: ["messages", "values"] }));
    const final = parts.findLast(([mode]) => mode === "values")[1].messages;
    const streamed = parts.filter(([mode]) => mode === "messages").map(([, [message]]) => message);
    expect([...new Set(streamed.map((message) => message.id))]).toEqual(
      final.slice(1).map((message: AIMessage) => message.id),
    );
    const whole = streamed.filter(
      (message) => AIMessage.isInstance(message) && !AIMessageChunk.isInstance(message),
    );
    expect(whole).toEqual([]);
  });

  test("custom: what tools write, through the runtime and getWriter()", async () => {
    const written = await collect(reporter().stream(ask(), { streamMode: "custom" }));
    expect(written).toEqual([{ progress: 1 }, { progress: 2 }]);
  });

  test("tasks and debug: the beginning and end of each node", async () => {
    const tasks = await collect<any>(reporter().stream(ask(), { streamMode: "tasks" }));
    expect(tasks.map(({ name }) => name)).toEqual(
      ["model_request", "tools", "model_request"].flatMap((n) => [n, n]),
    );
    const debug = await collect<any>(reporter().stream(ask(), { streamMode: "debug" }));
    expect(debug.filter(({ type }) => type === "task_result").map(({ payload }) => payload.name)).toEqual([
      "model_request",
      "tools",
      "model_request",
    ]);
  });

  test("a tool task tells the call it runs, not the state", async () => {
    const tasks = await collect<any>(reporter().stream(ask(), { streamMode: "tasks" }));
    const started = tasks.find(({ name, input }) => name === "tools" && input !== undefined);
    expect(started.input).toEqual({ id: "r1", index: 0 });
  });

  test("several modes: pairs of mode and chunk", async () => {
    const streamMode: ("values" | "updates" | "custom")[] = ["values", "updates", "custom"];
    const pairs = await collect<any>(reporter().stream(ask(), { streamMode }));
    expect(new Set(pairs.map(([mode]) => mode))).toEqual(new Set(streamMode));
    expect(pairs.every((pair) => pair.length === 2)).toBe(true);
  });

  test("encoding text/event-stream: server-sent events", async () => {
    for (const version of [undefined, "v2"] as const) {
      const options = { streamMode: "updates" as const, encoding: "text/event-stream" as const, version };
      const bytes = await collect<any>(reporter().stream(ask(), options as never));
      const text = bytes.map((chunk) => new TextDecoder().decode(chunk)).join("");
      expect(text.match(/^event: updates$/gm)).toHaveLength(3);
      const [first = ""] = text.match(/^data: .*$/m) ?? [];
      expect(Object.keys(JSON.parse(first.slice("data: ".length)))).toEqual(["model_request"]);
    }
  });
});

describe("time", () => {
  test("tokens arrive while the model still speaks", async () => {
    let finished = false;
    const model = scriptedModel([say("x".repeat(160))], { chunkLatency: 20 });
    const agent = createDeepAgent({ model });
    const seenBeforeEnd: boolean[] = [];
    const run = await agent.stream(ask(), { streamMode: ["messages", "updates"] });
    for await (const [mode] of run) {
      if (mode === "updates") finished = true;
      else seenBeforeEnd.push(!finished);
    }
    expect(seenBeforeEnd.length).toBeGreaterThanOrEqual(10);
    expect(seenBeforeEnd.every(Boolean)).toBe(true);
  });

  describe.each([[undefined], ["v2"]] as const)("leaving a stream (version %s)", (version) => {
    /** A tool that runs until it is told to stop, and a model that would go on for ever. */
    function endless() {
      const started: boolean[] = [];
      const stopped: boolean[] = [];
      const wait = tool(
        async (_, { signal }: { signal?: AbortSignal }) => {
          started.push(true);
          await new Promise((resolve) => {
            if (signal?.aborted) resolve(undefined);
            signal?.addEventListener("abort", resolve, { once: true });
          });
          stopped.push(true);
          return "stopped";
        },
        { name: "wait", description: "Waits.", schema: z.object({}) },
      );
      const model = scriptedModel([callTool("wait")], { loop: true });
      const agent = createDeepAgent({ model, tools: [wait] });
      const stream = () => agent.stream(ask(), { streamMode: "tasks", version } as never);
      return { stream, model, started, stopped };
    }
    const isToolStart = (chunk: any) => (chunk.data ?? chunk).name === "tools";

    test("by breaking out of the loop stops the run", async () => {
      const { stream, model, stopped } = endless();
      for await (const chunk of await stream()) if (isToolStart(chunk)) break;
      await expect.poll(() => stopped).toEqual([true]);
      expect(model.callCount).toBe(1);
    });

    test("by an error in the loop stops the run", async () => {
      const { stream, stopped } = endless();
      const read = async () => {
        for await (const chunk of await stream()) if (isToolStart(chunk)) throw new RangeError("mine");
      };
      await expect(read()).rejects.toThrow(RangeError);
      await expect.poll(() => stopped).toEqual([true]);
    });

    test("by cancelling its reader, as a closed connection does, stops the run", async () => {
      const { stream, stopped } = endless();
      const reader = (await stream()).getReader();
      while (!isToolStart((await reader.read()).value));
      await reader.cancel();
      await expect.poll(() => stopped).toEqual([true]);
    });

    test("by cancelling it without ever reading it stops the run", async () => {
      const { stream, started, stopped } = endless();
      const run = await stream();
      await expect.poll(() => started).toEqual([true]);
      await run.cancel();
      await expect.poll(() => stopped).toEqual([true]);
    });

    test("by cancelling it while it is read stops the run", async () => {
      const { stream, stopped } = endless();
      const run = await stream();
      const reading = (async () => {
        for await (const chunk of run) if (isToolStart(chunk)) await run.cancel();
      })();
      await expect(reading).rejects.toThrow();
      await expect.poll(() => stopped).toEqual([true]);
    });
  });

  test("leaving a stream at a question keeps the question", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("report"), say("done")]),
      tools: [report],
      interruptOn: { report: true },
      checkpointer: new MemorySaver(),
    });
    const thread = { configurable: { thread_id: "t" } };
    for await (const update of await agent.stream(ask(), { ...thread, streamMode: "updates" }))
      if ("__interrupt__" in update) break;
    const answer = new Command({ resume: { decisions: [{ type: "approve" }] } });
    expect((await agent.invoke(answer, thread)).messages.at(-1)?.text).toBe("done");
  });

  test("a signal stops the model, the stream rejects, and no later turn comes", async () => {
    const model = scriptedModel([fault.never()]);
    const abort = new AbortController();
    const run = collect(createDeepAgent({ model }).stream(ask(), { signal: abort.signal }));
    await expect.poll(() => model.callCount).toBe(1);
    abort.abort();
    await expect(run).rejects.toThrow();
  });
});

describe('version: "v2"', () => {
  test("every chunk is {type, ns, data}; ns is empty for the agent itself", async () => {
    const streamMode: ("values" | "updates" | "messages" | "custom")[] = [
      "values",
      "updates",
      "messages",
      "custom",
    ];
    const parts = await collect<AnyStreamPart>(reporter().stream(ask(), { version: "v2", streamMode }));
    expect(new Set(parts.map(({ type }) => type))).toEqual(new Set(streamMode));
    for (const part of parts) expect(Object.keys(part)).toEqual(["type", "ns", "data"]);
    for (const part of parts) expect(part.ns).toEqual([]);
    const token = parts.find(({ type }) => type === "messages")?.data as [
      AIMessageChunk,
      { langgraph_node: string },
    ];
    expect(token[1].langgraph_node).toBe("model_request");
  });

  test("one mode alone, none at all, and subgraphs have the same form", async () => {
    const one = await collect<AnyStreamPart>(
      reporter().stream(ask(), { version: "v2", streamMode: "custom" }),
    );
    expect(one).toEqual([1, 2].map((progress) => ({ type: "custom", ns: [], data: { progress } })));
    const none = await collect<AnyStreamPart>(reporter().stream(ask(), { version: "v2" }));
    expect(none.map(({ type }) => type)).toEqual(["updates", "updates", "updates"]);
    const sub = await collect<AnyStreamPart>(reporter().stream(ask(), { version: "v2", subgraphs: true }));
    expect(sub.map(({ ns }) => ns)).toEqual([[], [], []]);
  });

  test("invoke gives {value, interrupts}", async () => {
    const { value, interrupts } = await reporter().invoke(ask(), { version: "v2" });
    expect(value.messages).toHaveLength(4);
    expect(interrupts).toEqual([]);
  });
});

describe("as a node of another graph", () => {
  const parent = () =>
    new StateGraph(MessagesAnnotation)
      .addNode("helper", reporter() as never)
      .addEdge(START, "helper" as never)
      .compile();

  test("its messages become the parent's", async () => {
    const { messages } = await parent().invoke(ask());
    expect(messages.map((m) => m.text)).toEqual(["Go.", "", "reported", WORDS]);
  });

  test("with subgraphs its events come under its namespace, without they do not come", async () => {
    const all = await collect<any>(parent().stream(ask(), { streamMode: "updates", subgraphs: true }));
    const inner = all.filter(([ns]) => ns.length > 0);
    expect(inner.map(([, update]) => Object.keys(update)[0])).toEqual([
      "model_request",
      "tools",
      "model_request",
    ]);
    for (const [ns] of inner) expect(ns[0]).toMatch(/^helper:[0-9a-f-]+$/);
    const outer = await collect<any>(parent().stream(ask(), { streamMode: "updates" }));
    expect(outer.map((update) => Object.keys(update))).toEqual([["helper"]]);
  });

  test("its tokens and custom chunks reach the parent's stream", async () => {
    const pairs = await collect<any>(
      parent().stream(ask(), { streamMode: ["messages", "custom"], subgraphs: true }),
    );
    const tokens = pairs.filter(
      ([, mode, data]) => mode === "messages" && AIMessageChunk.isInstance(data[0]),
    );
    expect(tokens.map(([, , [message]]) => message.text).join("")).toBe(WORDS);
    expect(tokens.at(-1)[2][1]).toMatchObject({ langgraph_node: "model_request", lc_agent_name: "reporter" });
    expect(pairs.filter(([, mode]) => mode === "custom").map(([, , data]) => data)).toEqual([
      { progress: 1 },
      { progress: 2 },
    ]);
  });
});
