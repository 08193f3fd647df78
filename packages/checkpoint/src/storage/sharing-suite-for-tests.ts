/** Content that several checkpoints and threads use is there once, and as long as one of them needs it. */
import { expect, it } from "vitest";
import { objectsOf, putStep, readStep, tree, uuid } from "./content-for-tests.ts";
import type { PutBatch, ThreadStorage } from "./storage.ts";

export function sharingSuite(storage: () => ThreadStorage): void {
  const idsOf = async (threadId: string, id?: string) =>
    (await storage().readTuple(threadId, "", id))?.checkpoint.refs ?? [];
  const exists = async (ids: readonly number[]) => (await storage().loadObjects(ids)).length > 0;

  it("stores the same content once, in one thread and across threads", async () => {
    const content = [tree("root", tree("leaf"), tree("leaf"))];
    const first = await putStep(storage(), { threadId: "a", id: uuid(1), content });
    const again = await putStep(storage(), { threadId: "a", id: uuid(2), content });
    const other = await putStep(storage(), { threadId: "b", id: uuid(1), content });
    expect(again).toEqual(first);
    expect(other.stale ? [] : other.ids).toEqual(first.stale ? undefined : first.ids);
  });

  it("loads what is asked for, without what is known and what only that leads to", async () => {
    const shared = tree("shared");
    const known = tree("known", tree("only through known"), shared);
    await putStep(storage(), { threadId: "t", id: uuid(1), content: [tree("root", known, shared), known] });
    const [root, second] = await idsOf("t");
    const loaded = await storage().loadObjects([root as number], [second as number]);
    expect(loaded.map(({ body }) => body).sort()).toEqual(["root", "shared"]);
    expect(await storage().loadObjects([second as number], [second as number])).toEqual([]);
    expect(await storage().loadObjects([])).toEqual([]);
  });

  it("refuses references nobody stored, or another thread did, and writes nothing then", async () => {
    await putStep(storage(), { threadId: "other", id: uuid(1), content: [tree("theirs")] });
    const [theirs] = await idsOf("other");
    const checkpoint = { id: uuid(1), parent: undefined, root: undefined, body: "" };
    const batch: Omit<PutBatch, "threadId"> = {
      namespace: "",
      epoch: 0,
      fence: undefined,
      now: 1,
      objects: objectsOf([tree("new")]).objects,
      checkpoint: { ...checkpoint, refs: [theirs as number] },
    };
    expect(await storage().put({ threadId: "new", ...batch })).toMatchObject({ stale: true });
    expect(await storage().thread("new")).toBeUndefined();
    await putStep(storage(), { threadId: "t", id: uuid(2) });
    const epoch = await storage().epochOf("t");
    expect(await storage().put({ threadId: "t", ...batch })).toEqual({ stale: true, epoch });
    const made = { ...batch, checkpoint: { ...checkpoint, refs: [4_000_000] } };
    expect(await storage().put({ threadId: "t", ...made })).toEqual({ stale: true, epoch });
    expect((await storage().thread("t"))?.checkpointCount).toBe(1);
  });

  it("takes references to what the thread stored, in this epoch or an earlier one", async () => {
    const stored = await putStep(storage(), { threadId: "t", id: uuid(1), content: [tree("kept")] });
    if (stored.stale) throw new Error("The first put cannot be stale.");
    for (const epoch of [stored.epoch, 0]) {
      const object = objectsOf([tree(`on top ${epoch}`, tree("kept"))]).objects.at(-1);
      const result = await storage().put({
        threadId: "t",
        namespace: "",
        epoch,
        fence: undefined,
        now: 1,
        objects: [{ ...object, refs: stored.ids } as PutBatch["objects"][number]],
        checkpoint: { id: uuid(2), parent: uuid(1), root: undefined, body: "", refs: [-1] },
      });
      expect(result).toMatchObject({ stale: false, epoch: stored.epoch });
      const step = await readStep(storage(), "t");
      expect(step?.content).toEqual([tree(`on top ${epoch}`, tree("kept"))]);
    }
  });

  it("keeps shared content when the thread that stored it goes, and removes it with the last", async () => {
    const content = [tree("root", tree("leaf"))];
    for (const threadId of ["a", "b", "c"]) await putStep(storage(), { threadId, id: uuid(1), content });
    await putStep(storage(), { threadId: "a", id: uuid(2), content: [tree("only a")] });
    const shared = await idsOf("a", uuid(1));
    const own = await idsOf("a");
    await storage().deleteThread("a");
    expect(await storage().readTuple("a", "", undefined)).toBeUndefined();
    expect(await exists(own)).toBe(false);
    expect(await readStep(storage(), "b")).toMatchObject({ content });
    await storage().deleteThread("b");
    expect(await readStep(storage(), "c")).toMatchObject({ content });
    await storage().deleteThread("c");
    expect(await exists(shared)).toBe(false);
    await storage().deleteThread("never there");
  });

  it("does not take what is remembered of a deleted thread for the new one of that name", async () => {
    const stored = await putStep(storage(), { threadId: "t", id: uuid(1), content: [tree("gone")] });
    if (stored.stale) throw new Error("The first put cannot be stale.");
    await storage().deleteThread("t");
    expect(await storage().epochOf("t")).toBe(0);
    await putStep(storage(), { threadId: "t", id: uuid(1) });
    const result = await storage().put({
      threadId: "t",
      namespace: "",
      epoch: stored.epoch,
      fence: undefined,
      now: 1,
      objects: [],
      checkpoint: { id: uuid(2), parent: undefined, root: undefined, body: "", refs: stored.ids },
    });
    expect(result.stale).toBe(true);
  });

  it("copies a thread that lives on when the first is deleted", async () => {
    const content = [tree("root", tree("leaf"))];
    await putStep(storage(), {
      threadId: "a",
      id: uuid(1),
      content,
      facts: { title: "A", cwd: "/w" },
      now: 5,
    });
    await putStep(storage(), { threadId: "a", id: uuid(2), namespace: "x:1", root: uuid(1), content });
    const objects = objectsOf([tree("written")]).objects;
    const batch = { threadId: "a", namespace: "", epoch: 0, fence: undefined, now: 1, objects };
    const entries = [{ index: 0, channel: "c", body: "b", refs: [-1] }];
    await storage().put({ ...batch, writes: { checkpointId: uuid(1), taskId: "task", entries } });
    const image = { checkpointId: uuid(1), place: "/", path: "/f", before: -1, after: undefined };
    await storage().put({ ...batch, image });
    const before = await storage().listRows({ threadId: "a", limit: 9 });
    await storage().copyThread("a", "b", 77);
    const renamed = before.map((row) => ({ ...row, checkpoint: { ...row.checkpoint, threadId: "b" } }));
    expect(await storage().listRows({ threadId: "b", limit: 9 })).toEqual(renamed);
    const facts = { title: "A", cwd: "/w", checkpointCount: 2, createdAt: 77, updatedAt: 77 };
    expect(await storage().thread("b")).toMatchObject(facts);
    await storage().deleteThread("a");
    expect(await readStep(storage(), "b")).toMatchObject({ content });
    const [copied] = await storage().listImages("b");
    expect((await storage().loadObjects([copied?.before as number]))[0]?.body).toBe("written");
  });

  it("copies only a thread that is there, and only to a name that is free", async () => {
    await putStep(storage(), { threadId: "a", id: uuid(1) });
    await putStep(storage(), { threadId: "b", id: uuid(1) });
    await expect(storage().copyThread("none", "c", 1)).rejects.toMatchObject({ code: "THREAD_NOT_FOUND" });
    await expect(storage().copyThread("a", "b", 1)).rejects.toMatchObject({ code: "THREAD_EXISTS" });
    await expect(storage().copyThread("a", "a", 1)).rejects.toMatchObject({ code: "THREAD_EXISTS" });
    expect(await storage().thread("c")).toBeUndefined();
  });
}
