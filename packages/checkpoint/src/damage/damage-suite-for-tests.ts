/** However a row is damaged, its thread says STORAGE_CORRUPT and nothing else, other threads are as before, and nothing is endless. */
import { beforeAll, describe, expect, test } from "vitest";
import type { SharedSaver } from "../saver/shared-saver.ts";
import type { Edit } from "./edits-for-tests.ts";
import { CHANGES, fill, others, outcome, outcomes, READS, THREADS } from "./threads-for-tests.ts";

export interface DamagedPlace {
  /** A copy of what `prepare` filled, with the edit. */
  readonly open: (edit: Edit | undefined) => Promise<SharedSaver>;
  readonly prepare: (fill: (saver: SharedSaver) => Promise<void>) => Promise<void>;
}

/** A thread whose name is damaged is not found, and a step beyond a damaged parent is none of it. */
const FINE = ["ok", "STORAGE_CORRUPT", "THREAD_NOT_FOUND", "INVALID_INPUT"];

export function damageSuite(edits: readonly Edit[], { open, prepare }: DamagedPlace): void {
  describe("a thread whose rows somebody edited", () => {
    let before: unknown;
    beforeAll(async () => {
      await prepare(async (saver) => {
        for (const id of THREADS) await fill(saver, id);
      });
      await using saver = await open(undefined);
      before = await others(saver);
      const whole = await outcomes(READS, saver, "hit");
      expect(new Set(Object.values(whole))).toEqual(new Set(["ok"]));
    });

    test.each(edits.map((edit) => [edit.name, edit] as const))("%s", async (_, edit) => {
      await using saver = await open(edit);
      const found: Record<string, string> = {
        ...(await outcomes(READS, saver, "hit")),
        pruneAll: await outcome(() => saver.prune({ keepLatest: 1_000 })),
        ...(await outcomes(CHANGES, saver, "hit")),
      };
      const told = Object.entries(found).filter(([, result]) => result === "STORAGE_CORRUPT");
      expect(told.map(([act]) => act)).toEqual(expect.arrayContaining([...edit.tells]));
      expect(Object.entries(found).filter(([, result]) => !FINE.includes(result))).toEqual([]);
      expect(found.delete).toBe("ok");
      expect(await others(saver)).toEqual(before);
    });
  });
}
