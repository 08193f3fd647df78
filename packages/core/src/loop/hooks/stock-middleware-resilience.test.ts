/** LangChain's middlewares for failing models and tools in our loop. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { interrupt, MemorySaver } from "@langchain/langgraph";
import {
  modelFallbackMiddleware,
  modelRetryMiddleware,
  toolEmulatorMiddleware,
  toolErrorMiddleware,
  toolRetryMiddleware,
} from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, fault, say, scriptedModel } from "../../testing/index.ts";

const ask = () => ({ messages: [new HumanMessage("Go.")] });

/** A tool that throws the given errors one after the other and then works. */
function failing(...errors: unknown[]) {
  let attempts = 0;
  const flaky = tool(
    () => {
      attempts += 1;
      if (attempts <= errors.length) throw errors[attempts - 1];
      return `worked at attempt ${attempts}`;
    },
    { name: "flaky", description: "Fails at first.", schema: z.object({}) },
  );
  return { flaky, attempts: () => attempts };
}

const result = (messages: readonly unknown[]) => messages.find(ToolMessage.isInstance);

describe("modelFallbackMiddleware", () => {
  test("the next model answers when one fails, with the same tools and prompt", async () => {
    const first = scriptedModel([fault.status(500)], { loop: true });
    const second = scriptedModel([fault.rateLimit()], { loop: true });
    const third = scriptedModel([callTool("ls", { path: "/" }), say("from the third")]);
    const agent = createDeepAgent({
      model: first,
      systemPrompt: "Be brief.",
      middleware: [modelFallbackMiddleware(second, third), { ModelRetryMiddleware: false }],
    });
    expect((await agent.invoke(ask())).messages.at(-1)?.text).toBe("from the third");
    expect([first.callCount, second.callCount, third.callCount]).toEqual([2, 2, 2]);
    expect(third.calls[0]?.messages.map((m) => m.text)).toEqual(first.calls[0]?.messages.map((m) => m.text));
    expect(third.calls[0]?.messages[0]?.text).toMatch(/^Be brief\./);
    expect(third.calls[0]?.tools).toEqual(first.calls[0]?.tools);
    expect(third.calls[0]?.tools).not.toEqual([]);
  });

  test("the last error comes out when all fail", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([fault.status(500)]),
      middleware: [
        modelFallbackMiddleware(scriptedModel([fault.status(503)])),
        { ModelRetryMiddleware: false },
      ],
    });
    await expect(agent.invoke(ask())).rejects.toMatchObject({ status: 503 });
  });
});

describe("modelRetryMiddleware", () => {
  test("a failed request is made again", async () => {
    const model = scriptedModel([fault.status(500), fault.status(529), say("there")]);
    const agent = createDeepAgent({
      model,
      middleware: [modelRetryMiddleware({ maxRetries: 2, initialDelayMs: 1 })],
    });
    const done = await agent.invoke(ask());
    expect(done.messages.map((m) => m.text)).toEqual(["Go.", "there"]);
    expect(model.callCount).toBe(3);
    expect(model.calls[0]?.options.maxRetries).toBe(0);
  });

  test("when the retries are used up, the failure is a message or an error, as configured", async () => {
    const run = (onFailure: "continue" | "error") =>
      createDeepAgent({
        model: scriptedModel([fault.status(500)], { loop: true }),
        middleware: [modelRetryMiddleware({ maxRetries: 1, initialDelayMs: 1, onFailure })],
      }).invoke(ask());
    const told = await run("continue");
    expect(told.messages.at(-1)?.text).toMatch(/Model call failed after 2 attempts with ProviderError: 500/);
    await expect(run("error")).rejects.toMatchObject({ status: 500 });
  });

  test("around a fallback it retries the pair", async () => {
    const first = scriptedModel([fault.status(500), say("second round")]);
    const second = scriptedModel([fault.status(500)]);
    const agent = createDeepAgent({
      model: first,
      middleware: [
        modelRetryMiddleware({ maxRetries: 1, initialDelayMs: 1 }),
        modelFallbackMiddleware(second),
      ],
    });
    expect((await agent.invoke(ask())).messages.at(-1)?.text).toBe("second round");
    expect([first.callCount, second.callCount]).toEqual([2, 1]);
  });
});

describe("toolRetryMiddleware", () => {
  test("a tool that throws is run again, and the thread has one result", async () => {
    const { flaky, attempts } = failing(new Error("one"), new TypeError("two"));
    const agent = createDeepAgent({
      model: scriptedModel([callTool("flaky"), say("done")]),
      tools: [flaky],
      middleware: [toolRetryMiddleware({ maxRetries: 3, initialDelayMs: 1 })],
    });
    const { messages } = await agent.invoke(ask());
    expect(attempts()).toBe(3);
    expect(messages.filter(ToolMessage.isInstance).map((m) => m.text)).toEqual(["worked at attempt 3"]);
  });

  test("when the retries are used up the model is told, and it goes on", async () => {
    const { flaky } = failing(...Array.from({ length: 5 }, () => new RangeError("no")));
    const agent = createDeepAgent({
      model: scriptedModel([callTool("flaky"), say("I gave up.")]),
      tools: [flaky],
      middleware: [toolRetryMiddleware({ maxRetries: 1, initialDelayMs: 1 })],
    });
    const { messages } = await agent.invoke(ask());
    expect(result(messages)?.text).toBe("Tool 'flaky' failed after 2 attempts with RangeError");
    expect(result(messages)?.status).toBe("error");
    expect(messages.at(-1)?.text).toBe("I gave up.");
  });

  test("onFailure error gives the tool's own error back, which stays an answer to the model", async () => {
    const { flaky, attempts } = failing(...Array.from({ length: 5 }, () => new Error("disk is full")));
    const agent = createDeepAgent({
      model: scriptedModel([callTool("flaky"), say("I see.")]),
      tools: [flaky],
      middleware: [toolRetryMiddleware({ maxRetries: 1, initialDelayMs: 1, onFailure: "error" })],
    });
    const { messages } = await agent.invoke(ask());
    expect(attempts()).toBe(2);
    expect(result(messages)?.text).toBe("Error: disk is full");
    expect(messages.at(-1)?.text).toBe("I see.");
  });

  test("only the named tools and errors are retried", async () => {
    const { flaky, attempts } = failing(new Error("no"));
    const agent = createDeepAgent({
      model: scriptedModel([callTool("flaky"), say("done")]),
      tools: [flaky],
      middleware: [toolRetryMiddleware({ tools: ["other"], maxRetries: 3, initialDelayMs: 1 })],
    });
    expect(result((await agent.invoke(ask())).messages)?.text).toBe("Error: no");
    expect(attempts()).toBe(1);
  });
});

describe("toolErrorMiddleware", () => {
  test("it sees the tool's own error and words the answer", async () => {
    class Gone extends Error {}
    const seen: unknown[] = [];
    const gone = new Gone("gone");
    const agent = createDeepAgent({
      model: scriptedModel([callTool("flaky"), say("done")]),
      tools: [failing(gone).flaky],
      middleware: [
        toolErrorMiddleware({
          onError: (error, request) => {
            seen.push(error);
            return `${request.toolCall.name} is not there any more`;
          },
        }),
      ],
    });
    const { messages } = await agent.invoke(ask());
    expect(seen).toEqual([gone]);
    expect(result(messages)?.text).toBe("flaky is not there any more");
    expect(result(messages)?.status).toBe("error");
  });

  test("an error it passes on is worded by the loop", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([callTool("flaky"), say("done")]),
      tools: [failing(new Error("as it was")).flaky],
      middleware: [toolErrorMiddleware({ onError: () => undefined })],
    });
    expect(result((await agent.invoke(ask())).messages)?.text).toBe("Error: as it was");
  });

  test("a question asked by a tool is not an error", async () => {
    const asking = tool(() => `answer: ${interrupt("May I?")}`, {
      name: "asking",
      description: "Asks.",
      schema: z.object({}),
    });
    const agent = createDeepAgent({
      model: scriptedModel([callTool("asking"), say("done")]),
      tools: [asking],
      middleware: [
        toolErrorMiddleware({ onError: () => "swallowed" }),
        toolRetryMiddleware({ tools: ["other"] }),
      ],
      checkpointer: new MemorySaver(),
    });
    const waiting = await agent.invoke(ask(), { configurable: { thread_id: "t" } });
    expect(waiting.__interrupt__?.[0]?.value).toBe("May I?");
  });
});

describe("toolEmulatorMiddleware", () => {
  test("the named tools are answered by a model and do not run", async () => {
    const { flaky, attempts } = failing();
    const emulator = scriptedModel([say("It is sunny.")]);
    const agent = createDeepAgent({
      model: scriptedModel([
        {
          toolCalls: [{ name: "flaky" }, { name: "write_file", args: { file_path: "/a.md", content: "A" } }],
        },
        say("done"),
      ]),
      tools: [flaky],
      middleware: [toolEmulatorMiddleware({ tools: ["flaky"], model: emulator })],
    });
    const done = await agent.invoke(ask());
    expect(attempts()).toBe(0);
    expect(result(done.messages)?.text).toBe("It is sunny.");
    expect(emulator.calls[0]?.messages[0]?.text).toMatch(/Tool: flaky\nDescription: Fails at first\./);
    expect(done.files["/a.md"]?.content).toBe("A");
  });

  test("without a model of its own it asks the agent's", async () => {
    const model = scriptedModel([callTool("flaky"), say("emulated"), say("done")]);
    const agent = createDeepAgent({
      model,
      tools: [failing().flaky],
      middleware: [toolEmulatorMiddleware()],
    });
    expect(result((await agent.invoke(ask())).messages)?.text).toBe("emulated");
    expect(model.callCount).toBe(3);
  });
});
