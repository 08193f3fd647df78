import { expect, test } from "vitest";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { SharedSaver } from "./shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "./states-for-tests.ts";

const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };

/** A storage where somebody prunes after the rows of a list were read and before what they refer to. */
class PrunedStorage extends MemoryStorage {
  override async listRows(
    ...args: Parameters<MemoryStorage["listRows"]>
  ): ReturnType<MemoryStorage["listRows"]> {
    const rows = await super.listRows(...args);
    await this.prune({ keepLatest: 1, now: Date.now() });
    return rows;
  }
}

async function filled(): Promise<SharedSaver> {
  const saver = new SharedSaver(new PrunedStorage());
  for (let n = 0; n < 5; n += 1) {
    const messages = [`${n}`.repeat(2_000)] as never;
    await saver.put(config, checkpointOf({ ...EMPTY, messages }), { ...metadataOf(), n } as never);
  }
  return saver;
}

test.each([{}, { filter: { source: metadataOf().source } }])(
  "checkpoints that are pruned while they are listed are left out: %o",
  async (options) => {
    const saver = await filled();
    const found: unknown[] = [];
    for await (const { checkpoint } of saver.list(config, options))
      found.push(checkpoint.channel_values.messages);
    expect(found).toEqual([["4".repeat(2_000)]]);
  },
);
