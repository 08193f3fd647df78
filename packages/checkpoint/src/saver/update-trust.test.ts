import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { filesReducer } from "../../../core/src/backends/state/files-value.ts";
import { messagesReducer } from "../../../core/src/loop/messages/messages.ts";
import { SharedMemorySaver } from "./shared-memory-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "./states-for-tests.ts";

const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };

test("an update that brings back a list or record of the loop has what was edited in it", async () => {
  const saver = new SharedMemorySaver();
  const messages = messagesReducer(undefined, [new HumanMessage({ id: "1", content: "before" })]);
  const files = filesReducer(undefined, { "/a": { content: "before" }, "/b": { content: "b" } } as never);
  const stored = await saver.put(config, checkpointOf({ ...EMPTY, messages, files }), metadataOf());
  (messages[0] as BaseMessage).content = "after";
  (files["/a"] as { content: string }).content = "after";
  await saver.putWrites(
    stored,
    [
      ["messages", messages],
      ["files", files],
      ["nested", { messages }],
    ],
    "task",
  );
  const values = (await saver.getTuple(config))?.pendingWrites?.map(([, , value]) => value) as any[];
  expect(values[0][0].content).toBe("after");
  expect(values[1]["/a"].content).toBe("after");
  expect(values[2].messages[0].content).toBe("after");
});
