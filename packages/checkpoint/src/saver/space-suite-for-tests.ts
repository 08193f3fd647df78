import { randomBytes } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PruneOptions } from "../threads/threads.ts";
import { describeTuple } from "./describe-for-tests.ts";
import type { Subject } from "./saver-suite-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";
import { checkpointOf, EMPTY, metadataOf, type State } from "./states-for-tests.ts";

const KB = 1_024;
const config = (thread_id: string, checkpoint_ns = "") => ({ configurable: { thread_id, checkpoint_ns } });
const noise = (bytes: number): string => randomBytes(bytes / 2).toString("hex");

function state(text: string): State {
  return {
    ...EMPTY,
    messages: [new HumanMessage({ id: "1", content: "hello" })],
    files: { "/a": { content: text } },
  };
}

/** Deleting and pruning give space back and harm nothing else. */
export function spaceSuite({ open, exactSize, size }: Subject): void {
  describe("space", () => {
    let saver: SharedSaver;
    /** A database grows and shrinks in pages. */
    const slack = exactSize ? 2 * KB : 512 * KB;
    const large = exactSize ? 100 * KB : 2_048 * KB;
    beforeAll(async () => {
      saver = await open();
      // The first write makes files and pages that stay.
      await fill("warm", [noise(KB)]);
      await saver.deleteThread("warm");
    });
    afterAll(() => saver.close());

    async function fill(thread: string, texts: readonly string[], namespace = "", parents = {}) {
      const ids: string[] = [];
      for (const [i, text] of texts.entries()) {
        const checkpoint = checkpointOf(state(text), i + 1);
        const place = config(thread, namespace).configurable;
        const parent = ids.at(-1);
        await saver.put(
          { configurable: parent ? { ...place, checkpoint_id: parent } : place },
          checkpoint,
          metadataOf(i + 1, { parents }),
        );
        ids.push(checkpoint.id);
      }
      return ids;
    }

    async function listed(thread: string): Promise<unknown[]> {
      const found = [];
      for await (const tuple of saver.list({ configurable: { thread_id: thread } }))
        found.push(describeTuple(tuple));
      return found;
    }

    test("a deleted thread leaves nothing", async () => {
      const before = await size(saver);
      const [id] = await fill("gone", [noise(large), noise(large)]);
      await saver.putWrites(
        { configurable: { ...config("gone").configurable, checkpoint_id: id } },
        [["files", noise(large)]],
        "task",
      );
      await fill("gone", [noise(large)], "child", { "": id });
      expect(await size(saver)).toBeGreaterThan(before + 3 * large);
      await saver.deleteThread("gone");
      expect(await size(saver)).toBeLessThan(before + slack);
      expect(await listed("gone")).toEqual([]);
      expect(await saver.getTuple(config("gone"))).toBeUndefined();
      expect(await saver.getTuple(config("gone", "child"))).toBeUndefined();
      await saver.deleteThread("gone");
    });

    test("what another thread shares survives, whichever of them is deleted first", async () => {
      for (const [first, second] of [
        ["mine", "yours"],
        ["yours", "mine"],
      ] as const) {
        const before = await size(saver);
        const text = noise(large);
        await fill("mine", [text]);
        await fill("yours", [text, `${text} and more`]);
        const kept = await listed(second);
        await saver.deleteThread(first);
        expect(await listed(second)).toEqual(kept);
        expect(await size(saver)).toBeGreaterThan(before + large - slack);
        await saver.deleteThread(second);
        expect(await size(saver)).toBeLessThan(before + slack);
      }
    });

    test("a copy lives on without its original, and costs no content", async () => {
      const before = await size(saver);
      const [id] = await fill("original", [noise(large), noise(large)]);
      await saver.putWrites(
        { configurable: { ...config("original").configurable, checkpoint_id: id } },
        [["__interrupt__", [{ value: "sure?" }]]],
        "task",
      );
      const { bytesWritten } = await saver.counts();
      await saver.copyThread("original", "copy");
      expect((await saver.counts()).bytesWritten - bytesWritten).toBeLessThan(8 * KB);
      const original = JSON.stringify(await listed("original"));
      await saver.deleteThread("original");
      expect(JSON.stringify(await listed("copy"))).toBe(original.replaceAll("original", "copy"));
      await fill("copy", [noise(KB)]);
      await expect(saver.copyThread("original", "other")).rejects.toMatchObject({ code: "THREAD_NOT_FOUND" });
      await fill("original", [noise(KB)]);
      await expect(saver.copyThread("original", "copy")).rejects.toMatchObject({ code: "THREAD_EXISTS" });
      await expect(saver.copyThread("copy", "copy")).rejects.toMatchObject({ code: "THREAD_EXISTS" });
      await saver.deleteThread("original");
      await saver.deleteThread("copy");
      expect(await size(saver)).toBeLessThan(before + slack);
    });

    test("pruning keeps the newest states as they are and returns the rest", async () => {
      const before = await size(saver);
      const texts = Array.from({ length: 6 }, () => noise(large));
      const ids = await fill("pruned", texts);
      await fill("bystander", [texts[0] as string]);
      const all = await listed("pruned");
      const kept = await saver.prune({ threadId: "pruned", keepLatest: 2 });
      expect(kept.checkpoints).toBe(4);
      expect(kept.objects).toBeGreaterThanOrEqual(3);
      expect(kept.bytes).toBeGreaterThan(3 * large * 0.9);
      expect(await listed("pruned")).toEqual(all.slice(0, 2));
      expect(await listed("bystander")).toHaveLength(1);
      expect(await size(saver)).toBeLessThan(before + 3 * large + 2 * slack);
      expect(
        await saver.getTuple({ configurable: { ...config("pruned").configurable, checkpoint_id: ids[0] } }),
      ).toBeUndefined();
      expect(await saver.prune({ threadId: "pruned", keepLatest: 2 })).toMatchObject({
        checkpoints: 0,
        bytes: 0,
      });
      await saver.deleteThread("pruned");
      await saver.deleteThread("bystander");
      expect(await size(saver)).toBeLessThan(before + slack);
    });

    test("children go with the checkpoint they belong to", async () => {
      const ids = await fill("family", [noise(KB), noise(KB), noise(KB)]);
      await fill("family", [noise(KB)], "child:old", { "": ids[0] });
      await fill("family", [noise(KB), noise(KB)], "child:new", { "": ids[2] });
      await saver.prune({ threadId: "family", keepLatest: 1 });
      expect(await saver.getTuple(config("family", "child:old"))).toBeUndefined();
      expect(await saver.getTuple(config("family", "child:new"))).toBeDefined();
      await saver.deleteThread("family");
    });

    test("a thread goes on after pruning by another saver, from what it remembers", async () => {
      const texts = [noise(20 * KB), noise(20 * KB)];
      await fill("goes-on", [...texts, noise(KB)]);
      await saver.prune({ threadId: "goes-on", keepLatest: 1 });
      await fill("goes-on", texts);
      const found = await saver.getTuple(config("goes-on"));
      expect((found!.checkpoint.channel_values.files as any)["/a"].content).toBe(texts[1]);
      await saver.deleteThread("goes-on");
    });

    test("pruning by age and by size leaves each thread its newest state", async () => {
      await fill("aged", [noise(large), noise(large), noise(large)]);
      await fill("aged-too", [noise(large)]);
      expect((await saver.prune({ olderThan: 3_600 })).checkpoints).toBe(0);
      expect((await saver.prune({ olderThan: new Date(Date.now() - 3_600_000) })).checkpoints).toBe(0);
      const newest = [await saver.getTuple(config("aged")), await saver.getTuple(config("aged-too"))].map(
        describeTuple,
      );
      expect((await saver.prune({ maxBytes: 1e12 })).checkpoints).toBe(0);
      expect((await saver.prune({ maxBytes: 0 })).checkpoints).toBe(2);
      const after = [await saver.getTuple(config("aged")), await saver.getTuple(config("aged-too"))].map(
        describeTuple,
      );
      expect(after).toEqual(newest);
      await fill("aged", [noise(KB)]);
      expect((await saver.prune({ olderThan: new Date(Date.now() + 60_000) })).checkpoints).toBe(1);
      await saver.deleteThread("aged");
      await saver.deleteThread("aged-too");
    });

    test("a thread that is not there has nothing to prune", async () => {
      const nothing = { checkpoints: 0, objects: 0, bytes: 0 };
      expect(await saver.prune({ keepLatest: 1, threadId: "nobody" })).toEqual(nothing);
    });

    test.each<[unknown, string]>([
      [{}, "INVALID_OPTION"],
      [undefined, "INVALID_OPTION"],
      [{ keepLatest: 0 }, "INVALID_OPTION"],
      [{ keepLatest: 1.5 }, "INVALID_OPTION"],
      [{ keepLatest: "2" }, "INVALID_OPTION"],
      [{ keepLatest: Number.NaN }, "INVALID_OPTION"],
      [{ maxBytes: -1 }, "INVALID_OPTION"],
      [{ maxBytes: "10" }, "INVALID_OPTION"],
      [{ olderThan: -5 }, "INVALID_OPTION"],
      [{ olderThan: "1 day" }, "INVALID_OPTION"],
      [{ olderThan: new Date(Number.NaN) }, "INVALID_OPTION"],
      [{ olderThan: Number.POSITIVE_INFINITY }, "INVALID_OPTION"],
      [{ keepLast: 3 }, "UNKNOWN_OPTION"],
      [{ keepLatest: 1, threadId: 5 }, "INVALID_ID"],
    ])("prune(%j) is refused with %s", async (options, code) => {
      await expect(saver.prune(options as PruneOptions)).rejects.toMatchObject({ code });
    });
  });
}
