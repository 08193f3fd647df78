import { expect, test } from "vitest";
import { contentHash, KIND } from "../content/handle.ts";
import { SharedMemorySaver } from "../saver/shared-memory-saver.ts";
import { checkpointOf, EMPTY, metadataOf } from "../saver/states-for-tests.ts";
import { openThreads } from "./open-threads.ts";

const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };

/** A thread file whose state holds the last of so many objects, each of which is twice the one before it. */
async function doubled(levels: number, kind: number, refs: (last: number) => number[], text: string) {
  const saver = new SharedMemorySaver();
  const threads = openThreads(saver);
  const notes = "a note ".repeat(300);
  await saver.put(config, checkpointOf({ ...EMPTY, notes }), metadataOf());
  const lines: any[] = [];
  for await (const line of threads.export("t")) lines.push(JSON.parse(line));
  const row = lines.findIndex(({ type }) => type === "checkpoint");
  const objects = lines.slice(1, row);
  for (let i = 0; i < levels; i += 1) {
    const below = refs(objects.length - 1);
    const hash = contentHash(
      kind,
      below.map((ref) => objects[ref]),
      text,
    );
    objects.push({ type: "object", kind, refs: below, hash, text });
  }
  lines[row].refs[2] = objects.length - 1;
  lines.at(-1).objects = objects.length;
  return { threads, file: [lines[0], ...objects, ...lines.slice(row)].map((line) => JSON.stringify(line)) };
}

test.each([
  ["values", KIND.value, (last: number) => [last], '[{"$":0},{"$":0}]'],
  ["values in disguise", KIND.value, (last: number) => [last], '[{"\\u0024":0},{ "$" : 0.0 }]'],
  ["lists", KIND.lists, (last: number) => [last, last], ""],
])("%s that hold one another many times over are not imported", async (_, kind, refs, text) => {
  const { threads, file } = await doubled(60, kind, refs, text);
  await expect(threads.import(file, { as: "endless" })).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("too often"),
  });
  expect((await threads.list()).threads).toHaveLength(1);
});

test("content that is used a few times is", async () => {
  const { threads, file } = await doubled(6, KIND.value, (last) => [last], '[{"$":0},{"$":0}]');
  expect(await threads.import(file, { as: "fine" })).toBe("fine");
});
