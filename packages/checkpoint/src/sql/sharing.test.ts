/** Random histories of threads, compared with what they ought to be; no object too few, none too many. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { SqliteSql } from "../sqlite/sqlite-sql.ts";
import { putStep, readStep, type Tree, tree, uuid } from "../storage/content-for-tests.ts";
import { expectHeldToBeNeeded } from "./held-for-tests.ts";
import { SqlStorage } from "./sql-storage.ts";

const THREADS = ["a", "b", "c"];
const name = fc.constantFrom(...THREADS);
const body = fc.constantFrom("one", "two", "three");
const leaf = body.map((text) => tree(text));
const branch = fc.tuple(body, fc.array(leaf, { maxLength: 2 })).map(([text, below]) => tree(text, ...below));
const trunk = fc.tuple(body, fc.array(branch, { maxLength: 2 })).map(([text, below]) => tree(text, ...below));
const content = fc.array(trunk, { maxLength: 3 });

type Action =
  | { readonly act: "put"; readonly thread: string; readonly content: readonly Tree[] }
  | { readonly act: "delete"; readonly thread: string }
  | { readonly act: "copy"; readonly thread: string; readonly to: string }
  | { readonly act: "prune"; readonly thread: string; readonly keepLatest: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constant("put" as const), thread: name, content }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("delete" as const), thread: name }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("copy" as const), thread: name, to: name }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("prune" as const),
      thread: name,
      keepLatest: fc.integer({ min: 1, max: 3 }),
    }),
  },
);

/** Thread, then checkpoint, then what is in it. */
type Model = Map<string, Map<string, readonly Tree[]>>;

async function perform(storage: SqlStorage, model: Model, step: Action, n: number): Promise<void> {
  const present = model.get(step.thread);
  if (step.act === "put") {
    await putStep(storage, { threadId: step.thread, id: uuid(n), content: step.content });
    model.set(step.thread, new Map([...(present ?? []), [uuid(n), step.content]]));
  } else if (step.act === "delete") {
    await storage.deleteThread(step.thread);
    model.delete(step.thread);
  } else if (step.act === "copy" && present && !model.has(step.to)) {
    await storage.copyThread(step.thread, step.to, n);
    model.set(step.to, new Map(present));
  } else if (step.act === "prune") {
    await storage.prune({ threadId: step.thread, keepLatest: step.keepLatest, now: n });
    if (present) model.set(step.thread, new Map([...present].slice(-step.keepLatest)));
  }
}

it("every thread reads what was put, and nothing is kept that no thread leads to", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 30 }), async (actions) => {
      const sql = await SqliteSql.open(":memory:");
      const storage = new SqlStorage(sql);
      await storage.start();
      const model: Model = new Map();
      for (const [n, step] of actions.entries()) await perform(storage, model, step, n);
      for (const thread of THREADS) {
        for (const [id, expected] of model.get(thread) ?? []) {
          expect((await readStep(storage, thread, id))?.content).toEqual(expected);
        }
        expect((await storage.thread(thread))?.checkpointCount).toBe(model.get(thread)?.size);
      }
      await expectHeldToBeNeeded(sql);
      await storage.close();
    }),
    { numRuns: 150 },
  );
});
