import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anyProgram, runProgram } from "./programs-for-tests.ts";
import { holds } from "./property-for-tests.ts";
import type { Subject } from "./saver-suite-for-tests.ts";
import { SharedSaver } from "./shared-saver.ts";

/** Every state read equals the state written, whatever happened in between. */
export function programsSuite({ open, runs, size }: Subject): void {
  describe("random programs", () => {
    let saver: SharedSaver;
    beforeAll(async () => {
      saver = await open();
    });
    afterAll(() => saver.close());

    test("two savers on one storage read what the naive saver reads, and leave nothing behind", async () => {
      const empty = await size(saver);
      await holds(
        fc.asyncProperty(anyProgram, async (program) => {
          await clear(saver);
          await runProgram([new SharedSaver(saver.storage), new SharedSaver(saver.storage)], program);
        }),
        runs,
      );
      await clear(saver);
      expect(await size(saver)).toBeLessThan(empty + 100_000);
    });
  });
}

async function clear(saver: SharedSaver): Promise<void> {
  const threads = new Set<string>();
  for await (const { config } of saver.list({})) threads.add(config.configurable?.thread_id);
  for (const thread of threads) await saver.deleteThread(thread);
}
