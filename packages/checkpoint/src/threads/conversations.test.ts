import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createDeepAgent, MapBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SharedMemorySaver } from "../saver/shared-memory-saver.ts";
import type { SharedSaver } from "../saver/shared-saver.ts";
import { SqliteSaver } from "../sqlite/index.ts";
import { excerptOf, messageTexts } from "./conversation-text.ts";
import { conversationsOf } from "./conversations.ts";
import { newName } from "./thread-for-tests.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "deepwright-conversations-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function talk(saver: SharedSaver, id: string, words: string, more: object = {}): Promise<void> {
  const agent = createDeepAgent({
    model: scriptedModel([callTool("ls", { path: "/" }), say(`About ${words}`)]),
    checkpointer: saver,
    backend: new MapBackend({ "/a.txt": "x" }),
  });
  await agent.invoke({ messages: words }, { configurable: { thread_id: id }, ...more });
}

async function idsOf(saver: SharedSaver, scope?: object): Promise<string[]> {
  const { conversations } = await conversationsOf(saver, scope).list({ limit: 100 });
  return conversations.map(({ threadId }) => threadId);
}

describe.each<[string, () => Promise<SharedSaver>]>([
  ["memory", async () => new SharedMemorySaver()],
  ["SQLite", () => SqliteSaver.open(join(directory, `${newName()}.db`))],
])("conversations in %s", (_, open) => {
  let saver: SharedSaver;
  beforeEach(async () => {
    saver = await open();
    await talk(saver, "one", "figs", { metadata: { cwd: "/here" } });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await talk(saver, "two", "dates", {
      metadata: { cwd: "/there", title: "Fruit" },
    });
    return () => saver.close();
  });

  it("lists threads, the one that went on last first, page by page", async () => {
    const source = conversationsOf(saver);
    const first = await source.list({ limit: 1 });
    expect(first.conversations).toMatchObject([{ threadId: "two", title: "Fruit", messageCount: 4 }]);
    const second = await source.list({ limit: 1, after: first.next as string });
    expect(second).toMatchObject({ conversations: [{ threadId: "one", title: "figs" }] });
    expect(second.next).toBeUndefined();
    const { updatedAt } = second.conversations[0] as { updatedAt: string };
    expect((await source.list({ limit: 9, since: updatedAt })).conversations).toMatchObject([
      { threadId: "two" },
    ]);
  });

  it("reads what was said, page by page", async () => {
    const source = conversationsOf(saver);
    const first = await source.read("one", { limit: 2 });
    expect(first).toMatchObject({ total: 4, next: 2 });
    expect(first?.messages).toEqual([
      { index: 0, role: "user", text: "figs" },
      { index: 1, role: "assistant", text: 'calls ls {"path":"/"}' },
    ]);
    const rest = await source.read("one", { from: 2, limit: 2 });
    expect(rest?.messages.map(({ role, text }) => [role, text])).toEqual([
      ["tool", "ls: /a.txt"],
      ["assistant", "About figs"],
    ]);
    expect(rest?.next).toBeUndefined();
    await talk(saver, "one", "plums");
    expect((await source.read("one", { from: 4 }))?.messages[0]?.text).toBe("plums");
  });

  it("finds literal text in all of them or in one", async () => {
    const source = conversationsOf(saver);
    expect(await source.search("ABOUT", { limit: 5 })).toMatchObject({
      searched: 2,
      more: false,
      matches: [
        { threadId: "two", message: { index: 3, text: "About dates" } },
        { threadId: "one", message: { role: "assistant" } },
      ],
    });
    expect(await source.search("about", { limit: 1 })).toMatchObject({
      more: true,
      matches: [{ threadId: "two" }],
    });
    expect(await source.search("about", { limit: 5, threadId: "one" })).toMatchObject({
      searched: 1,
      matches: [{}],
    });
    expect(await source.search("a.*t", { limit: 5 })).toMatchObject({ matches: [] });
  });

  it("shows only threads of its scope, whichever way it is asked", async () => {
    expect(await idsOf(saver, { cwd: "/here" })).toEqual(["one"]);
    expect(await idsOf(saver, { where: ({ title }: { title?: string }) => title === "Fruit" })).toEqual([
      "two",
    ]);
    const source = conversationsOf(saver, { cwd: "/there" });
    expect(await source.read("one")).toBeUndefined();
    expect(await source.search("figs", { limit: 5 })).toMatchObject({ searched: 1, matches: [] });
    expect(await source.search("figs", { limit: 5, threadId: "one" })).toMatchObject({
      searched: 0,
      matches: [],
    });
  });

  it("knows nothing of threads that cannot be", async () => {
    const source = conversationsOf(saver);
    for (const id of ["nowhere", "", "a\0b", "x".repeat(100_000)])
      expect(await source.read(id)).toBeUndefined();
  });

  it("gives a claim to one at a time, which no list shows", async () => {
    const [one, other] = [conversationsOf(saver), conversationsOf(saver)];
    const claim = await one.claim?.("work");
    expect(await other.claim?.("work")).toBeUndefined();
    expect(
      await conversationsOf(saver, { cwd: "/here" })
        .claim?.("work")
        .then((held) => held?.release()),
    ).toBe(undefined);
    await claim?.release();
    const next = await other.claim?.("work");
    expect(next?.signal.aborted).toBe(false);
    await next?.release();
    expect((await idsOf(saver)).sort()).toEqual(["one", "two"]);
  });
});

describe("the text of messages", () => {
  it("leaves out thoughts, names media, and shortens arguments", () => {
    const messages = [
      new HumanMessage({
        content: [
          { type: "text", text: "See" },
          { type: "image_url", image_url: "x" },
        ],
      }),
      new AIMessage({
        content: [{ type: "thinking", thinking: "hm" }],
        tool_calls: [{ name: "f", args: { a: "x".repeat(500) }, id: "1" }],
      }),
      new ToolMessage({ content: "", tool_call_id: "1" }),
      { type: "strange", content: "x" },
      null,
    ];
    const texts = messageTexts(messages);
    expect(texts.map(({ index, text }) => [index, text.slice(0, 20), text.length])).toEqual([
      [0, "See\n[image_url]", 15],
      [1, 'calls f {"a":"xxxxxx', 309],
    ]);
  });

  it("an excerpt is what stands around the first occurrence", () => {
    const text = `${"a".repeat(1_000)} Needle ${"b".repeat(1_000)}`;
    expect(excerptOf(text, "needle")).toMatch(/^…a+ Needle b+…$/);
    expect(excerptOf(text, "needle")?.length).toBe(608);
    expect(excerptOf("x", "y")).toBeUndefined();
  });
});

it("says which savers it can work with, and which options there are", () => {
  expect(() => conversationsOf({} as never)).toThrow("needs a saver of @deepwright/checkpoint");
  expect(() => conversationsOf(new SharedMemorySaver(), { user: "x" } as never)).toThrow("no option 'user'");
});
