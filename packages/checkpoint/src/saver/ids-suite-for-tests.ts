import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Subject } from "./saver-suite-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "./states-for-tests.ts";

const BAD: readonly [string, unknown][] = [
  ["a number", 5],
  ["an object", { toString: () => "x" }],
  ["a list", ["x"]],
  ["true", true],
  ["an empty string", ""],
  ["NUL", "a\0b"],
  ["half a pair", "a\ud800"],
  ["more than 1,024 characters", "x".repeat(1_025)],
];

/** Ids are data: they name a thread and nothing else. */
export function idsSuite({ open }: Subject): void {
  describe("ids", () => {
    let saver: SharedSaver;
    const checkpoint = checkpointOf(EMPTY);
    beforeAll(async () => {
      saver = await open();
    });
    afterAll(() => saver.close());

    test.each(BAD)("a thread id that is or has %s is refused everywhere", async (_, thread_id) => {
      const refused = { code: "INVALID_ID" };
      const config = {
        configurable: { thread_id, checkpoint_ns: "", checkpoint_id: checkpoint.id },
      } as object;
      await expect(saver.put(config, checkpoint, metadataOf())).rejects.toMatchObject(refused);
      await expect(saver.putWrites(config, [["a", 1]], "task")).rejects.toMatchObject(refused);
      await expect(saver.getTuple(config)).rejects.toMatchObject(refused);
      await expect(saver.list(config).next()).rejects.toMatchObject(refused);
      await expect(saver.deleteThread(thread_id as string)).rejects.toMatchObject(refused);
      await expect(saver.copyThread(thread_id as string, "b")).rejects.toMatchObject(refused);
      await expect(saver.copyThread("b", thread_id as string)).rejects.toMatchObject(refused);
      await expect(saver.claimThread(thread_id as string, { mode: "refuse" })).rejects.toMatchObject(refused);
    });

    test.each(BAD.filter(([name]) => name !== "an empty string"))(
      "a namespace or checkpoint id that is or has %s is refused",
      async (_, id) => {
        const refused = { code: "INVALID_ID" };
        const inSpace = { configurable: { thread_id: "t", checkpoint_ns: id } } as object;
        const atPoint = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: id } } as object;
        const wrong = { ...checkpoint, id: id as string };
        const right = { configurable: { thread_id: "t", checkpoint_ns: "" } };
        await expect(saver.put(inSpace, checkpoint, metadataOf())).rejects.toMatchObject(refused);
        await expect(saver.put(atPoint, checkpoint, metadataOf())).rejects.toMatchObject(refused);
        await expect(saver.put(right, wrong, metadataOf())).rejects.toMatchObject(refused);
        await expect(saver.getTuple(atPoint)).rejects.toMatchObject(refused);
        await expect(saver.list({}, { before: atPoint }).next()).rejects.toMatchObject(refused);
      },
    );

    test("without a thread nothing is stored and nothing found", async () => {
      await expect(saver.put({}, checkpoint, metadataOf())).rejects.toMatchObject({ code: "INVALID_ID" });
      await expect(saver.putWrites({}, [["a", 1]], "t")).rejects.toMatchObject({ code: "INVALID_ID" });
      expect(await saver.getTuple({})).toBeUndefined();
    });

    test("writes need a checkpoint and a task", async () => {
      const configurable = { thread_id: "t", checkpoint_ns: "" };
      const refused = { code: "INVALID_ID" };
      await expect(saver.putWrites({ configurable }, [["a", 1]], "task")).rejects.toMatchObject(refused);
      const whole = { configurable: { ...configurable, checkpoint_id: checkpoint.id } };
      await expect(saver.putWrites(whole, [["a", 1]], "")).rejects.toMatchObject(refused);
    });

    test.each([
      "__proto__",
      "constructor",
      "prototype",
      "toString",
      "a'; DROP TABLE dw_threads; --",
      "%",
      "ключ 🔑",
      "..",
      "exactly 1,024 characters",
    ])("%s names a thread like any other", async (given) => {
      const name = given.startsWith("exactly") ? given.padEnd(1_024, ".") : given;
      const before = Object.getOwnPropertyNames(Object.prototype);
      const configurable = { thread_id: name, checkpoint_ns: name };
      const stored = checkpointOf({ ...EMPTY, notes: name });
      await saver.put({ configurable }, { ...stored, id: name }, metadataOf());
      await saver.putWrites({ configurable: { ...configurable, checkpoint_id: name } }, [[name, name]], name);
      const tuple = await saver.getTuple({ configurable });
      expect(tuple?.checkpoint.channel_values.notes).toBe(name);
      expect(tuple?.pendingWrites).toEqual([[name, name, name]]);
      expect(tuple?.config.configurable).toEqual({ ...configurable, checkpoint_id: name });
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
      expect(({} as any).polluted).toBeUndefined();
      await saver.deleteThread(name);
      expect(await saver.getTuple({ configurable })).toBeUndefined();
    });
  });
}
