/** An index of Postgres holds 2,704 bytes; what we let in must fit. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresSaver } from "../postgres/index.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { recordImage } from "../threads/images.ts";
import { checkpointOf, EMPTY, metadataOf } from "./states-for-tests.ts";

let database: TestDatabase;
let saver: PostgresSaver;

beforeAll(async () => {
  database = await testDatabase();
  saver = await PostgresSaver.open(database.url);
});

afterAll(async () => {
  await saver.close();
  await database.drop();
});

/** Text no database makes shorter. */
function letters(count: number): string {
  return Array.from({ length: count }, () => String.fromCharCode(0x4e00 + Math.random() * 20_000)).join("");
}

test("ids as long as they may be are stored, longer ones refused in words", async () => {
  const [thread_id, checkpoint_ns, id, task] = [letters(341), letters(341), letters(341), letters(341)];
  const config = { configurable: { thread_id, checkpoint_ns }, metadata: { cwd: letters(341) } };
  const stored = await saver.put(config, { ...checkpointOf(EMPTY), id }, metadataOf());
  await saver.putWrites(stored, [["a", 1]], task);
  expect((await saver.getTuple(config))?.pendingWrites).toEqual([[task, "a", 1]]);
  const longer = { configurable: { thread_id: letters(342), checkpoint_ns: "" } };
  await expect(saver.put(longer, checkpointOf(EMPTY), metadataOf())).rejects.toMatchObject({
    code: "INVALID_ID",
  });
});

test("a working directory that is too long to be looked for does not end the run", async () => {
  const config = {
    configurable: { thread_id: "t", checkpoint_ns: "" },
    metadata: { cwd: `/${letters(1_200)}` },
  };
  await saver.put(config, checkpointOf(EMPTY), metadataOf());
  expect((await saver.storage.thread("t"))?.cwd).toBeUndefined();
});

test("an image with a name no database keeps fails alone", async () => {
  const config = { configurable: { thread_id: "images", checkpoint_ns: "" } };
  const image = { checkpointId: "c", place: "/", path: "/a\0b", before: "x", after: undefined };
  const [stored, refused] = await Promise.allSettled([
    saver.put(config, checkpointOf(EMPTY), metadataOf()),
    recordImage(saver, "images", image),
  ]);
  expect(stored.status).toBe("fulfilled");
  expect(refused).toMatchObject({ status: "rejected", reason: { code: "INVALID_ID" } });
  await recordImage(saver, "images", { ...image, path: `/${letters(1_400)}` });
});
