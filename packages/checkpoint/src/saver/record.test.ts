import type { Checkpoint, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { describe, expect, test } from "vitest";
import { Batch, Handle, KIND } from "../content/handle.ts";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { describeTuple } from "./describe-for-tests.ts";
import { SharedMemorySaver } from "./shared-memory-saver.ts";
import { SharedSaver } from "./shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "./states-for-tests.ts";

const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };

/** Stores and reads a checkpoint with these parts. */
async function trip(parts: Partial<Checkpoint>, metadata?: CheckpointMetadata): Promise<void> {
  const saver = new SharedMemorySaver();
  const checkpoint = { ...checkpointOf(EMPTY), ...parts };
  await saver.put(config, checkpoint, metadata as CheckpointMetadata);
  const tuple = await saver.getTuple(config);
  const place = { configurable: { ...config.configurable, checkpoint_id: checkpoint.id } };
  const expected = { config: place, checkpoint, ...(metadata && { metadata }), pendingWrites: [] };
  expect(describeTuple(tuple)).toEqual(describeTuple(expected));
}

describe("a checkpoint as a row", () => {
  test.each<[string, Partial<Checkpoint>]>([
    ["versions that are whole numbers", { channel_versions: { a: 1, b: 0, c: 2 ** 53 - 1, d: -4 } }],
    ["versions that are fractions", { channel_versions: { a: 0.1, b: 0.3, c: 1e300 } }],
    ["versions that are texts", { channel_versions: { a: "00001.0.123", b: "" } }],
    [
      "versions of both kinds",
      { channel_versions: { a: "1", b: 2 }, versions_seen: { n: { a: "1", b: 2 } } },
    ],
    ["no versions", { channel_versions: {}, versions_seen: {} }],
    ["versions of channels without a value", { channel_values: {}, channel_versions: { a: 3 } }],
    [
      "nodes of odd names",
      { versions_seen: JSON.parse('{"__proto__":{"__proto__":1},"":{},"\\u0000":{"\\ud800":2}}') },
    ],
    ["a time with microseconds", { ts: "2025-01-01T00:00:00.123456+02:00" }],
    ["a time that is none", { ts: "yesterday" }],
    ["a time out of range", { ts: "+275760-09-13T00:00:00.000Z" }],
    ["an old version", { v: 4 }],
    [
      "fields of other versions",
      { pending_sends: [{ node: "a", args: new Map([[1, 2]]) }], extra: { $: 1 } } as object,
    ],
  ])("keeps %s", async (_, parts) => {
    await trip(parts, metadataOf());
  });

  test("keeps as many channels as there are", async () => {
    const names = Array.from({ length: 130_000 }, (_, i) => [`channel ${i}`, i]);
    const channel_versions = Object.fromEntries(names);
    await trip({ channel_versions, versions_seen: {} }, metadataOf());
  });

  test.each<[string, CheckpointMetadata | undefined]>([
    ["none at all", undefined],
    ["step 0", metadataOf(0)],
    ["step -1", metadataOf(-1)],
    ["no step", { source: "loop", parents: {} } as never],
    [
      "odd values",
      metadataOf(1, { when: new Date(5), nothing: undefined, $: 1, list: [Number.NaN], big: 1n }),
    ],
    ["many", metadataOf(1, Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i])))],
    ["long texts", metadataOf(1, { text: "x".repeat(10_000), files: ["y".repeat(5_000)] })],
  ])("keeps metadata: %s", async (_, metadata) => {
    await trip({}, metadata);
  });

  test("of a later format is refused wherever it is met", async () => {
    const storage = new MemoryStorage();
    const batch = new Batch();
    const shape = { f: 2, v: 4, values: "in another way" };
    const refs = [shape, { source: "loop" }].map((value) =>
      batch.ref(new Handle(KIND.value, [], JSON.stringify(value))),
    );
    await storage.put({
      threadId: "t",
      namespace: "",
      epoch: 0,
      fence: undefined,
      now: 1,
      objects: batch.objects,
      checkpoint: {
        id: "later",
        parent: undefined,
        root: undefined,
        refs,
        body: "neither JSON nor anything",
      },
    });
    const saver = new SharedSaver(storage);
    const tooNew = { code: "STORAGE_TOO_NEW", hint: expect.stringContaining("Update") };
    await expect(saver.getTuple(config)).rejects.toMatchObject(tooNew);
    await expect(saver.list(config).next()).rejects.toMatchObject(tooNew);
    await expect(saver.list(config, { filter: { source: "loop" } }).next()).rejects.toMatchObject(tooNew);
    await saver.deleteThread("t");
    expect(await saver.size()).toBe(0);
  });
});
