import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  Command,
  getConfig,
  getCurrentTaskInput,
  InMemoryStore,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, test, vi } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import manifest from "../../package.json" with { type: "json" };
import { DeepwrightError } from "../errors.ts";
import {
  ambientConfigurable,
  awaitedNodes,
  branchTo,
  checkpointerOf,
  forChildren,
  graphNamespace,
  holdWrites,
  isNested,
  isNewestAnswer,
  isSeenInside,
  isTaskConfig,
  mismatchWords,
  missingNames,
  outsideTasks,
  readChannel,
  runInTask,
  runNode,
  SUPPORTED,
  sendWrites,
  setTaskInput,
  stoppedBy,
  storeBehind,
  storedBy,
  TASKS,
  type TaskConfig,
  unfinishedStep,
} from "./engine.ts";

/** A stock graph with one node `work`, whose body gets the engine's config. */
function graphWith(
  work: (config: TaskConfig, input: unknown) => unknown,
  options: { readonly checkpointer?: MemorySaver; readonly store?: InMemoryStore } = {},
) {
  return new StateGraph(MessagesAnnotation)
    .addNode("work", (input, config) => work(config as TaskConfig, input) as never, { ends: ["other"] })
    .addNode("other", () => ({ messages: [new AIMessage("other ran")] }))
    .addEdge(START, "work")
    .compile(options);
}

const input = { messages: [new HumanMessage("hi")] };

describe("LangGraph still provides what we use of it", () => {
  test("a task can read a channel by reference", async () => {
    const seen: unknown[] = [];
    await graphWith((config) => {
      const first = readChannel(config, "messages");
      seen.push(isTaskConfig(config), readChannel(config, "messages") === first, (first as unknown[]).length);
      return {};
    }).invoke(input);
    expect(seen).toEqual([true, true, 1]);
  });

  test.each([true, false])(
    "a task knows whether those who stream want its children: %s",
    async (subgraphs) => {
      const seen: boolean[] = [];
      const graph = graphWith((config) => {
        seen.push(isSeenInside(config));
        return {};
      });
      for await (const _ of await graph.stream(input, { subgraphs }));
      expect(seen).toEqual([subgraphs]);
    },
  );

  test("a run inside a task stops with a signal of its own, and the run around it goes on", async () => {
    const own = new AbortController();
    const child = graphWith(() => {
      own.abort();
      return new Promise(() => {});
    });
    const parent = graphWith(async (config) => {
      const stopped = await child.invoke(input, stoppedBy(config, own.signal)).catch((error) => error);
      return { messages: [new AIMessage(String(stopped))] };
    });
    const { messages } = await parent.invoke(input, { signal: new AbortController().signal });
    expect(messages.at(-1)?.text).toMatch(/abort/i);
  });

  test("a graph run inside a task without a config takes over that of the task", async () => {
    const seen: unknown[] = [];
    const child = graphWith((config) => {
      seen.push(config.configurable?.mine);
      return {};
    });
    const parent = graphWith(async () => {
      seen.push(ambientConfigurable()?.mine);
      await child.invoke(input);
      return {};
    });
    const mine = {};
    await parent.invoke(input, { configurable: { mine } });
    expect(seen.map((value) => value === mine)).toEqual([true, true]);
    expect(ambientConfigurable()).toBeUndefined();
  });

  test("every task has the key that means a replay; it is kept for children only in a replay", async () => {
    const seen: boolean[] = [];
    const graph = graphWith(
      (config) => {
        const given = config.configurable ?? {};
        seen.push("checkpoint_id" in given, "checkpoint_id" in forChildren(given));
        return {};
      },
      { checkpointer: new MemorySaver() },
    );
    const thread = { configurable: { thread_id: "t" } };
    await graph.invoke(input, thread);
    for await (const { next, config } of graph.getStateHistory(thread))
      if (next[0] === "work") await graph.invoke(null, config);
    expect(seen).toEqual([true, false, true, true]);
  });

  test("a task can write to channels, branch to a node and send a task", async () => {
    const result = await graphWith((config, given) => {
      if (given === null) return {};
      sendWrites(config, [
        ["messages", [new AIMessage("written")]],
        [branchTo("other"), null],
      ]);
      return {};
    }).invoke(input);
    expect(result.messages.map((m) => m.content)).toEqual(["hi", "written", "other ran"]);

    const sent = await graphWith((config, given) => {
      const again = (given as { again?: boolean }).again === true;
      sendWrites(
        config,
        again ? [["messages", [new AIMessage("sent")]]] : [[TASKS, new Send("work", { again: true })]],
      );
      return {};
    }).invoke(input);
    expect(sent.messages.map((m) => m.content)).toEqual(["hi", "sent"]);
  });

  test("held writes stay out of the task, answers to interrupts do not", async () => {
    const saver = new MemorySaver();
    const held: unknown[] = [];
    const graph = graphWith(
      (config) => {
        const scoped = holdWrites(config, (writes) => held.push(...writes));
        sendWrites(scoped, [["messages", [new AIMessage("held")]]]);
        const answer = runInTask(scoped, () => interrupt("question"));
        return { messages: [new AIMessage(`answer: ${answer}`)] };
      },
      { checkpointer: saver },
    );
    const config = { configurable: { thread_id: "held" } };
    await graph.invoke(input, config);
    const saved = await saver.getTuple(config);
    expect(unfinishedStep(saved?.pendingWrites as never).interrupts).toMatchObject([{ value: "question" }]);
    const result = await graph.invoke(new Command({ resume: "yes" }), config);
    expect(result.messages.map((m: { content: unknown }) => m.content)).toEqual(["hi", "answer: yes"]);
    expect(held).toHaveLength(2);
  });

  test("the task input can be replaced and the saver found", async () => {
    const saver = new MemorySaver();
    const seen: unknown[] = [];
    const graph = graphWith(
      (config) => {
        setTaskInput(config, { replaced: true });
        seen.push(
          runInTask(config, () => getCurrentTaskInput()),
          checkpointerOf(config) === (saver as unknown),
        );
        seen.push(
          graphNamespace(config),
          isNested(config),
          typeof config.executionInfo?.checkpointId,
          typeof config.control,
        );
        return {};
      },
      { checkpointer: saver },
    );
    await graph.invoke(input, { configurable: { thread_id: "input" } });
    expect(seen).toEqual([{ replaced: true }, true, "", true, "string", "object"]);
  });

  test("a task that asks again knows the newest of the answers it is given", async () => {
    const newest: unknown[] = [];
    const graph = graphWith(
      (config) => {
        let found = false;
        for (;;) {
          const answer = interrupt("again?");
          if (!found && isNewestAnswer(config)) {
            newest.push(answer);
            found = true;
          }
          if (answer === "good") return {};
        }
      },
      { checkpointer: new MemorySaver() },
    );
    const thread = { configurable: { thread_id: "answers" } };
    await graph.invoke(input, thread);
    const [task] = (await graph.getState(thread)).tasks;
    const id = String(task?.interrupts[0]?.id);
    for (const resume of ["bad", "odd", { [id]: "worse" }, { [id]: "worst" }, "ill", { [id]: "good" }])
      await graph.invoke(new Command({ resume }), thread);
    expect(newest).toEqual(["bad", "odd", "worse", "worst", "ill", "good"]);
  });

  test("a checkpoint tells which nodes packets were sent to", async () => {
    const saver = new MemorySaver();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("work", () => new Command({ goto: [new Send("other", {}), new Send("other", {})] }), {
        ends: ["other"],
      })
      .addNode("other", () => {
        interrupt("wait");
        return {};
      })
      .addEdge(START, "work")
      .compile({ checkpointer: saver });
    const thread = { configurable: { thread_id: "sends" } };
    await graph.invoke(input, thread);
    expect(awaitedNodes((await saver.getTuple(thread))?.checkpoint)).toEqual(["other", "other"]);
    expect(awaitedNodes(undefined)).toEqual([]);
  });

  test("getConfig() inside runInTask answers with the task's config", async () => {
    await graphWith((config) => {
      const marked = { ...config, metadata: { marked: true } };
      expect(runInTask(marked, () => getConfig())?.metadata).toEqual({ marked: true });
      return {};
    }).invoke(input);
  });

  test("a traced node reports its name and output", async () => {
    const events: string[] = [];
    const graph = graphWith((config) =>
      runNode("inner", { given: 1 }, config, async () => ({ messages: [] })),
    );
    for await (const event of graph.streamEvents(input, { version: "v2" }))
      if (event.name === "inner") events.push(`${event.event} ${JSON.stringify(event.data)}`);
    expect(events[0]).toBe('on_chain_start {"input":{"given":1}}');
    expect(events.at(-1)).toContain('on_chain_end {"output":{"messages":[]}');
  });
});

test("the store of a task is the one the graph was given, behind its wrapper", async () => {
  const store = new InMemoryStore();
  const seen: unknown[] = [];
  const node = (config: TaskConfig) => {
    seen.push(config.store !== store, config.store && storeBehind(config.store) === store);
    return {};
  };
  await graphWith(node, { store }).invoke(input);
  expect([seen, storeBehind(store) === store]).toEqual([[true, true], true]);
});

describe("a run in the background", () => {
  test("is stored by the saver it is given, though its graph has none", async () => {
    const graph = graphWith(() => ({ messages: [new AIMessage("worked")] }));
    const configurable = storedBy({ thread_id: "background" }, new MemorySaver());
    await graph.invoke(input, { configurable });
    const { values, next } = await graph.getState({ configurable });
    expect([values.messages.length, next]).toEqual([2, []]);
  });

  test("that begins inside a task is part of no other run", async () => {
    const seen: unknown[] = [];
    const inner = graphWith((config) => {
      seen.push(config.configurable?.mark, config.metadata?.mark);
      return {};
    });
    await graphWith(async () => {
      await inner.invoke(input);
      await outsideTasks(() => inner.invoke(input));
      return {};
    }).invoke(input, { configurable: { mark: "outer" }, metadata: { mark: "outer" } });
    expect(seen).toEqual(["outer", "outer", undefined, undefined]);
  });
});

describe("what an unfinished step left behind", () => {
  test("a task that was answered and finished is not pending any more", () => {
    const step = unfinishedStep([
      ["a", "__interrupt__", [{ id: "1", value: "q1" }]],
      ["b", "__interrupt__", [{ id: "2", value: "q2" }]],
      ["b", "__resume__", "yes"],
      ["b", "messages", ["done"]],
      ["c", "messages", ["partial"]],
      ["c", "__error__", { message: "boom" }],
      ["d", "__no_writes__", null],
    ]);
    expect(step.interrupts).toEqual([{ id: "1", value: "q1" }]);
    expect(step.finished).toEqual([[["messages", ["done"]]], []]);
  });
});

test("a config that lacks the engine's functions is a typed error", () => {
  const read = (): unknown => readChannel({ configurable: {} } as TaskConfig, "messages");
  expect(read).toThrow(DeepwrightError);
  expect(read).toThrow(expect.objectContaining({ code: "ENGINE_MISMATCH" }));
});

describe("versions of LangGraph", () => {
  test("the installed one has every name, and the supported ones are those of the peer dependency", async () => {
    expect(await missingNames()).toEqual([]);
    expect(manifest.peerDependencies["@langchain/langgraph"]).toBe(SUPPORTED);
  });

  test("a mismatch says what is missing and which versions are supported", () => {
    expect(mismatchWords(["a", "b"])).toContain(`lacks a, b. Install @langchain/langgraph ${SUPPORTED}`);
    expect(() => readChannel({ configurable: {} }, "messages")).toThrow(SUPPORTED);
  });

  test.each([
    ["development", 1],
    ["production", 0],
  ])("in %s a stock graph is run at import %i times", async (mode, times) => {
    const invoked = vi.spyOn(MemorySaver.prototype, "put");
    vi.stubEnv("NODE_ENV", mode);
    try {
      await import(/* @vite-ignore */ `./engine.ts?${mode}`);
      if (times > 0) await until(() => invoked.mock.calls.length > 0);
      expect(invoked.mock.calls.length > 0).toBe(times > 0);
    } finally {
      vi.unstubAllEnvs();
      invoked.mockRestore();
    }
  });
});
