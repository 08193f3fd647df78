/** Tests that every storage passes. `open` gives an empty one; the suite closes it. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimSuite } from "./claim-suite-for-tests.ts";
import { putStep, readStep, tree, uuid } from "./content-for-tests.ts";
import { pruneSuite } from "./prune-suite-for-tests.ts";
import { sharingSuite } from "./sharing-suite-for-tests.ts";
import type { ThreadStorage, WriteEntry } from "./storage.ts";
import { threadSuite } from "./thread-suite-for-tests.ts";

export function storageSuite(name: string, open: () => Promise<ThreadStorage>): void {
  describe(`${name} storage`, () => {
    let storage: ThreadStorage;
    beforeEach(async () => {
      storage = await open();
    });
    afterEach(() => storage.close());
    rowSuite(() => storage);
    writesSuite(() => storage);
    imageSuite(() => storage);
    sharingSuite(() => storage);
    threadSuite(() => storage);
    claimSuite(() => storage);
    pruneSuite(() => storage);
    closingSuite(() => storage);
  });
}

function rowSuite(storage: () => ThreadStorage): void {
  it("gives back what was put: text as text, bytes as bytes", async () => {
    const bodies = [
      "",
      "héllo 🎈",
      "\uFEFFwith a mark",
      "a\0b",
      new Uint8Array(0),
      new Uint8Array([0, 255, 1]),
    ];
    const content = [tree("list", ...bodies.map((body) => tree(body))), tree("list", tree("leaf"))];
    const parent = uuid(1);
    await putStep(storage(), { threadId: "t", id: uuid(2), parent, root: uuid(0), content, body: "row" });
    const step = await readStep(storage(), "t");
    expect(step?.checkpoint).toMatchObject({
      threadId: "t",
      namespace: "",
      id: uuid(2),
      parent,
      root: uuid(0),
    });
    expect(step?.checkpoint.body).toBe("row");
    expect(step?.writes).toEqual([]);
    expect(step?.content).toEqual(content);
  });

  it("reads the newest checkpoint by id, or the one asked for", async () => {
    for (const n of [2, 3, 1]) await putStep(storage(), { threadId: "t", id: uuid(n) });
    expect((await storage().readTuple("t", "", undefined))?.checkpoint.id).toBe(uuid(3));
    expect((await storage().readTuple("t", "", uuid(1)))?.checkpoint.id).toBe(uuid(1));
    expect(await storage().readTuple("t", "", uuid(4))).toBeUndefined();
    expect(await storage().readTuple("t", "other", undefined)).toBeUndefined();
    expect(await storage().readTuple("u", "", undefined)).toBeUndefined();
  });

  it("takes ids that are not UUIDs", async () => {
    for (const id of ["c2", "c10", "ffffffff-0000-0000-0000-000000000000"]) {
      await putStep(storage(), { threadId: "t", id, parent: "ünusual" });
      expect((await storage().readTuple("t", "", id))?.checkpoint).toMatchObject({ id, parent: "ünusual" });
    }
  });

  it("lists rows by thread, namespace and id, page by page", async () => {
    for (const threadId of ["b", "a"]) {
      for (const namespace of ["x", ""]) {
        for (const n of [1, 2, 3]) await putStep(storage(), { threadId, namespace, id: uuid(n) });
      }
    }
    const everything = await storage().listRows({ limit: 100 });
    const names = everything.map(({ checkpoint: c }) => [c.threadId, c.namespace, c.id]);
    const ids = [uuid(3), uuid(2), uuid(1)];
    expect(names).toEqual(["a", "b"].flatMap((t) => ["", "x"].flatMap((n) => ids.map((id) => [t, n, id]))));
    for (const [index, { checkpoint: after }] of everything.entries()) {
      const rest = await storage().listRows({ limit: 2, after });
      expect(rest).toEqual(everything.slice(index + 1, index + 3));
    }
  });

  it("lists rows that match", async () => {
    for (const threadId of ["a", "b"]) {
      for (const namespace of ["", "x"]) {
        for (const n of [1, 2, 3]) await putStep(storage(), { threadId, namespace, id: uuid(n) });
      }
    }
    const count = async (query: object) => (await storage().listRows({ limit: 100, ...query })).length;
    expect(await count({ threadId: "a" })).toBe(6);
    expect(await count({ namespace: "x" })).toBe(6);
    expect(await count({ threadId: "a", namespace: "x", before: uuid(3) })).toBe(2);
    expect(await count({ checkpointId: uuid(2) })).toBe(4);
    const after = { threadId: "a", namespace: "x", id: uuid(3) };
    expect(await count({ threadId: "a", namespace: "x", after })).toBe(2);
    expect(await count({ threadId: "a", after: { ...after, namespace: "" } })).toBe(5);
    expect(await count({ limit: 4 })).toBe(4);
  });

  it("replaces a checkpoint that is put again", async () => {
    await putStep(storage(), { threadId: "t", id: uuid(1), body: "first", content: [tree("one")] });
    await putStep(storage(), { threadId: "t", id: uuid(1), body: "second", content: [tree("two")] });
    const step = await readStep(storage(), "t");
    expect(step).toMatchObject({ checkpoint: { body: "second" }, content: [tree("two")] });
    expect((await storage().thread("t"))?.checkpointCount).toBe(1);
  });
}

function writesSuite(storage: () => ThreadStorage): void {
  const write = (taskId: string, entries: readonly WriteEntry[], checkpointId = uuid(1)) =>
    storage().put({
      threadId: "t",
      namespace: "",
      epoch: 0,
      fence: undefined,
      now: 1_000,
      objects: [],
      writes: { checkpointId, taskId, entries },
    });
  const entry = (index: number, body: string, channel = "c"): WriteEntry => ({
    index,
    channel,
    body,
    refs: [],
  });

  it("keeps writes in the order in which tasks first wrote", async () => {
    await putStep(storage(), { threadId: "t", id: uuid(1) });
    await write("b", [entry(1, "two\nlines"), entry(0, 'one "quoted"')]);
    await write("a", [entry(0, "three", 'chan"nel\n')]);
    await write("b", [entry(2, "four")]);
    const rows = await storage().readTuple("t", "", undefined);
    expect(rows?.writes).toEqual([
      { taskId: "b", entries: [entry(0, 'one "quoted"'), entry(1, "two\nlines"), entry(2, "four")] },
      { taskId: "a", entries: [entry(0, "three", 'chan"nel\n')] },
    ]);
    expect(await storage().listRows({ limit: 5 })).toEqual([rows]);
  });

  it("keeps a regular write that is there and replaces a special one", async () => {
    await write("a", [entry(0, "first"), entry(-3, "first")]);
    await write("a", [entry(0, "second"), entry(-3, "second"), entry(-1, "new")]);
    await putStep(storage(), { threadId: "t", id: uuid(1) });
    const rows = await storage().readTuple("t", "", uuid(1));
    expect(rows?.writes[0]?.entries).toEqual([entry(-3, "second"), entry(-1, "new"), entry(0, "first")]);
  });

  it("refers from writes to content of the same batch", async () => {
    const objects = [{ hash: new Uint8Array(20).fill(7), kind: 1, refs: [], body: "content" }];
    const entries = [
      entry(0, "none"),
      { ...entry(1, "two"), refs: [-1, -1] },
      { ...entry(2, "one"), refs: [-1] },
    ];
    const batch = { threadId: "t", namespace: "", epoch: 0, fence: undefined, now: 1, objects };
    const writes = { checkpointId: uuid(1), taskId: uuid(9), entries };
    const result = await storage().put({ ...batch, writes });
    await putStep(storage(), { threadId: "t", id: uuid(1) });
    const id = result.stale ? undefined : result.ids[0];
    const rows = await storage().readTuple("t", "", undefined);
    expect(rows?.writes[0]?.entries.map(({ refs }) => refs)).toEqual([[], [id, id], [id]]);
  });
}

function imageSuite(storage: () => ThreadStorage): void {
  it("lists images in the order they were stored", async () => {
    const objects = [{ hash: new Uint8Array(20).fill(3), kind: 1, refs: [], body: "before" }];
    const batch = { threadId: "t", namespace: "", epoch: 0, fence: undefined, objects };
    const image = { checkpointId: uuid(1), place: "/work", path: "/a.txt" };
    const first = await storage().put({
      ...batch,
      now: 5,
      image: { ...image, before: -1, after: undefined },
    });
    await storage().put({ ...batch, now: 6, image: { ...image, before: undefined, after: -1 } });
    const id = first.stale ? undefined : first.ids[0];
    const images = await storage().listImages("t");
    expect(images).toMatchObject([
      { ...image, before: id, after: undefined, at: 5 },
      { ...image, before: undefined, after: id, at: 6 },
    ]);
    expect((images[0]?.sequence ?? 0) < (images[1]?.sequence ?? 0)).toBe(true);
    expect(await storage().listImages("other")).toEqual([]);
  });
}

function closingSuite(storage: () => ThreadStorage): void {
  it("counts what it writes and tells its size", async () => {
    const before = (await storage().counts()).bytesWritten;
    await putStep(storage(), { threadId: "t", id: uuid(1), content: [tree("x".repeat(5_000))] });
    const written = (await storage().counts()).bytesWritten - before;
    expect(written).toBeGreaterThan(5_000);
    expect(written).toBeLessThan(5_500);
    expect(await storage().size()).toBeGreaterThanOrEqual(5_000);
  });

  it("can be closed twice", async () => {
    await storage().close();
    await storage().close();
  });
}
