import { Overwrite } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { isMadeByLoop, returnCount, stampOf } from "../channel-values.ts";
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
  expect(() => channel.update([new Overwrite({ "/b": "text" })])).toThrow("must be an object");
  channel.update([new Overwrite(undefined)]);
  expect(channel.get()).toEqual({});
});

test("agents keep their files in it", async () => {
  const { createFilesystemMiddleware } = await import("../middleware/filesystem.ts");
  const { channels } = buildState([createFilesystemMiddleware().stateSchema]);
  expect(channels.files).toBeInstanceOf(FilesChannel);
});
