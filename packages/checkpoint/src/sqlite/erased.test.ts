/** Deleted text is gone from the bytes of the file and of its log. */
import { readFileSync } from "node:fs";
import { HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PostgresSaver } from "../postgres/index.ts";
import { holds } from "../saver/property-for-tests.ts";
import { SharedMemorySaver } from "../saver/shared-memory-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "../saver/states-for-tests.ts";
import { SqliteStore } from "../store/sqlite-store.ts";
import { testDatabase } from "../test-support/postgres.ts";
import { openThreads } from "../threads/open-threads.ts";
import { openDatabase } from "./driver.ts";
import { SqliteSaver } from "./index.ts";
import { scratchFile } from "./scratch-for-tests.ts";

/** How often the marker is in the file and in its log. */
function found(path: string, marker: string): number {
  return [path, `${path}-wal`].reduce(
    (sum, file) => sum + readFileSync(file, "latin1").split(marker).length - 1,
    0,
  );
}

/** A conversation with the marker in its title, messages, files, writes and before-images; small and large texts. */
async function converse(saver: SqliteSaver, threadId: string, marker: string, steps: number): Promise<void> {
  const messages: HumanMessage[] = [];
  let parent: string | undefined;
  for (let step = 0; step < steps; step += 1) {
    const text = `${step} ${marker} ${"x".repeat((step % 7) ** 4)} ${marker}`;
    messages.push(new HumanMessage({ id: `${step}`, content: text }));
    const files = { [`/${marker}`]: { content: text.repeat(step % 5) } };
    const checkpoint = checkpointOf({ ...EMPTY, messages: [...messages], files, notes: text }, step);
    const place = { thread_id: threadId, checkpoint_ns: "", checkpoint_id: parent };
    const config = { configurable: place, metadata: { title: `title ${marker}`, cwd: `/storage/${marker}` } };
    await saver.put(config, checkpoint, metadataOf(step, { note: marker }));
    parent = checkpoint.id;
    const at = { configurable: { ...place, checkpoint_id: parent } };
    await saver.putWrites(at, [["notes", `written ${text}`]], "task");
    await saver.recordImage(at, {
      checkpointId: parent,
      place: marker,
      path: marker,
      before: text,
      after: undefined,
    });
  }
}

/** Two threads whose rows and pages lie among each other. */
async function twoThreads(saver: SqliteSaver): Promise<void> {
  await Promise.all([converse(saver, "kept", "KEPT-MARKER", 60), converse(saver, "gone", "GONE-MARKER", 60)]);
}

test("a deletion overwrites its rows and empties the log; other threads stay", async () => {
  const path = scratchFile();
  await using saver = await SqliteSaver.open(path);
  await twoThreads(saver);
  const before = found(path, "GONE-MARKER");
  await openThreads(saver).delete("gone");
  // Copies that SQLite makes when it divides a page may be left.
  expect(found(path, "GONE-MARKER")).toBeLessThan(before / 20);
  expect(found(path, "KEPT-MARKER")).toBeGreaterThan(100);
  const kept = await saver.getTuple({ configurable: { thread_id: "kept" } });
  expect(kept?.checkpoint.channel_values.messages).toHaveLength(60);
});

test("erase leaves nothing of a deleted thread, of pruned steps and of items of the store", async () => {
  const path = scratchFile();
  await using saver = await SqliteSaver.open(path);
  await using store = await SqliteStore.open(path);
  await twoThreads(saver);
  const last = checkpointOf({ ...EMPTY, notes: "last" }, 61);
  await saver.put({ configurable: { thread_id: "kept", checkpoint_ns: "" } }, last, metadataOf(61));
  for (let i = 0; i < 200; i += 1)
    await store.put(["n"], `${i}`, { text: `ITEM-MARKER ${"y".repeat(i * 20)}` });
  for (let i = 0; i < 200; i += 1) await store.delete(["n"], `${i}`);
  await saver.deleteThread("gone");
  await openThreads(saver).prune({ keepLatest: 1, erase: true });
  expect(found(path, "GONE-MARKER")).toBe(0);
  expect(found(path, "ITEM-MARKER")).toBe(0);
  // The title, the directory and the first question belong to the thread, not to a step.
  expect(found(path, "KEPT-MARKER")).toBeLessThanOrEqual(5);
  const kept = await saver.getTuple({ configurable: { thread_id: "kept" } });
  expect(kept?.checkpoint.channel_values.notes).toBe("last");
  await saver.prune({ erase: true });
});

test("erase is refused where the database has its own tools, and is nothing in memory", async () => {
  const memory = new SharedMemorySaver();
  expect(await memory.prune({ erase: true })).toEqual({ checkpoints: 0, objects: 0, bytes: 0 });
  await expect(memory.prune({ erase: "yes" as never })).rejects.toMatchObject({ code: "INVALID_OPTION" });
  const database = await testDatabase();
  await using saver = await PostgresSaver.open(database.url);
  await expect(saver.prune({ erase: true })).rejects.toMatchObject({
    code: "NOT_SUPPORTED",
    hint: expect.stringContaining("VACUUM FULL"),
  });
  await saver.close();
  await database.drop();
});

test("a reader of another connection makes erase wait, then tells", async () => {
  const path = scratchFile();
  await using saver = await SqliteSaver.open(path, { busyTimeout: 0.5 });
  await converse(saver, "thread", "MARKER", 3);
  const other = openDatabase(path, { timeout: 0, enableForeignKeyConstraints: false });
  other.exec("BEGIN; SELECT COUNT(*) FROM dw_objects");
  await saver.deleteThread("thread");
  await expect(saver.prune({ erase: true })).rejects.toMatchObject({ code: "STORAGE_BUSY" });
  other.exec("COMMIT");
  await saver.prune({ erase: true });
  expect(found(path, "MARKER")).toBe(0);
  other.close();
});

test("random threads leave nothing behind when erased, whatever is written, deleted and pruned in between", async () => {
  const act = fc.record({
    thread: fc.nat({ max: 5 }),
    kind: fc.constantFrom("write", "write", "write", "delete", "prune"),
    steps: fc.integer({ min: 1, max: 12 }),
  });
  const property = fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40 }), async (acts) => {
    const path = scratchFile();
    await using saver = await SqliteSaver.open(path);
    const marks = new Map<number, string[]>();
    for (const [place, { thread, kind, steps }] of acts.entries()) {
      const present = marks.get(thread) ?? [];
      if (kind === "write") {
        marks.set(thread, [...present, `MARKER-${thread}-${place}-`]);
        await converse(saver, `${thread}`, `MARKER-${thread}-${place}-`, steps);
      } else if (kind === "prune") await saver.prune({ keepLatest: 1, threadId: `${thread}` });
      else {
        await saver.deleteThread(`${thread}`);
        await saver.prune({ erase: true });
        marks.delete(thread);
        expect(present.map((mark) => found(path, mark))).toEqual(present.map(() => 0));
      }
    }
  });
  await holds(property, 30);
});
