/** LangChain's middlewares that guard what goes in and out, in our loop. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import {
  createMiddleware,
  openAIModerationMiddleware,
  piiMiddleware,
  piiRedactionMiddleware,
} from "langchain";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, fault, say, scriptedModel } from "../../testing/index.ts";

const ask = (text: string) => ({ messages: [new HumanMessage(text)] });
const texts = (messages: readonly { text: string }[] | undefined) => messages?.map((message) => message.text);

function directory() {
  const asked: string[] = [];
  const lookUp = tool(
    ({ who }) => {
      asked.push(who);
      return `${who}: bob@example.com`;
    },
    { name: "look_up", description: "Looks somebody up.", schema: z.object({ who: z.string() }) },
  );
  return { asked, lookUp };
}

describe("piiMiddleware", () => {
  test("redact: neither the model nor the thread gets the user's address", async () => {
    const model = scriptedModel([say("ok")]);
    const agent = createDeepAgent({ model, middleware: [piiMiddleware("email", { strategy: "redact" })] });
    const { messages } = await agent.invoke(ask("I am ann@example.com."));
    expect(texts(model.calls[0]?.messages.slice(1))).toEqual(["I am [REDACTED_EMAIL]."]);
    expect(texts(messages)).toEqual(["I am [REDACTED_EMAIL].", "ok"]);
  });

  test("block: the run rejects before the model is asked", async () => {
    const model = scriptedModel([say("ok")]);
    const agent = createDeepAgent({ model, middleware: [piiMiddleware("email", { strategy: "block" })] });
    await expect(agent.invoke(ask("I am ann@example.com."))).rejects.toThrow(/PII detected: email/);
    expect(model.callCount).toBe(0);
  });

  test("results of tools and words of the model are masked too, each in its place", async () => {
    const { lookUp } = directory();
    const model = scriptedModel([
      { text: "For ann@example.com:", toolCalls: [{ name: "look_up", args: { who: "Bob" }, id: "c" }] },
      say("He is carl@example.com."),
    ]);
    const agent = createDeepAgent({
      model,
      tools: [lookUp],
      middleware: [
        piiMiddleware("email", { strategy: "mask", applyToToolResults: true, applyToOutput: true }),
      ],
    });
    const { messages } = await agent.invoke(ask("Who is Bob?"));
    expect(texts(model.calls[1]?.messages.slice(1))).toEqual([
      "Who is Bob?",
      "For a***@example.com:",
      "Bob: b***@example.com",
    ]);
    expect(texts(messages)).toEqual([
      "Who is Bob?",
      "For a***@example.com:",
      "Bob: b***@example.com",
      "He is c***@example.com.",
    ]);
  });

  test("two of them, each with its own kind, work on one message", async () => {
    const model = scriptedModel([say("ok")]);
    const agent = createDeepAgent({
      model,
      middleware: [piiMiddleware("email"), piiMiddleware("ip", { strategy: "hash" })],
    });
    const { messages } = await agent.invoke(ask("ann@example.com from 10.0.0.1"));
    expect(messages[0]?.text).toMatch(/^\[REDACTED_EMAIL\] from <ip_hash:[0-9a-f]{8}>$/);
  });

  test("a call that cannot be run stays so when the message around it was rewritten", async () => {
    const runs: unknown[] = [];
    const erase = tool((args) => void runs.push(args), {
      name: "erase",
      description: "Erases everything, or one path.",
      schema: z.object({ path: z.string().optional() }),
    });
    const broken = fault.malformedCall({ name: "erase", args: '{"path": "/a', id: "c" });
    const agent = createDeepAgent({
      model: scriptedModel([{ ...broken, text: "As ann@example.com wants:" }, say("done")]),
      tools: [erase],
      middleware: [piiMiddleware("email", { applyToOutput: true })],
    });
    const { messages } = await agent.invoke(ask("Go."));
    expect(texts(messages)?.[1]).toBe("As [REDACTED_EMAIL] wants:");
    expect(runs).toEqual([]);
    expect(messages.filter(ToolMessage.isInstance).map((m) => m.status)).toEqual(["error"]);
  });

  test("a tool offered for this turn only still runs when the message around its call was rewritten", async () => {
    const { lookUp, asked } = directory();
    const offering = createMiddleware({
      name: "offering",
      wrapModelCall: (request, handler) => handler({ ...request, tools: [...request.tools, lookUp] }),
    });
    const agent = createDeepAgent({
      model: scriptedModel([
        { text: "For ann@example.com:", toolCalls: [{ name: "look_up", args: { who: "Bob" } }] },
        say("done"),
      ]),
      middleware: [piiMiddleware("email", { applyToOutput: true }), offering],
    });
    await agent.invoke(ask("Who is Bob?"));
    expect(asked).toEqual(["Bob"]);
  });
});

describe("piiRedactionMiddleware", () => {
  test("the model works with stand-ins, tools and the thread with the real values", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { lookUp, asked } = directory();
    const standIn = /\[REDACTED_EMAIL_\w+\]/;
    const model = scriptedModel(({ messages, turn }) => {
      const shown = messages.find(HumanMessage.isInstance)?.text.match(standIn)?.[0] ?? "not redacted";
      return turn === 0 ? callTool("look_up", { who: shown }, "c") : say(`It is ${shown}.`);
    });
    const agent = createDeepAgent({
      model,
      tools: [lookUp],
      middleware: [piiRedactionMiddleware({ rules: { email: /\b[\w.]+@[\w.]+\.\w+\b/g } })],
    });
    const { messages } = await agent.invoke(ask("Look up ann@example.com"));
    warn.mockRestore();
    expect(asked).toEqual(["ann@example.com"]);
    expect(texts(messages)).toEqual([
      "Look up ann@example.com",
      "",
      "ann@example.com: bob@example.com",
      "It is ann@example.com.",
    ]);
    for (const call of model.calls) expect(texts(call.messages)?.join()).not.toContain("@example.com");
    expect(messages.every((message) => message.id)).toBe(true);
  });
});

describe("openAIModerationMiddleware", () => {
  let server: Server;
  let asked: { path: string | undefined; input: string }[];

  beforeAll(async () => {
    asked = [];
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        const { input } = JSON.parse(body) as { input: string };
        asked.push({ path: request.url, input });
        const flagged = input.includes("BAD");
        const result = { flagged, categories: { violence: flagged }, category_scores: { violence: 0.9 } };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ id: "m", model: "omni-moderation-latest", results: [result] }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const moderating = (options: Partial<Parameters<typeof openAIModerationMiddleware>[0]> = {}) => {
    const { port } = server.address() as AddressInfo;
    const model = new ChatOpenAI({
      model: "gpt-4o",
      apiKey: "test",
      configuration: { baseURL: `http://127.0.0.1:${port}/v1` },
    });
    return openAIModerationMiddleware({ model, ...options } as never);
  };

  test("flagged input ends the run before the model is asked", async () => {
    const model = scriptedModel([say("ok")]);
    const agent = createDeepAgent({ model, middleware: [moderating()] });
    const { messages } = await agent.invoke(ask("BAD words"));
    expect(model.callCount).toBe(0);
    expect(messages.at(-1)?.text).toMatch(/flagged for violence/);
    expect(asked.at(-1)).toEqual({ path: "/v1/moderations", input: "BAD words" });
  });

  test("what is not flagged passes, input and output", async () => {
    asked.length = 0;
    const agent = createDeepAgent({ model: scriptedModel([say("fine")]), middleware: [moderating()] });
    const { messages } = await agent.invoke(ask("good words"));
    expect(messages.at(-1)?.text).toBe("fine");
    expect(asked.map(({ input }) => input)).toEqual(["good words", "fine"]);
  });

  test("flagged output is followed by a refusal, and the run ends", async () => {
    const agent = createDeepAgent({ model: scriptedModel([say("BAD answer")]), middleware: [moderating()] });
    const { messages } = await agent.invoke(ask("good words"));
    expect(messages.at(-1)?.text).toMatch(/flagged for violence/);
  });

  test("replace: flagged results of tools do not reach the model", async () => {
    const leak = tool(() => "BAD result", { name: "leak", description: "Leaks.", schema: z.object({}) });
    const model = scriptedModel([callTool("leak"), say("done")]);
    const agent = createDeepAgent({
      model,
      tools: [leak],
      middleware: [
        moderating({ checkToolResults: true, exitBehavior: "replace", violationMessage: "[removed]" }),
      ],
      checkpointer: new MemorySaver(),
    });
    const { messages } = await agent.invoke(ask("Go."), { configurable: { thread_id: "t" } });
    expect(model.calls[1]?.messages.find(ToolMessage.isInstance)?.text).toBe("[removed]");
    expect(messages.find(ToolMessage.isInstance)?.text).toBe("[removed]");
    expect(messages.filter(AIMessage.isInstance)).toHaveLength(2);
  });

  test("error: the run rejects", async () => {
    const agent = createDeepAgent({
      model: scriptedModel([say("ok")]),
      middleware: [moderating({ exitBehavior: "error" })],
    });
    await expect(agent.invoke(ask("BAD"))).rejects.toThrow(/flagged for violence/);
  });
});
