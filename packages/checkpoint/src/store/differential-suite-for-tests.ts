/** The same operations on LangGraph's store in memory, where that is right, have the same results. */
import { InMemoryStore, type Item } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import type { DurableStore } from "./durable-store.ts";
import type { StorePlace } from "./store-suite-for-tests.ts";

type Step =
  | { readonly put: string[]; readonly key: string; readonly value: Record<string, unknown> | null }
  | { readonly get: string[]; readonly key: string }
  | {
      readonly search: string[];
      readonly filter: Record<string, unknown>;
      readonly limit: number;
      readonly offset: number;
    }
  | { readonly prefix?: string[]; readonly suffix?: string[]; readonly maxDepth?: number };

const part = fc.constantFrom("a", "b", "ab", "user1", "user10");
const namespace = fc.array(part, { minLength: 1, maxLength: 3 });
const key = fc.constantFrom("", "k", "k2", "K");
const scalar = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom("", "1", "x", "y", true, false, null),
);
const value = fc.record({ n: scalar, s: scalar }, { requiredKeys: [] });
const condition = fc.oneof(
  scalar,
  fc.record(
    {
      $eq: scalar,
      $ne: scalar,
      $gt: fc.integer({ min: -3, max: 3 }),
      $gte: fc.integer({ min: -3, max: 3 }),
      $lt: fc.integer({ min: -3, max: 3 }),
      $lte: fc.integer({ min: -3, max: 3 }),
      $in: fc.array(scalar, { maxLength: 3 }),
      $nin: fc.array(scalar, { maxLength: 3 }),
    },
    { requiredKeys: [] },
  ),
);
const filter = fc.record({ n: condition, s: condition, missing: condition }, { requiredKeys: [] });
const pattern = fc.array(fc.oneof(part, fc.constant("*")), { maxLength: 3 });
const count = fc.integer({ min: 0, max: 6 });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: namespace, key, value: fc.option(value, { freq: 4 }) }) },
  fc.record({ get: namespace, key }),
  fc.record({ search: fc.array(part, { maxLength: 2 }), filter, limit: count, offset: count }),
  fc.record(
    { prefix: pattern, suffix: pattern, maxDepth: fc.integer({ min: 1, max: 3 }) },
    { requiredKeys: [] },
  ),
);

export function differentialSuite(store: () => DurableStore, place: StorePlace): void {
  test("any sequence of operations gives what LangGraph's store gives", async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await place.clear();
      const model = new InMemoryStore();
      for (const one of steps) {
        expect(await ours(store(), one), JSON.stringify(one)).toEqual(await theirs(model, one));
      }
    });
    await fc.assert(property, { numRuns: sized(12, 40) });
  });
}

async function ours(store: DurableStore, one: Step): Promise<unknown> {
  if ("put" in one) return store.put(one.put, one.key, one.value as Record<string, unknown>);
  if ("get" in one) return shown(await store.get(one.get, one.key));
  if ("search" in one) return (await store.search(one.search, one)).map(shown);
  return store.listNamespaces(one);
}

async function theirs(model: InMemoryStore, one: Step): Promise<unknown> {
  if ("put" in one) return model.put(one.put, one.key, one.value as Record<string, unknown>);
  if ("get" in one) return shown(await model.get(one.get, one.key));
  if ("search" in one) return searchIn(model, one);
  return listIn(model, one);
}

/** Their prefix matches parts of names, and their order is that in which namespaces were first used. */
async function searchIn(model: InMemoryStore, one: Extract<Step, { search: unknown }>): Promise<unknown> {
  const all = await model.search([], { filter: one.filter, limit: 1_000 });
  const below = all.filter(({ namespace: found }) =>
    one.search.every((name, index) => found[index] === name),
  );
  return inOrder(below)
    .slice(one.offset, one.offset + one.limit)
    .map(shown);
}

/** They go on listing namespaces whose items were all deleted, and sort by the rules of a language. */
async function listIn(model: InMemoryStore, one: { maxDepth?: number }): Promise<string[][]> {
  const fresh = new InMemoryStore();
  for (const item of await model.search([], { limit: 1_000 }))
    await fresh.put(item.namespace, item.key, item.value);
  const listed = await fresh.listNamespaces(one);
  return inOrder(listed.map((found) => ({ namespace: found }))).map((found) => found.namespace);
}

function inOrder<T extends { namespace: string[] }>(items: readonly T[]): T[] {
  const place = (item: T) => item.namespace.map((name) => `${name}.`).join("");
  return [...items].sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0));
}

function shown(item: Item | null): unknown {
  return item && { namespace: item.namespace, key: item.key, value: item.value };
}
