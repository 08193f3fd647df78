/** Old checkpoints go, and everything only they needed. */
import { expect, it } from "vitest";
import { objectsOf, putStep, readStep, tree, uuid } from "./content-for-tests.ts";
import type { ThreadStorage } from "./storage.ts";

export function pruneSuite(storage: () => ThreadStorage): void {
  const idsOf = async (threadId: string, namespace = "") =>
    (await storage().listRows({ threadId, namespace, limit: 100 })).map(({ checkpoint }) => checkpoint.id);
  /** Checkpoint `n` was stored at moment `n` and has content of its own besides what all have. */
  const fill = async (threadId: string, count: number, options: { body?: string; size?: number } = {}) => {
    for (let n = 1; n <= count; n++) {
      const content = [tree(`${threadId} ${n} `.padEnd(options.size ?? 0, "x")), tree("common")];
      await putStep(storage(), { threadId, id: uuid(n), now: n, content, body: options.body });
    }
  };

  it("keeps the latest checkpoints and frees what the others had", async () => {
    await fill("t", 5);
    await fill("u", 3);
    const gone = (await storage().readTuple("t", "", uuid(1)))?.checkpoint.refs[0] as number;
    const epoch = await storage().epochOf("t");
    const result = await storage().prune({ threadId: "t", keepLatest: 2, now: 100 });
    expect(result).toMatchObject({ checkpoints: 3, objects: 3 });
    expect(result.bytes).toBeGreaterThan(0);
    expect(await idsOf("t")).toEqual([uuid(5), uuid(4)]);
    expect(await storage().loadObjects([gone])).toEqual([]);
    expect((await readStep(storage(), "t"))?.content).toEqual([tree("t 5 "), tree("common")]);
    expect((await storage().thread("t"))?.checkpointCount).toBe(2);
    expect(await storage().epochOf("t")).toBeGreaterThan(epoch);
    expect(await idsOf("u")).toHaveLength(3);
  });

  it("removes what is older than a moment, but never the newest", async () => {
    await fill("t", 5);
    await fill("u", 2);
    expect(await storage().prune({ olderThan: 4, now: 100 })).toMatchObject({ checkpoints: 4 });
    expect(await idsOf("t")).toEqual([uuid(5), uuid(4)]);
    expect(await idsOf("u")).toEqual([uuid(2)]);
    expect(await storage().prune({ olderThan: 1_000, now: 1_000 })).toMatchObject({ checkpoints: 1 });
    expect(await idsOf("t")).toEqual([uuid(5)]);
  });

  it("keeps what another thread uses", async () => {
    await fill("t", 3);
    await storage().copyThread("t", "copy", 1);
    await storage().prune({ threadId: "t", keepLatest: 1, now: 1 });
    expect((await readStep(storage(), "copy", uuid(1)))?.content).toEqual([tree("t 1 "), tree("common")]);
    await storage().deleteThread("t");
    expect((await readStep(storage(), "copy", uuid(3)))?.content).toEqual([tree("t 3 "), tree("common")]);
    await storage().prune({ threadId: "copy", keepLatest: 1, now: 1 });
    expect((await readStep(storage(), "copy"))?.content).toEqual([tree("t 3 "), tree("common")]);
  });

  it("removes children with the checkpoint they belong to, and keeps those of the ones that stay", async () => {
    await fill("t", 3);
    for (const n of [1, 2, 3]) {
      for (const inner of [1, 2]) {
        const id = uuid(n * 100 + inner);
        await putStep(storage(), { threadId: "t", namespace: `task:${n}`, id, root: uuid(n), now: n });
      }
    }
    await storage().prune({ threadId: "t", keepLatest: 2, now: 1 });
    expect(await idsOf("t", "task:1")).toEqual([]);
    expect(await idsOf("t", "task:2")).toHaveLength(2);
    expect(await idsOf("t", "task:3")).toHaveLength(2);
  });

  it("keeps the newest of a namespace that outlives its run", async () => {
    await fill("t", 3);
    for (const n of [1, 2]) {
      await putStep(storage(), {
        threadId: "t",
        namespace: "memory",
        id: uuid(n * 100),
        root: uuid(n),
        now: n,
      });
    }
    await storage().prune({ threadId: "t", keepLatest: 1, now: 1 });
    expect(await idsOf("t", "memory")).toEqual([uuid(200)]);
  });

  it("leaves a namespace alone whose checkpoints need their ancestors", async () => {
    await fill("t", 4, { body: "Delta" });
    expect(await storage().prune({ threadId: "t", keepLatest: 1, olderThan: 50, now: 100 })).toMatchObject({
      checkpoints: 0,
    });
    expect(await idsOf("t")).toHaveLength(4);
  });

  it("removes the writes of removed checkpoints and what only they had", async () => {
    await fill("t", 2);
    const { objects } = objectsOf([tree("only in a write")]);
    const entries = [{ index: 0, channel: "c", body: "b", refs: [-1] }];
    for (const n of [1, 2]) {
      const batch = { threadId: "t", namespace: "", epoch: 0, fence: undefined, now: 1 };
      const writes = { checkpointId: uuid(n), taskId: `task ${n}`, entries };
      await storage().put({ ...batch, objects, writes });
    }
    const ref = (await storage().readTuple("t", "", uuid(1)))?.writes[0]?.entries[0]?.refs[0] as number;
    await storage().prune({ threadId: "t", keepLatest: 1, now: 1 });
    expect(await storage().loadObjects([ref])).toHaveLength(1);
    await putStep(storage(), { threadId: "t", id: uuid(3) });
    await storage().prune({ threadId: "t", keepLatest: 1, now: 1 });
    expect(await storage().loadObjects([ref])).toEqual([]);
  });

  it("removes old images", async () => {
    const { objects } = objectsOf([tree("before")]);
    const image = { checkpointId: uuid(9), place: "/", path: "/f", before: -1, after: undefined };
    for (const now of [10, 20]) {
      const batch = { threadId: "t", namespace: "", epoch: 0, fence: undefined };
      await storage().put({ ...batch, objects, now, image });
    }
    await putStep(storage(), { threadId: "t", id: uuid(9), now: 30 });
    const [old] = await storage().listImages("t");
    await storage().prune({ threadId: "t", olderThan: 15, now: 100 });
    expect(await storage().listImages("t")).toMatchObject([{ at: 20 }]);
    expect(await storage().loadObjects([old?.before as number])).toHaveLength(1);
    await storage().prune({ threadId: "t", olderThan: 25, now: 100 });
    expect(await storage().loadObjects([old?.before as number])).toEqual([]);
  });

  it("removes images alone, by age and by size, and no checkpoint", async () => {
    await fill("t", 3);
    const batch = { threadId: "t", namespace: "", epoch: 0, fence: undefined };
    for (const now of [10, 20, 30]) {
      const { objects } = objectsOf([tree(`image ${now} `.padEnd(5_000, "x"))]);
      const image = { checkpointId: uuid(1), place: "/", path: "/f", before: -1, after: undefined };
      await storage().put({ ...batch, objects, now, image });
    }
    const rule = { onlyImages: true, now: 100 };
    const result = await storage().prune({ ...rule, olderThan: 20 });
    expect([result.checkpoints, result.bytes > 0]).toEqual([0, true]);
    expect(await storage().listImages("t")).toMatchObject([{ at: 20 }, { at: 30 }]);
    await storage().prune({ ...rule, threadId: "t", maxBytes: 8_000 });
    expect(await storage().listImages("t")).toMatchObject([{ at: 30 }]);
    await storage().prune({ ...rule, maxBytes: 0 });
    expect(await storage().listImages("t")).toEqual([]);
    expect(await idsOf("t")).toHaveLength(3);
  });

  it("removes the oldest of all threads until the rest is small enough", async () => {
    await fill("t", 20, { size: 1_000 });
    await fill("u", 20, { size: 1_000 });
    const result = await storage().prune({ maxBytes: 12_000, now: 100 });
    const left = (await idsOf("t")).length + (await idsOf("u")).length;
    expect(left).toBe(40 - result.checkpoints);
    expect(left).toBeLessThanOrEqual(12);
    expect(left).toBeGreaterThanOrEqual(6);
    expect((await idsOf("t"))[0]).toBe(uuid(20));
    expect((await idsOf("u"))[0]).toBe(uuid(20));
    await storage().prune({ maxBytes: 0, now: 100 });
    expect(await idsOf("t")).toEqual([uuid(20)]);
  });
}
