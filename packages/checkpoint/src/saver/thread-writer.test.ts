import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { type Messages, messagesReducer } from "../../../core/src/loop/messages/messages.ts";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { describeValue } from "./describe-for-tests.ts";
import { SharedSaver } from "./shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "./states-for-tests.ts";

const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
const long = (text: string): string => text.padEnd(2_000, ".");

/** A storage that counts, and fails when told to. */
class WatchedStorage extends MemoryStorage {
  puts = 0;
  failures: Error[] = [];
  /** Checkpoints in the order in which they came. */
  readonly ids: string[] = [];

  override async put(...args: Parameters<MemoryStorage["put"]>): ReturnType<MemoryStorage["put"]> {
    this.puts += 1;
    const failure = this.failures.shift();
    if (failure) throw failure;
    for (const { checkpoint } of [args[0], ...(args[0].more ?? [])])
      if (checkpoint) this.ids.push(checkpoint.id);
    return super.put(...args);
  }
}

function setup() {
  const storage = new WatchedStorage();
  const saver = new SharedSaver(storage);
  return { storage, saver, other: new SharedSaver(storage) };
}

const put = (saver: SharedSaver, messages: readonly BaseMessage[]): Promise<unknown> =>
  saver.put(config, checkpointOf({ ...EMPTY, messages }), metadataOf());

async function read(saver: SharedSaver): Promise<unknown> {
  return (await saver.getTuple(config))?.checkpoint.channel_values.messages;
}

describe("writes of one thread", () => {
  test("that come together are stored together, in their order", async () => {
    const { storage, saver } = setup();
    const lists = Array.from({ length: 100 }, (_, i) => [
      new HumanMessage({ id: `${i}`, content: long(`${i}`) }),
    ]);
    await Promise.all(lists.map((messages) => put(saver, messages)));
    expect(storage.puts).toBeLessThan(5);
    expect(describeValue(await read(saver))).toBe(describeValue(lists.at(-1)));
    let count = 0;
    for await (const _ of saver.list(config)) count += 1;
    expect(count).toBe(100);
  });

  test("of other threads do not wait for them", async () => {
    const { storage, saver } = setup();
    storage.failures = [new Error("first")];
    const failed = put(saver, []);
    const elsewhere = saver.put(
      { configurable: { thread_id: "u", checkpoint_ns: "" } },
      checkpointOf(EMPTY),
      metadataOf(),
    );
    await expect(failed).rejects.toThrow("first");
    await elsewhere;
  });

  test("that fail are told so, and those after them store all they refer to", async () => {
    const { storage, saver } = setup();
    const first = messagesReducer(undefined, [new HumanMessage({ id: "1", content: long("one") })]);
    const second = messagesReducer(first as Messages, [new AIMessage({ id: "2", content: long("two") })]);
    storage.failures = [new Error("disk full"), new Error("disk full")];
    await expect(put(saver, first)).rejects.toThrow("disk full");
    await expect(put(saver, second)).rejects.toThrow("disk full");
    expect(await saver.getTuple(config)).toBeUndefined();
    await put(saver, second);
    expect(describeValue(await read(saver))).toBe(describeValue(second));
    expect(await storage.thread("t")).toMatchObject({
      messageCount: 2,
      firstPrompt: long("one").slice(0, 200),
    });
  });

  test("behind one that failed are not stored without it, but those of other namespaces are", async () => {
    const { storage, saver } = setup();
    storage.failures = [new Error("disk full")];
    const many = Array.from({ length: 300 }, () => put(saver, []));
    const child = { configurable: { thread_id: "t", checkpoint_ns: "child" } };
    const elsewhere = saver.put(child, checkpointOf(EMPTY), metadataOf());
    const ends = await Promise.allSettled(many);
    expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(300);
    await elsewhere;
    expect(storage.ids).toHaveLength(1);
    await put(saver, []);
    expect(storage.ids).toHaveLength(2);
  });

  test("are stored in the order of the calls, also behind a first one that must be looked into", async () => {
    const { storage, saver } = setup();
    const [first, second, third] = [checkpointOf(EMPTY), checkpointOf(EMPTY), checkpointOf(EMPTY)];
    const behind = (id: string) => ({ configurable: { ...config.configurable, checkpoint_id: id } });
    await Promise.all([
      saver.put(config, first, metadataOf(), {}),
      saver.put(behind(first.id), second, metadataOf(), {}),
      saver.put(behind(second.id), third, metadataOf(), {}),
    ]);
    expect(storage.ids).toEqual([first.id, second.id, third.id]);
  });

  test("of a run that is faster than the storage are few, and the thread is whole", async () => {
    const { storage, saver } = setup();
    const writes = Array.from({ length: 50 }, (_, i) =>
      callTool("write_file", { file_path: `/${i}.txt`, content: `${i}` }),
    );
    const model = scriptedModel([...writes, say("done")]);
    const agent = createDeepAgent({ model, checkpointer: saver });
    await agent.invoke({ messages: "Go." }, config);
    expect(storage.ids.length).toBeGreaterThan(100);
    expect(storage.puts).toBeLessThan(storage.ids.length / 5);
    let expected: string | undefined;
    let count = 0;
    for await (const { config: at, parentConfig } of saver.list(config)) {
      if (expected !== undefined) expect(at.configurable?.checkpoint_id).toBe(expected);
      expected = parentConfig?.configurable?.checkpoint_id as string | undefined;
      count += 1;
    }
    expect(count).toBe(storage.ids.length);
  });

  test("go on after another saver deleted the thread, with its name in the list again", async () => {
    const { storage, saver, other } = setup();
    const list = messagesReducer(undefined, [new HumanMessage({ id: "1", content: long("hello") })]);
    await put(saver, list);
    await other.deleteThread("t");
    await put(saver, messagesReducer(list as Messages, [new AIMessage({ id: "2", content: "more" })]));
    expect(await read(saver)).toHaveLength(2);
    await put(saver, list);
    expect(describeValue(await read(other))).toBe(describeValue(list));
    expect(await storage.thread("t")).toMatchObject({
      messageCount: 1,
      firstPrompt: long("hello").slice(0, 200),
    });
  });

  test("asked for around a deletion leave a thread that can be read", async () => {
    const { saver } = setup();
    const list = messagesReducer(undefined, [new HumanMessage({ id: "1", content: long("hello") })]);
    await put(saver, list);
    await Promise.all([put(saver, list), saver.deleteThread("t"), put(saver, list), put(saver, list)]);
    const found = await read(saver);
    if (found !== undefined) expect(describeValue(found)).toBe(describeValue(list));
    await put(saver, list);
    expect(describeValue(await read(saver))).toBe(describeValue(list));
  });
});
