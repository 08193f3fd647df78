import { MemorySaver, Overwrite } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { isMadeByLoop, returnCount, stampOf } from "../../channel-values.ts";
import { say, scriptedModel } from "../../testing/index.ts";
import { buildState } from "./channels.ts";
import { FilesChannel } from "./files-channel.ts";

const file = (content: string) => ({ content, created_at: "t", modified_at: "t" });
type Files = Record<string, ReturnType<typeof file>>;

test("a record from storage is taken in once", () => {
  const stored = { "/a": file("a") };
  const channel = new FilesChannel().fromCheckpoint(stored);
  const stamp = stampOf(stored["/a"]);
  expect([isMadeByLoop(stored), typeof stamp]).toEqual([true, "number"]);
  channel.fromCheckpoint(channel.checkpoint());
  expect(stampOf(stored["/a"])).toBe(stamp);
});

test("an overwrite with the record of the channel is a new record of files that came back", () => {
  const channel = new FilesChannel();
  channel.update([{ "/a": file("a"), "/b": file("b") }]);
  const before = channel.get() as Files;
  const returns = returnCount();
  (before["/a"] as { content: string }).content = "edited in place";
  channel.update([new Overwrite(before)]);
  expect(channel.get()).not.toBe(before);
  expect(channel.get()).toEqual({ "/a": file("edited in place"), "/b": file("b") });
  expect(isMadeByLoop(channel.get() as object)).toBe(true);
  expect(returnCount()).toBe(returns + 2);
});

test("an overwrite with nothing empties it, one with rubbish is refused", () => {
  const channel = new FilesChannel();
  channel.update([{ "/a": file("a") }]);
  expect(() => channel.update([new Overwrite({ "/b": 7 })])).toThrow("must be a text or an object");
  channel.update([new Overwrite(undefined)]);
  expect(channel.get()).toEqual({});
});

test("agents keep their files in it", async () => {
  const { createFilesystemMiddleware } = await import("../../middleware/filesystem.ts");
  const { channels } = buildState([createFilesystemMiddleware().stateSchema]);
  expect(channels.files).toBeInstanceOf(FilesChannel);
});

test.each(["/../x", "~/x", "C:\\x", "/a.", "/"])(
  "input with the path '%s' is refused before anything is stored",
  async (path) => {
    const model = scriptedModel([say("fine")]);
    const agent = createDeepAgent({ model, checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    const messages = [{ role: "user", content: "hi" }];
    for (const data of [{ content: "x" }, null])
      await expect(
        agent.invoke({ messages, files: { [path]: data } } as never, config),
      ).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining("'files'"),
      });
    await expect(
      agent.graph.updateState(config, { files: { [path]: { content: "x" } } } as never),
    ).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect((await agent.graph.getState(config)).values).toEqual({});
    await agent.invoke({ messages } as never, config);
    expect((await agent.graph.getState(config)).values.messages).toHaveLength(2);
  },
);
