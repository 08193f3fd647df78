/** Facts about the run that its tools receive. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Command,
  getConfig,
  getCurrentTaskInput,
  getStore,
  getWriter,
  InMemoryStore,
  MemorySaver,
} from "@langchain/langgraph";
import type { ToolRuntime } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import { callTool, say, scriptedModel } from "./testing/index.ts";

const ask = () => ({ messages: [new HumanMessage("Go.")] });

/** An agent that calls one tool once, and gives that tool's runtime to `look`. */
function watched(look: (runtime: ToolRuntime<any, any>) => unknown, options: object = {}) {
  const watch = tool(async (_, runtime) => String((await look(runtime as never)) ?? "looked"), {
    name: "watch",
    description: "Looks.",
    schema: z.object({}),
  });
  return createDeepAgent({
    model: scriptedModel([callTool("watch", {}, "w1"), say("done")]),
    tools: [watch],
    ...options,
  } as never) as unknown as ReturnType<typeof createDeepAgent>;
}

describe("the runtime of a tool", () => {
  test("has state, toolCallId, config, context, store, writer and signal", async () => {
    const store = new InMemoryStore();
    const abort = new AbortController();
    let seen: ToolRuntime<any, any> | undefined;
    const agent = watched(
      (runtime) => {
        seen = runtime;
        return "ok";
      },
      { store, checkpointer: new MemorySaver() },
    );
    await agent.invoke(ask(), {
      context: { user: "ann" },
      configurable: { thread_id: "t", extra: 1 },
      signal: abort.signal,
      tags: ["mine"],
      metadata: { job: 7 },
    });
    expect(seen?.toolCallId).toBe("w1");
    expect(seen?.context).toEqual({ user: "ann" });
    expect(seen?.store).toBeDefined();
    expect(typeof seen?.writer).toBe("function");
    expect((seen as { signal?: AbortSignal } | undefined)?.signal).toBeInstanceOf(AbortSignal);
    expect(seen?.config.configurable).toMatchObject({ thread_id: "t", extra: 1 });
    expect(seen?.config.tags).toContain("mine");
    expect(seen?.config.metadata).toMatchObject({ job: 7 });
    expect((seen as { toolCall?: { name: string } } | undefined)?.toolCall?.name).toBe("watch");
  });

  test("the state is that at the start of the step, by key or spread", async () => {
    const states: Record<string, any>[] = [];
    const keys = ["messages", "depth", "_hidden", "todos", "files"];
    const agent = watched(
      ({ state }) => {
        const byKey = Object.fromEntries(keys.map((key) => [key, state[key]]));
        states.push(byKey, { ...state });
      },
      { stateSchema: z.object({ depth: z.number().default(3), _hidden: z.string().default("h") }) },
    );
    await agent.invoke(ask());
    expect(states).toHaveLength(2);
    for (const state of states) {
      expect(state).toMatchObject({ depth: 3, _hidden: "h", todos: [], files: {} });
      expect(state.messages).toHaveLength(2);
    }
  });

  test("getCurrentTaskInput, getConfig, getStore and getWriter work inside it", async () => {
    const store = new InMemoryStore();
    const seen: Record<string, unknown> = {};
    const agent = watched(
      () => {
        const state = getCurrentTaskInput() as { messages: unknown[] };
        seen.messages = state.messages.length;
        seen.thread = getConfig().configurable?.thread_id;
        seen.store = getStore() !== undefined;
        getWriter()?.("written");
      },
      { store },
    );
    const written: unknown[] = [];
    const options = { configurable: { thread_id: "t" }, streamMode: "custom" as const };
    for await (const chunk of await agent.stream(ask(), options)) written.push(chunk);
    expect(seen).toEqual({ messages: 2, thread: "t", store: true });
    expect(written).toEqual(["written"]);
  });

  test("what it puts into the store is there for the next run, in whatever thread", async () => {
    const store = new InMemoryStore();
    const counting = tool(
      async (_, runtime) => {
        const kept = (runtime as unknown as ToolRuntime).store as unknown as InMemoryStore;
        const count = (((await kept.get(["counts"], "runs"))?.value.count as number | undefined) ?? 0) + 1;
        await kept.put(["counts"], "runs", { count });
        return `run ${count}`;
      },
      { name: "counting", description: "Counts.", schema: z.object({}) },
    );
    const agent = createDeepAgent({
      model: scriptedModel([callTool("counting"), say("done")], { loop: true }),
      tools: [counting],
      store,
      checkpointer: new MemorySaver(),
    });
    const results: string[] = [];
    for (const thread_id of ["one", "two"]) {
      const { messages } = await agent.invoke(ask(), { configurable: { thread_id } });
      results.push(messages.filter(ToolMessage.isInstance)[0]?.text ?? "");
    }
    expect(results).toEqual(["run 1", "run 2"]);
  });

  test("parallel calls each have their own", async () => {
    const ids: unknown[] = [];
    const note = tool(async (_, runtime) => void ids.push((runtime as unknown as ToolRuntime).toolCallId), {
      name: "note",
      description: "Notes.",
      schema: z.object({}),
    });
    const toolCalls = ["a", "b", "c"].map((id) => ({ name: "note", id }));
    await createDeepAgent({ model: scriptedModel([{ toolCalls }, say("done")]), tools: [note] }).invoke(
      ask(),
    );
    expect(ids.toSorted()).toEqual(["a", "b", "c"]);
  });

  test("its writer, signal and store are those of the middleware around it", async () => {
    const agent = watched((runtime) => runtime.context?.user ?? "nobody");
    const { messages } = await agent.invoke(ask(), { context: { user: "ann" } });
    expect(messages[2]?.text).toBe("ann");
  });
});

describe("what a tool returns", () => {
  const returning = async (value: unknown, options: object = {}) => {
    const give = tool(() => value as never, {
      name: "give",
      description: "Gives.",
      schema: z.object({}),
      ...options,
    });
    const agent = createDeepAgent({
      model: scriptedModel([callTool("give", {}, "g1"), say("done")]),
      tools: [give],
      stateSchema: z.object({ note: z.string().default("") }),
    });
    return agent.invoke(ask());
  };
  const resultOf = ({ messages }: { messages: unknown[] }) => messages.find(ToolMessage.isInstance);

  test("text, objects and blocks become the content", async () => {
    expect(resultOf(await returning("text"))?.content).toBe("text");
    expect(resultOf(await returning({ a: 1 }))?.content).toBe('{"a":1}');
    const blocks = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    expect(resultOf(await returning(blocks))?.content).toEqual(blocks);
  });

  test("content and artifact are told apart", async () => {
    const result = resultOf(
      await returning(["short", { rows: [1, 2] }], { responseFormat: "content_and_artifact" }),
    );
    expect(result?.content).toBe("short");
    expect(result?.artifact).toEqual({ rows: [1, 2] });
  });

  test("a Command updates the state and answers the call", async () => {
    const result = await returning(new Command({ update: { note: "noted" } }));
    expect(result.note).toBe("noted");
    expect(resultOf(result)?.tool_call_id).toBe("g1");
  });

  test("with returnDirect it is the end of the run", async () => {
    const give = tool(() => "the answer", {
      name: "give",
      description: "Gives.",
      schema: z.object({}),
      returnDirect: true,
    });
    const model = scriptedModel([callTool("give")]);
    const result = await createDeepAgent({ model, tools: [give] }).invoke(ask());
    expect(result.messages.at(-1)?.text).toBe("the answer");
    expect(model.callCount).toBe(1);
    expect(result.outcome.kind).toBe("done");
  });
});
