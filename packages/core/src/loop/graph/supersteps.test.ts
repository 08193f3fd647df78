/** Cost of a turn: two supersteps, and nothing for messages and files that did not change. */
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { sized } from "../../../../../scripts/test-size.ts";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import { anyTool, ask, onThread } from "../fixtures/agents.ts";

const TURNS = sized(500, 2_000);

const look = anyTool("look", () => "seen");

/** Nodes that ran in each superstep of a run, after the one that takes the input. */
async function steps(agent: ReturnType<typeof createDeepAgent>): Promise<string[][]> {
  const byStep = new Map<number, string[]>();
  for await (const event of await agent.stream(ask(), { streamMode: "debug" })) {
    if (event.type !== "task") continue;
    byStep.set(event.step, [...(byStep.get(event.step) ?? []), event.payload.name]);
  }
  return [...byStep.values()];
}

describe("supersteps", () => {
  test("a turn takes two with the default stack: the model and the tools", async () => {
    const calls = {
      toolCalls: [{ name: "look" }, { name: "write_todos", args: { todos: [] } }, { name: "ls" }],
    };
    const model = scriptedModel([calls, callTool("look"), calls, say("done")]);
    expect(await steps(createDeepAgent({ model, tools: [look] }))).toEqual([
      ["model_request"],
      ["tools", "tools", "tools"],
      ["model_request"],
      ["tools"],
      ["model_request"],
      ["tools", "tools", "tools"],
      ["model_request"],
    ]);
  });

  test("counted by the checkpoints of a thread: two for each turn more", async () => {
    const lastStep = async (turns: number): Promise<number> => {
      const script = [...Array(turns).fill(callTool("look")), say("done")];
      const model = scriptedModel(script);
      const agent = createDeepAgent({ model, tools: [look], checkpointer: new MemorySaver() });
      await agent.invoke(ask(), onThread("t"));
      return (await agent.getState(onThread("t"))).metadata?.step ?? 0;
    };
    expect((await lastStep(7)) - (await lastStep(2))).toBe(10);
  });

  test("the hooks of a phase share one node, and run in the order of the contract", async () => {
    const order: string[] = [];
    const hooked = (name: string): AgentMiddleware => {
      const note = (phase: string) => () => {
        order.push(`${phase} ${name}`);
        return undefined;
      };
      return createMiddleware({
        name,
        beforeAgent: note("beforeAgent"),
        beforeModel: note("beforeModel"),
        afterModel: note("afterModel"),
        afterAgent: note("afterAgent"),
      }) as AgentMiddleware;
    };
    const middleware = ["A", "B", "C", "D", "E"].map(hooked);
    const model = scriptedModel([callTool("look"), say("done")]);
    expect(await steps(createDeepAgent({ model, tools: [look], middleware }))).toEqual([
      ["before_agent"],
      ["before_model"],
      ["model_request"],
      ["after_model"],
      ["tools"],
      ["before_model"],
      ["model_request"],
      ["after_model"],
      ["after_agent"],
    ]);
    expect(order.slice(0, 5)).toEqual(["A", "B", "C", "D", "E"].map((name) => `beforeAgent ${name}`));
    expect(order.slice(10, 15)).toEqual(["E", "D", "C", "B", "A"].map((name) => `afterModel ${name}`));
    expect(order.slice(-5)).toEqual(["E", "D", "C", "B", "A"].map((name) => `afterAgent ${name}`));
  });

  test(`a run of ${TURNS} turns ends by itself with default settings`, async () => {
    const model = scriptedModel(({ turn }) => (turn < TURNS ? callTool("tick") : say("done")), {
      check: false,
      record: false,
      usage: false,
    });
    let ticks = 0;
    const tick = anyTool("tick", () => `${ticks++}`);
    const state = await createDeepAgent({ model, tools: [tick] }).invoke(ask());
    expect(state.messages).toHaveLength(2 * TURNS + 2);
    expect(state.outcome).toEqual({ kind: "done" });
  });
});

/** Counts how often anything of an object is read. */
class ReadCounter {
  reads = 0;

  watch<T extends object>(target: T): T {
    const count = (): void => {
      this.reads += 1;
    };
    return new Proxy(target, {
      get: (object, key) => {
        count();
        return Reflect.get(object, key, object);
      },
      has: (object, key) => {
        count();
        return Reflect.has(object, key);
      },
      ownKeys: (object) => {
        count();
        return Reflect.ownKeys(object);
      },
      getOwnPropertyDescriptor: (object, key) => {
        count();
        return Reflect.getOwnPropertyDescriptor(object, key);
      },
    });
  }
}

/** The least that can be called a model: unlike LangChain's, it does not look at the messages itself. */
function quietModel(reply: (turn: number, messages: readonly BaseMessage[]) => AIMessage) {
  let turn = 0;
  const invoke = async (messages: readonly BaseMessage[]): Promise<AIMessage> => reply(turn++, messages);
  const model = { invoke, getName: () => "quiet", bindTools: () => ({ invoke }) };
  return model;
}

const calling = (turn: number, name: string, args: object): AIMessage =>
  new AIMessage({ content: "", tool_calls: [{ id: `call-${turn}`, name, args: { ...args } }] });

/** The reads of old messages and files in three turns, after one that may look at everything. */
async function readsFor(
  size: number,
  middleware: readonly AgentMiddleware[],
): Promise<{ messages: number; files: number }> {
  const messages = new ReadCounter();
  const files = new ReadCounter();
  const turns: [string, object][] = [
    ["look", {}],
    ["write_file", { file_path: "/new.txt", content: "new" }],
    ["edit_file", { file_path: "/f1.txt", old_string: "text", new_string: "words" }],
    ["read_file", { file_path: "/new.txt" }],
    ["look", {}],
  ];
  const model = quietModel((turn, sent) => {
    if (turn === 1) {
      expect(Math.min(messages.reads, files.reads)).toBeGreaterThan(size);
      messages.reads = files.reads = 0;
    }
    expect(sent.length).toBeGreaterThan(size);
    const [name, args] = turns[turn] ?? [];
    return name ? calling(turn, name, args as object) : new AIMessage("done");
  });
  const agent = createDeepAgent({ model, tools: [look], middleware });
  const state = await agent.invoke({
    messages: Array.from({ length: size }, (_, i) => messages.watch(oldMessage(i))),
    files: Object.fromEntries(Array.from({ length: size }, (_, i) => [`/f${i}.txt`, files.watch(oldFile())])),
  });
  const counted = { messages: messages.reads, files: files.reads };
  expect(state.messages).toHaveLength(size + 2 * turns.length + 1);
  expect(state.files["/f1.txt"]?.content).toBe("some words");
  expect(Object.keys(state.files)).toHaveLength(size + 1);
  return counted;
}

function oldMessage(i: number): BaseMessage {
  const fields = { id: `old-${i}`, content: `message ${i}` };
  return i % 2 === 0 ? new HumanMessage(fields) : new AIMessage(fields);
}

function oldFile() {
  const at = "2026-01-01T00:00:00.000Z";
  return { content: "some text", mimeType: "text/plain", created_at: at, modified_at: at };
}

describe("what did not change", () => {
  const busy = createMiddleware({
    name: "Busy",
    beforeModel: () => ({}),
    afterModel: (state) => (state.messages.length > 0 ? undefined : {}),
    wrapModelCall: (request, handler) => handler({ ...request }),
    wrapToolCall: (request, handler) => handler({ ...request }),
  }) as AgentMiddleware;

  test.each([
    ["the default stack", []],
    ["hooks and wrappers of every kind", [busy]],
  ])(
    "is not looked at: as many reads with 5,000 messages and files as with 50, with %s",
    async (_, middleware) => {
      const [few, many] = [await readsFor(50, middleware), await readsFor(5_000, middleware)];
      expect(many).toEqual(few);
      expect(few.messages).toBe(0);
      expect(few.files).toBeLessThan(40);
    },
  );

  test("keeps its identity from the first turn to the last", async () => {
    const old = Array.from({ length: 20 }, (_, i) => oldMessage(i));
    const file = oldFile();
    const model = quietModel((turn) => (turn < 3 ? calling(turn, "look", {}) : new AIMessage("done")));
    const agent = createDeepAgent({ model, tools: [look] });
    const state = await agent.invoke({ messages: old, files: { "/a.txt": file } });
    expect(state.messages.slice(0, 20).every((message, i) => message === old[i])).toBe(true);
    expect(state.files["/a.txt"]).toBe(file);
  });
});
