import { randomBytes } from "node:crypto";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesReducer } from "../../../core/src/backends/state/files-value.ts";
import { type Messages, messagesReducer } from "../../../core/src/loop/messages/messages.ts";
import type { Subject } from "./saver-suite-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf, type State } from "./states-for-tests.ts";

const KB = 1_024;
const MB = KB * KB;

const message = (i: number): BaseMessage =>
  i % 2 === 0
    ? new HumanMessage({ id: `m-${i}`, content: `Question ${i}: what is in the file number ${i}?` })
    : new AIMessage({
        id: `m-${i}`,
        content: `Answer ${i}: nothing of interest. ${"So it is. ".repeat(20)}`,
      });

const messages = (count: number): BaseMessage[] => Array.from({ length: count }, (_, i) => message(i));

/** Lines nobody can compress or share by chance. */
function text(bytes: number): string {
  const lines: string[] = [];
  for (let length = 0; length < bytes; length += 65) lines.push(randomBytes(32).toString("hex"));
  return lines.join("\n");
}

/** A checkpoint costs what changed. */
export function sharingSuite({ open }: Subject): void {
  describe("what is stored already is not written again", () => {
    let saver: SharedSaver;
    beforeAll(async () => {
      saver = await open();
    });
    afterAll(() => saver.close());

    /** Bytes a checkpoint of this state costs. */
    async function cost(state: State | Checkpoint, thread = "sharing", parent?: string, namespace = "") {
      const checkpoint = "channel_values" in state ? state : checkpointOf(state);
      const { bytesWritten } = await saver.counts();
      const place = { thread_id: thread, checkpoint_ns: namespace };
      await saver.put(
        { configurable: parent === undefined ? place : { ...place, checkpoint_id: parent } },
        checkpoint,
        metadataOf(),
      );
      return (await saver.counts()).bytesWritten - bytesWritten;
    }

    test("one message more in a list of 10,000 writes less than 4 KB, also when nothing is known by identity", async () => {
      const list = messagesReducer(undefined, messages(10_000));
      await cost({ ...EMPTY, messages: list }, "appends");
      const longer = messagesReducer(list as Messages, [message(10_000)]);
      expect(await cost({ ...EMPTY, messages: longer }, "appends")).toBeLessThan(4 * KB);
      expect(await cost({ ...EMPTY, messages: longer }, "appends")).toBeLessThan(KB);
      const equal = messages(10_002);
      expect(await cost({ ...EMPTY, messages: equal }, "appends")).toBeLessThan(4 * KB);
    });

    test("an edit of one in 1,000 files writes that file and less than 8 KB", async () => {
      const all = Object.fromEntries(
        Array.from({ length: 1_000 }, (_, i) => [`/src/module-${i}/file-${i}.ts`, { content: text(2_000) }]),
      );
      const files = filesReducer(undefined, all as never);
      await cost({ ...EMPTY, files }, "files");
      const content = text(5_000);
      const changed = filesReducer(files, { "/src/module-500/file-500.ts": { content } as never });
      expect(await cost({ ...EMPTY, files: changed }, "files")).toBeLessThan(content.length + 8 * KB);
      const added = filesReducer(changed, { "/src/new.ts": { content } as never });
      expect(await cost({ ...EMPTY, files: added }, "files")).toBeLessThan(8 * KB);
      const removed = filesReducer(added, { "/src/module-17/file-17.ts": null });
      expect(await cost({ ...EMPTY, files: removed }, "files")).toBeLessThan(8 * KB);
      expect(await cost({ ...EMPTY, files: { ...removed } }, "files")).toBeLessThan(KB);
    });

    test("a file of 10 MB costs nothing while it stays, and a line of it at most 256 KB", async () => {
      const content = text(10 * MB);
      const files = filesReducer(undefined, {
        "/large": { content } as never,
        "/other": { content: "a" } as never,
      });
      await cost({ ...EMPTY, files }, "large");
      const other = filesReducer(files, { "/other": { content: "b" } as never });
      expect(await cost({ ...EMPTY, files: other }, "large")).toBeLessThan(KB);
      expect(await cost({ ...EMPTY, files: { ...other } }, "large")).toBeLessThan(KB);
      const middle = content.indexOf("\n", 5 * MB);
      const edited = `${content.slice(0, middle)}\none line more\n${content.slice(middle + 20)}`;
      expect(
        await cost({ ...EMPTY, files: { ...other, "/large": { content: edited } } }, "large"),
      ).toBeLessThan(256 * KB);
      await saver.deleteThread("large");
    });

    test("binary content is shared piece by piece, too", async () => {
      const bytes = new Uint8Array(randomBytes(4 * MB));
      await cost({ ...EMPTY, other: { bytes } }, "binary");
      const edited = new Uint8Array(bytes.length + 3);
      edited.set(bytes.subarray(0, 2 * MB));
      edited.set([1, 2, 3], 2 * MB);
      edited.set(bytes.subarray(2 * MB), 2 * MB + 3);
      expect(await cost({ ...EMPTY, other: { bytes: edited } }, "binary")).toBeLessThan(256 * KB);
      await saver.deleteThread("binary");
    });

    test("other threads, namespaces and forks write references only", async () => {
      // Of no other thread of this suite.
      const own = () =>
        Array.from(
          { length: 300 },
          (_, i) => new HumanMessage({ id: `own-${i}`, content: `${i}`.repeat(99) }),
        );
      const files = { "/a": { content: text(200 * KB) } };
      const list = own();
      const first = checkpointOf({ ...EMPTY, messages: list, files });
      expect(await cost(first, "one")).toBeGreaterThan(200 * KB);
      const again = { ...EMPTY, messages: own(), files: structuredClone(files) };
      // Every object is named once by its hash and once by its owner: no content is written.
      expect(await cost(again, "two")).toBeLessThan(64 * KB);
      expect(await cost(again, "one", undefined, "child")).toBeLessThan(2 * KB);
      expect(await cost(again, "one", first.id)).toBeLessThan(KB);
      const longer = { ...again, messages: [...again.messages, message(300)] };
      expect(await cost(longer, "one", first.id)).toBeLessThan(3 * KB);
    });

    test("what a task writes and the channel takes over is stored once", async () => {
      const content = text(50 * KB);
      const result = new AIMessage({ id: "result", content });
      const start = checkpointOf({ ...EMPTY, messages: [message(0)] });
      await cost(start, "writes");
      const { bytesWritten } = await saver.counts();
      const configurable = { thread_id: "writes", checkpoint_ns: "", checkpoint_id: start.id };
      await saver.putWrites({ configurable }, [["messages", [result]]], "task-1");
      expect((await saver.counts()).bytesWritten - bytesWritten).toBeGreaterThan(50 * KB);
      expect(await cost({ ...EMPTY, messages: [message(0), result] }, "writes", start.id)).toBeLessThan(KB);
    });

    test("a put after one message more looks at none of 5,000 messages that were there", async () => {
      let reads = 0;
      const watched = (plain: BaseMessage): BaseMessage =>
        new Proxy(plain, {
          get(target, key, receiver) {
            reads += 1;
            return Reflect.get(target, key, receiver);
          },
          ownKeys(target) {
            reads += 1;
            return Reflect.ownKeys(target);
          },
        });
      // No question among them: nothing to be found by whoever looks for the first one.
      const answers = Array.from({ length: 5_000 }, (_, i) => watched(message(2 * i + 1)));
      let list = messagesReducer(undefined, answers);
      await cost({ ...EMPTY, messages: list }, "counted");
      for (let i = 0; i < 3; i += 1) {
        list = messagesReducer(list as Messages, [message(10_001 + 2 * i)]);
        reads = 0;
        await cost({ ...EMPTY, messages: list }, "counted");
        expect(reads).toBeLessThanOrEqual(20);
      }
    });
  });
}
