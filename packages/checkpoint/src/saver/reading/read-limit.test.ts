import { expect, test } from "vitest";
import { MemoryStorage } from "../../storage/memory-storage.ts";
import { SharedSaver } from "../shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "../states-for-tests.ts";
import { READ_LIMIT_KEY, type ReadLimit } from "./read-limit.ts";

const MB = 1024 * 1024;
const configurable = { thread_id: "t", checkpoint_ns: "" };
const config = { configurable };
const limited = (limit: ReadLimit) => ({ configurable: { ...configurable, [READ_LIMIT_KEY]: limit } });

/** Counts what is read. */
class CountingStorage extends MemoryStorage {
  bytes = 0;

  override async loadObjects(
    ...args: Parameters<MemoryStorage["loadObjects"]>
  ): ReturnType<MemoryStorage["loadObjects"]> {
    const objects = await super.loadObjects(...args);
    for (const { body } of objects) this.bytes += body.length;
    return objects;
  }
}

const text = (n: number) =>
  Array.from({ length: MB / 8 }, (_, i) => String((i * 31 + n) % 10_000_000).padStart(8, "0")).join("");

async function filled(count: number): Promise<{ storage: CountingStorage; saver: SharedSaver }> {
  const storage = new CountingStorage();
  const saver = new SharedSaver(storage);
  for (let n = 0; n < count; n += 1)
    await saver.put(config, checkpointOf({ ...EMPTY, messages: [text(n)] as never }), metadataOf() as never);
  storage.bytes = 0;
  return { storage, saver };
}

test("a listing of large checkpoints reads one after the other", async () => {
  const { storage, saver } = await filled(8);
  let found = 0;
  for await (const { checkpoint } of saver.list(config)) {
    found += 1;
    expect((checkpoint.channel_values.messages as string[])[0]).toBe(text(8 - found));
    expect(storage.bytes).toBeLessThan((found + 1) * MB);
  }
  expect(found).toBe(8);
});

test("a checkpoint larger than its reader wants is not read", async () => {
  const { storage, saver } = await filled(1);
  const tooLarge = expect.objectContaining({ code: "VALUE_TOO_LARGE" });
  await expect(saver.getTuple(limited({ mostBytes: MB / 2 }))).rejects.toThrow(tooLarge);
  await expect(saver.list(limited({ mostBytes: MB / 2 })).next()).rejects.toThrow(tooLarge);
  expect(storage.bytes).toBeLessThan(2.5 * MB);
  expect(await saver.getTuple(limited({ mostBytes: 2 * MB }))).toBeDefined();
});

test("a text that is stored once and referred to often counts each time", async () => {
  const { saver } = await filled(0);
  const messages = Array.from({ length: 10 }, () => text(1)) as never;
  await saver.put(config, checkpointOf({ ...EMPTY, messages }), metadataOf() as never);
  const sizes: number[] = [];
  await saver.getTuple(limited({ mostBytes: 20 * MB, admit: (bytes) => sizes.push(bytes) }));
  expect(sizes[0]).toBeGreaterThan(10 * MB);
  await expect(saver.getTuple(limited({ mostBytes: 5 * MB }))).rejects.toThrow(
    expect.objectContaining({ code: "VALUE_TOO_LARGE" }),
  );
});
