import { RunnableLambda } from "@langchain/core/runnables";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { eventually } from "../../../../scripts/test-time.ts";
import { createDeepAgent } from "../agent.ts";
import { createSubAgentMiddleware } from "../delegation.ts";
import { callTool, fault, say, scriptedModel, type Turn } from "../testing/index.ts";
import { acts, anyTool, asked, orderOf, resultsOf, taskCall, tasks, troupe } from "./children-for-tests.ts";
import { SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY } from "./words.ts";

type Options = NonNullable<Parameters<typeof createDeepAgent>[0]>;

/** The result of one task, for a child that takes these turns. */
async function resultOf(child: readonly Turn[], options: Options = {}, type = "general-purpose") {
  const model = troupe({ Go: acts(tasks(taskCall("Do it.", type)), say("done")), Do: acts(...child) });
  const agent = createDeepAgent({ model, ...options } as Options);
  const state = await agent.invoke(asked("Go."));
  const [result] = resultsOf(state);
  return { text: result?.text ?? "", status: result?.status, state, model };
}

describe("a task for a subagent", () => {
  test("is done by it alone; its last words are the result", async () => {
    const { text, status, state, model } = await resultOf([callTool("ls"), say("Seven.")]);
    expect([text, status]).toEqual(["Seven.", "success"]);
    expect(state.messages.at(-1)?.text).toBe("done");
    const [request] = model.calls.filter((call) => orderOf(call).startsWith("Do"));
    expect(request?.messages.map((message) => message.type)).toEqual(["system", "human"]);
  });

  test("last words before a turn of tool calls count when nothing is said behind it", async () => {
    const { text, status } = await resultOf([{ text: "I found 3.", toolCalls: [{ name: "ls" }] }, say("")]);
    expect(status).toBe("error");
    expect(text).toContain("I found 3.");
  });

  test("R-27: an unknown type is an error that names the known ones", async () => {
    const { text, status } = await resultOf(
      [say("x")],
      { subagents: [{ name: "writer", description: "Writes." }] },
      "reader",
    );
    expect(status).toBe("error");
    expect(text).toBe("Error: There is no subagent 'reader'. The types are: general-purpose, writer.");
  });

  test.each<[string, Turn, RegExp]>([
    ["fails", fault.status(400), /did not finish/],
    ["declines", fault.refusal("No."), /did not finish[\s\S]*No\./],
    ["is silent", say(""), /did not finish/],
  ])("R-27: a child that %s is an error result, with what it did before", async (_, last, words) => {
    const write = callTool("write_file", { file_path: "/notes.md", content: "kept" });
    const { text, status, state } = await resultOf([{ ...(write as object), text: "So far." } as Turn, last]);
    expect(status).toBe("error");
    expect(text).toMatch(words);
    expect(text).toContain("/notes.md");
    expect(state.files["/notes.md"]?.content).toBe("kept");
    expect(state.messages.at(-1)?.text).toBe("done");
  });

  test.each([1, 4, 9])("PAINS 23: a child that fails after %i steps loses none of them", async (steps) => {
    const written = Array.from({ length: steps }, (_, i) => `/step${i}.md`);
    const turns = written.map((path) => callTool("write_file", { file_path: path, content: path }));
    const { text, status, state } = await resultOf([...turns, fault.status(400)]);
    expect(status).toBe("error");
    expect(Object.keys(state.files).sort()).toEqual(written);
    for (const path of written) expect(text).toContain(path);
  });

  test("a reply that was cut off is a result with a remark", async () => {
    const { text, status } = await resultOf([{ text: "One, two, th", finishReason: "length" }]);
    expect(status).toBe("success");
    expect(text).toMatch(/^One, two, th\n\nNote: 'general-purpose' may not have finished\./);
  });

  test("a child that takes too long is stopped; its work is kept", async () => {
    const slow = anyTool(
      "slow",
      (_, runtime) =>
        new Promise((_resolve, reject) => {
          runtime.signal.addEventListener("abort", () => reject(runtime.signal.reason));
        }),
    );
    const write = callTool("write_file", { file_path: "/notes.md", content: "kept" });
    // A busy machine may need the second for the steps before.
    await eventually(async () => {
      const { text, status, state } = await resultOf([write, callTool("slow")], {
        tools: [slow],
        toolTimeout: { task: 1 },
      });
      expect(status).toBe("error");
      expect(text).toContain("It timed out after 1 s.");
      expect(state.files["/notes.md"]?.content).toBe("kept");
    });
  });

  test("PAINS 33: sixteen children answer in sixteen shapes at once", async () => {
    const shapes = Array.from({ length: 16 }, (_, i) => ({
      name: `s${i}`,
      description: "Answers in a shape.",
      responseFormat: z.object({ [`key${i}`]: z.number() }),
    }));
    const model = troupe({
      Go: acts(tasks(...shapes.map(({ name }, i) => taskCall(`Answer ${i}.`, name))), say("done")),
      Answer: (request) => {
        const i = Number(/\d+/.exec(orderOf(request))?.[0]);
        const name = String((request.tools.at(-1) as { function?: { name: string } })?.function?.name ?? "");
        return callTool(name, { [`key${i}`]: i });
      },
    });
    const state = await createDeepAgent({ model, subagents: shapes }).invoke(asked("Go."));
    expect(resultsOf(state).map(({ text }) => JSON.parse(text))).toEqual(
      shapes.map((_, i) => ({ [`key${i}`]: i })),
    );
    expect((state as { structuredResponse?: unknown }).structuredResponse).toBeUndefined();
  });

  test("a caller may ask for a shape of all results", async () => {
    const model = troupe({
      Go: acts(tasks(taskCall("Do it.")), say("done")),
      Do: (request) => callTool((request.tools.at(-1) as any).function.name, { answer: 42 }),
    });
    const state = await createDeepAgent({ model }).invoke(asked("Go."), {
      configurable: { [SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY]: z.object({ answer: z.number() }) },
    });
    expect(resultsOf(state)[0]?.text).toBe('{"answer":42}');
  });

  test("R-27: agents that call each other without end stop at eight levels", async () => {
    let deepest = 0;
    const level = (depth: number): Record<string, unknown> => ({
      name: "deeper",
      description: "Goes deeper.",
      ...(depth < 12 && {
        middleware: [
          createSubAgentMiddleware({ generalPurposeAgent: false, subagents: [level(depth + 1) as never] }),
        ],
      }),
    });
    const model = troupe({
      Go: (request, step) => {
        const depth = Number(/\d+/.exec(orderOf(request))?.[0] ?? 0);
        deepest = Math.max(deepest, depth);
        if (step === 0) return tasks(taskCall(`Go ${depth + 1}`, "deeper"));
        return say(request.messages.at(-1)?.text ?? "");
      },
    });
    const state = await createDeepAgent({ model, subagents: [level(1) as never] }).invoke(asked("Go 0"));
    expect(deepest).toBe(8);
    expect(state.messages.at(-1)?.text).toContain("8 levels deep");
  });
});

describe("a compiled subagent", () => {
  const run = async (
    runnable: object,
    model = troupe({ Go: acts(tasks(taskCall("Do it.", "own")), say("done")) }),
  ) => {
    const subagents = [{ name: "own", description: "Compiled.", runnable }];
    const state = await createDeepAgent({ model, subagents }).invoke(asked("Go."));
    return resultsOf(state)[0];
  };

  test("may be another deep agent", async () => {
    const child = createDeepAgent({ model: scriptedModel([callTool("ls"), say("inner done")]) });
    expect((await run(child))?.text).toBe("inner done");
  });

  test("may be an agent of LangChain", async () => {
    const child = createAgent({ model: scriptedModel([say("from createAgent")]), tools: [] });
    expect((await run(child))?.text).toBe("from createAgent");
  });

  test("may be a graph with messages", async () => {
    const child = new StateGraph(MessagesAnnotation)
      .addNode("answer", ({ messages }) => ({
        messages: [{ role: "ai", content: `heard: ${messages.at(-1)?.text}` }],
      }))
      .addEdge(START, "answer")
      .compile();
    expect((await run(child))?.text).toBe("heard: Do it.");
  });

  test("may be a graph without messages: its values are the result", async () => {
    const State = Annotation.Root({ answer: Annotation<number>() });
    const child = new StateGraph(State)
      .addNode("answerer", () => ({ answer: 42 }))
      .addEdge(START, "answerer")
      .compile();
    expect((await run(child))?.text).toBe('{"answer":42}');
  });

  test("may be any runnable", async () => {
    expect((await run(RunnableLambda.from(() => "a plain answer")))?.text).toBe("a plain answer");
  });

  test("that throws is an error result", async () => {
    const result = await run(
      RunnableLambda.from(() => {
        throw new Error("no luck");
      }),
    );
    expect([result?.status, result?.text]).toEqual([
      "error",
      "Error: The subagent 'own' did not finish. no luck",
    ]);
  });
});

describe("a fork", () => {
  const options = (fork: object = {}) => ({
    systemPrompt: "You are the boss.",
    tools: [anyTool("own_tool", () => "x")],
    subagents: [
      {
        name: "twin",
        description: "Goes on.",
        mode: "fork",
        systemPrompt: "You are the twin.",
        ...fork,
      } as never,
    ],
  });

  test("goes on from the conversation, the prompt and the tools of its agent", async () => {
    const model = troupe({
      Go: (request, step) => {
        if (request.messages.at(-1)?.text === "Do it.") return say("twin done");
        return step === 0 ? callTool("ls") : step === 1 ? tasks(taskCall("Do it.", "twin")) : say("done");
      },
    });
    const state = await createDeepAgent({ model, ...options() }).invoke(asked("Go."));
    expect(resultsOf(state).map(({ text }) => text)).toContain("twin done");
    const [, before, fork] = model.calls;
    expect(fork?.messages[0]?.text).toBe(`${before?.messages[0]?.text}\n\nYou are the twin.`);
    expect(fork?.messages.slice(1, -1)).toEqual(before?.messages.slice(1));
    expect(fork?.messages.at(-1)?.text).toBe("Do it.");
    expect(fork?.tools).toEqual(before?.tools);
  });

  test("cannot fork again, but may have other subagents work", async () => {
    const model = troupe({
      Go: (request, step) => {
        const last = request.messages.at(-1)?.text ?? "";
        if (last === "Do it.")
          return tasks(taskCall("Again.", "twin"), taskCall("Other.", "general-purpose"));
        const isTwin = request.messages.some((message) => message.text === "Do it.");
        if (isTwin)
          return say(
            request.messages
              .slice(-2)
              .map(({ text }) => text)
              .join(" | "),
          );
        return step === 0 ? tasks(taskCall("Do it.", "twin")) : say("done");
      },
      Other: acts(say("other done")),
    });
    const state = await createDeepAgent({ model, ...options() }).invoke(asked("Go."));
    expect(resultsOf(state)[0]?.text).toMatch(/'twin' would continue this conversation.* \| other done/);
  });
});
