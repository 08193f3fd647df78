import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ChatModel } from "../../loop/providers/model-source.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { estimateTokens } from "../../tokens.ts";
import { CORPUS, randomFrom } from "./corpus-for-tests.ts";
import { isCalibrated, learnUsage, messageTokens, requestTokens } from "./token-meter.ts";
import { CountedThread, manyTools, newModel } from "./token-provider-for-tests.ts";

const SYSTEM = new SystemMessage("You are helpful.");

function reply(input: number, details?: { cache_read?: number; cache_creation?: number }): AIMessage {
  return new AIMessage({
    content: "ok",
    usage_metadata: {
      input_tokens: input,
      output_tokens: 1,
      total_tokens: input + 1,
      ...(details ? { input_token_details: details } : {}),
    },
  });
}

function report(model: ChatModel, messages: readonly BaseMessage[], answer: AIMessage): void {
  learnUsage({ model, messages: [SYSTEM, ...messages], tools: [], settings: {} }, answer);
}

const long = (): HumanMessage => new HumanMessage(CORPUS.english(randomFrom(2), 20_000));

describe("what is counted", () => {
  const model = newModel();
  const empty = requestTokens({ system: new SystemMessage(""), tools: [], messages: [], model });

  test("nothing for nothing", () => {
    expect(empty).toBe(0);
  });

  test("the system prompt and the schemas of tools", () => {
    const system = new SystemMessage(CORPUS.english(randomFrom(1), 4000));
    const tools = manyTools(randomFrom(1), 200);
    const schemas = estimateTokens(JSON.stringify(tools));
    expect(requestTokens({ system, tools: [], messages: [], model })).toBeGreaterThan(700);
    expect(requestTokens({ system: undefined, tools, messages: [], model })).toBeGreaterThan(schemas * 0.9);
  });

  test("a tool with a zod schema as what is sent for it, not as what the object holds", () => {
    const search = tool(() => "", {
      name: "search",
      description: "Searches the archive for words.",
      schema: z.object({ query: z.string().describe("The words."), limit: z.number().optional() }),
    });
    const tokens = requestTokens({ system: undefined, tools: [search], messages: [], model });
    expect(tokens).toBeGreaterThan(40);
    expect(tokens).toBeLessThan(160);
  });

  test("the calls of a message with their arguments, once", () => {
    const content = CORPUS.typescript(randomFrom(1), 4000);
    const args = { file_path: "/a.ts", content };
    const call = { id: "c", name: "write_file", args };
    const plain = new AIMessage({ content: "", tool_calls: [call] });
    const doubled = new AIMessage({
      content: [{ type: "tool_use", id: "c", name: "write_file", input: args }],
      tool_calls: [call],
    });
    expect(messageTokens(plain, model)).toBeGreaterThan(estimateTokens(content));
    expect(messageTokens(doubled, model)).toBe(messageTokens(plain, model));
  });

  test("thinking, without its signature", () => {
    const thinking = CORPUS.english(randomFrom(1), 2000);
    const message = (signature: string): AIMessage =>
      new AIMessage({ content: [{ type: "thinking", thinking, signature }] });
    expect(messageTokens(message(""), model)).toBeGreaterThan(300);
    expect(messageTokens(message("x1Y2".repeat(2000)), model)).toBe(messageTokens(message(""), model));
  });

  test("pictures by their size, never as the text of their base64", () => {
    const data = CORPUS.base64(randomFrom(1), 400_000);
    for (const content of [
      [{ type: "image", mimeType: "image/png", data }],
      [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }],
      [{ type: "image", source: { type: "base64", media_type: "image/png", data } }],
    ]) {
      const tokens = messageTokens(new HumanMessage({ content: content as never }), model);
      expect(tokens).toBeGreaterThan(1000);
      expect(tokens).toBeLessThan(4000);
    }
  });

  test("long data inside a block nobody knows is not text either", () => {
    const data = CORPUS.base64(randomFrom(1), 400_000);
    const message = new ToolMessage({
      tool_call_id: "c",
      content: [{ type: "custom", blob: data }] as never,
    });
    expect(messageTokens(message, model)).toBeLessThan(8000);
  });

  test("a message edited in place, anew", () => {
    const message = new HumanMessage("short");
    const before = messageTokens(message, model);
    message.content = CORPUS.english(randomFrom(1), 4000);
    expect(messageTokens(message, model)).toBeGreaterThan(before + 500);
  });
});

describe("what providers report", () => {
  test("teaches all instances of a model, and no other model", () => {
    const named = (modelName: string): ChatModel => scriptedModel([], { modelName }) as unknown as ChatModel;
    const [first, second, other] = [named("twin-a"), named("twin-a"), named("twin-b")];
    const text = CORPUS.english(randomFrom(3), 8000);
    const before = messageTokens(new HumanMessage(text), other);
    for (let i = 0; i < 3; i += 1) {
      const messages = [long()];
      report(first, messages, reply(Math.round(estimateTokens(String(messages[0]?.content)) * 2)));
    }
    expect(isCalibrated(second)).toBe(true);
    expect(messageTokens(new HumanMessage(text), second)).toBeGreaterThan(estimateTokens(text) * 1.8);
    expect(messageTokens(new HumanMessage(text), second)).toBe(messageTokens(new HumanMessage(text), first));
    expect(isCalibrated(other)).toBe(false);
    expect(messageTokens(new HumanMessage(text), other)).toBe(before);
  });

  test.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY, 1, 10_000_000])("%d is passed over", (input) => {
    const model = newModel();
    const messages = [long()];
    const before = requestTokens({ system: SYSTEM, tools: [], messages, model });
    report(model, messages, reply(input));
    expect(isCalibrated(model)).toBe(false);
    expect(requestTokens({ system: SYSTEM, tools: [], messages, model })).toBe(before);
  });

  test("a reply without usage teaches nothing", () => {
    const model = newModel();
    report(model, [long()], new AIMessage("ok"));
    expect(isCalibrated(model)).toBe(false);
  });

  test("counts what came from a cache once, be it inside or beside the other tokens", () => {
    for (const answer of [
      reply(4000, { cache_read: 3500 }),
      reply(500, { cache_read: 3000, cache_creation: 500 }),
    ]) {
      const model = newModel();
      const messages = [long()];
      report(model, messages, answer);
      const again = requestTokens({ system: SYSTEM, tools: [], messages: [...messages, answer], model });
      expect(again).toBeGreaterThanOrEqual(4000);
      expect(again).toBeLessThan(4020);
    }
  });

  test("is exact for what was sent, so only what came since is an estimate", () => {
    const model = newModel();
    const asked = long();
    const answer = reply(7000);
    report(model, [asked], answer);
    const messages = [asked, answer, new HumanMessage("Go on.")];
    const tokens = requestTokens({ system: SYSTEM, tools: [], messages, model });
    expect(tokens).toBeGreaterThan(7000);
    expect(tokens).toBeLessThan(7060);
  });

  test("holds for a thread that was stored and loaded, whose messages are other objects", () => {
    const random = randomFrom(9);
    const thread = new CountedThread("cl100k at 1.25");
    thread.say(CORPUS.korean(random, 4000));
    for (let i = 0; i < 3; i += 1) thread.turn(random, CORPUS.korean(random, 4000));
    const { ours } = thread.count();
    thread.messages = thread.messages.map((message) => {
      const Message = message.constructor as new (fields: object) => BaseMessage;
      return new Message({ ...message.lc_kwargs });
    });
    expect(thread.count().ours).toBe(ours);
  });

  test("holds when the last messages were sent as copies, as markers for a cache ask for", () => {
    const random = randomFrom(9);
    const model = newModel();
    const asked = new HumanMessage({ id: "asked-once", content: CORPUS.english(random, 8000) });
    const marked = new HumanMessage({
      id: "asked-once",
      content: [{ type: "text", text: asked.content as string, cache_control: { type: "ephemeral" } }],
    });
    const answer = reply(3000);
    report(model, [marked], answer);
    const tokens = requestTokens({ system: SYSTEM, tools: [], messages: [asked, answer], model });
    expect(tokens).toBeGreaterThan(3000);
    expect(tokens).toBeLessThan(3040);
  });

  test("of another model is not taken for a count of this one", () => {
    const [first, second] = [newModel(), newModel()];
    const asked = long();
    const answer = reply(12_000);
    report(first, [asked], answer);
    const tokens = requestTokens({ system: SYSTEM, tools: [], messages: [asked, answer], model: second });
    expect(tokens).toBeLessThan(8000);
  });

  test("is found in the replies of a thread from another process", () => {
    const random = randomFrom(4);
    const old = new CountedThread("cl100k at 1.25");
    old.say(CORPUS.korean(random, 2000));
    for (let i = 0; i < 5; i += 1) old.turn(random, CORPUS.korean(random, 4000));
    const loaded = new CountedThread("cl100k at 1.25", [], old.system, newModel());
    loaded.messages = old.messages.slice();
    const { ours, theirs } = loaded.count();
    expect(ours / theirs).toBeGreaterThan(0.95);
    expect(ours / theirs).toBeLessThan(1.1);
  });
});

test("what was counted before is never looked at again", () => {
  const reads = (size: number): number => {
    let count = 0;
    const watch = <M extends BaseMessage>(message: M): M =>
      new Proxy(message, {
        get(target, key) {
          count += 1;
          return Reflect.get(target, key, target);
        },
      });
    const model = newModel();
    const thread = Array.from({ length: size }, (_, i) =>
      watch(new HumanMessage({ id: `m${size}-${i}`, content: `word ${i}` })),
    );
    requestTokens({ system: SYSTEM, tools: [], messages: thread, model });
    count = 0;
    let messages: BaseMessage[] = thread;
    for (let step = 0; step < 3; step += 1) {
      const answer = reply(size * 9);
      learnUsage({ model, messages: [SYSTEM, ...messages], tools: [], settings: {} }, answer);
      messages = [...messages, answer, new HumanMessage(`more ${step}`)];
      requestTokens({ system: SYSTEM, tools: [], messages, model });
    }
    return count;
  };
  const few = reads(50);
  expect(few).toBeLessThan(10);
  expect(reads(5000)).toBe(few);
});

test("each tool is converted once, whatever lists it is in", () => {
  let reads = 0;
  const watched = {
    type: "function",
    function: {
      get name() {
        reads += 1;
        return "lookup";
      },
    },
  };
  const model = newModel();
  for (let i = 0; i < 5; i += 1) requestTokens({ system: SYSTEM, tools: [watched], messages: [], model });
  expect(reads).toBe(1);
});
