/** Errors of tools and middleware: neither the model, nor the file, nor the caller gets a secret out of them. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { createMiddleware } from "langchain";
import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { SqliteSaver } from "../sqlite/index.ts";
import { scratchFile } from "../sqlite/scratch-for-tests.ts";

const SECRET = 'pa"ss\\word-4711-sentinel';
afterEach(() => vi.unstubAllEnvs());

const thread = { configurable: { thread_id: "t" } };
const named = (name: string, act: () => unknown) =>
  tool(act as () => string, { name, description: "Fails.", schema: z.object({}) });

/** All bytes that lie beside the database, and everything that can be read back. */
async function kept(saver: SqliteSaver, path: string): Promise<string> {
  const tuples: unknown[] = [];
  for await (const tuple of saver.list(thread)) tuples.push(tuple);
  const read = JSON.stringify([tuples, await saver.getTuple(thread)]);
  await saver.close();
  const bytes = readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name), "latin1"));
  return [read, ...bytes].join("\n");
}

test("a tool that throws, answers with an error or wraps one: the value is nowhere", async () => {
  vi.stubEnv("BILLING_PASSWORD", SECRET);
  const path = scratchFile();
  const saver = await SqliteSaver.open(path);
  const failed = (content: unknown) =>
    new ToolMessage({ content: content as string, status: "error", tool_call_id: "x" });
  const tools = [
    named("throws", () => {
      throw new Error(`cannot connect with ${SECRET}`);
    }),
    named("throws_json", () => {
      throw new Error(JSON.stringify({ password: SECRET }));
    }),
    named("throws_long", () => {
      throw new Error(`${"x".repeat(3_990)}${SECRET}`);
    }),
    named("throws_an_object", () => {
      throw { url: `https://host/?p=${encodeURIComponent(SECRET)}` };
    }),
    named("answers", () => failed(`refused ${SECRET}`)),
    named("answers_in_blocks", () => failed([{ type: "text", text: `refused ${SECRET}` }])),
  ];
  const seen: string[] = [];
  const calls = tools.map(({ name }) => ({ name, args: {} }));
  const model = scriptedModel(({ messages }) => {
    seen.push(JSON.stringify(messages.map(({ content }) => content)));
    return messages.at(-1)?.type === "tool" ? say("done") : { toolCalls: calls };
  });
  const agent = createDeepAgent({ model, tools, checkpointer: saver });
  const { messages } = await agent.invoke({ messages: "Go." }, thread);
  const results = messages.filter(ToolMessage.isInstance);
  expect(results.map(({ status }) => status)).toEqual(tools.map(() => "error"));
  for (const { name, text } of results)
    if (name !== "throws_long") expect(text).toContain("[BILLING_PASSWORD]");
  const all = [...seen, JSON.stringify(messages), await kept(saver, path)].join("\n");
  expect(all).toContain("cannot connect with");
  for (const form of [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET)])
    expect(all).not.toContain(form);
  expect(all).not.toContain("4711");
});

test("a middleware that throws ends the run: what the caller catches and what is kept is without the value", async () => {
  vi.stubEnv("BILLING_PASSWORD", SECRET);
  const path = scratchFile();
  const saver = await SqliteSaver.open(path);
  const failing = createMiddleware({
    name: "failing",
    beforeModel: () => {
      throw new Error("no money", { cause: new RangeError(`not with ${SECRET}`) });
    },
  });
  const agent = createDeepAgent({ model: scriptedModel([]), middleware: [failing], checkpointer: saver });
  const error = await agent.invoke({ messages: "Go." }, thread).then(
    () => expect.fail("it ran"),
    (thrown: Error) => thrown,
  );
  expect(error.cause).toBeInstanceOf(RangeError);
  expect(String((error.cause as Error).message)).toBe("not with [BILLING_PASSWORD]");
  expect(`${error.stack}${(error.cause as Error).stack}`).not.toContain("4711");
  expect(await kept(saver, path)).not.toContain("4711");
});

test("a value that is short, or a common word, is left alone", async () => {
  vi.stubEnv("PIN_TOKEN", "4711");
  vi.stubEnv("LOGIN_PASSWORD", "password");
  const tools = [
    named("throws", () => {
      throw new Error("the password 4711 is wrong");
    }),
  ];
  const model = scriptedModel([callTool("throws"), say("done")]);
  const { messages } = await createDeepAgent({ model, tools }).invoke({ messages: "Go." });
  expect(messages.find(ToolMessage.isInstance)?.text).toContain("the password 4711 is wrong");
});
