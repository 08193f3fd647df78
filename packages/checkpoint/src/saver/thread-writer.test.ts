import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { type Messages, messagesReducer } from "../../../core/src/loop/messages.ts";
import { MemoryHome } from "../home/memory-home.ts";
import { describeValue } from "./describe-for-tests.ts";
import { SharedSaver } from "./shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "./states-for-tests.ts";

const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
const long = (text: string): string => text.padEnd(2_000, ".");

/** A home that counts, and fails when told to. */
class WatchedHome extends MemoryHome {
  puts = 0;
  failures: Error[] = [];

  override async put(...args: Parameters<MemoryHome["put"]>): ReturnType<MemoryHome["put"]> {
    this.puts += 1;
    const failure = this.failures.shift();
    if (failure) throw failure;
    return super.put(...args);
  }
}

function setup() {
  const home = new WatchedHome();
  const saver = new SharedSaver(home);
  return { home, saver, other: new SharedSaver(home) };
}

const put = (saver: SharedSaver, messages: readonly BaseMessage[]): Promise<unknown> =>
  saver.put(config, checkpointOf({ ...EMPTY, messages }), metadataOf());

async function read(saver: SharedSaver): Promise<unknown> {
  return (await saver.getTuple(config))?.checkpoint.channel_values.messages;
}

describe("writes of one thread", () => {
  test("that come together are stored together, in their order", async () => {
    const { home, saver } = setup();
    const lists = Array.from({ length: 100 }, (_, i) => [
      new HumanMessage({ id: `${i}`, content: long(`${i}`) }),
    ]);
    await Promise.all(lists.map((messages) => put(saver, messages)));
    expect(home.puts).toBeLessThan(5);
    expect(describeValue(await read(saver))).toBe(describeValue(lists.at(-1)));
    let count = 0;
    for await (const _ of saver.list(config)) count += 1;
    expect(count).toBe(100);
  });

  test("of other threads do not wait for them", async () => {
    const { home, saver } = setup();
    home.failures = [new Error("first")];
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
    const { home, saver } = setup();
    const first = messagesReducer(undefined, [new HumanMessage({ id: "1", content: long("one") })]);
    const second = messagesReducer(first as Messages, [new AIMessage({ id: "2", content: long("two") })]);
    home.failures = [new Error("disk full"), new Error("disk full")];
    await expect(put(saver, first)).rejects.toThrow("disk full");
    await expect(put(saver, second)).rejects.toThrow("disk full");
    expect(await saver.getTuple(config)).toBeUndefined();
    await put(saver, second);
    expect(describeValue(await read(saver))).toBe(describeValue(second));
    expect(await home.thread("t")).toMatchObject({ messageCount: 2, firstPrompt: long("one").slice(0, 200) });
  });

  test("go on after another saver deleted the thread, with its name in the list again", async () => {
    const { home, saver, other } = setup();
    const list = messagesReducer(undefined, [new HumanMessage({ id: "1", content: long("hello") })]);
    await put(saver, list);
    await other.deleteThread("t");
    await put(saver, messagesReducer(list as Messages, [new AIMessage({ id: "2", content: "more" })]));
    expect(await read(saver)).toHaveLength(2);
    await put(saver, list);
    expect(describeValue(await read(other))).toBe(describeValue(list));
    expect(await home.thread("t")).toMatchObject({
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
