import { expect, test } from "vitest";
import { Conditions, countOf, pageOf } from "./conditions.ts";
import type { SqlSession } from "./database.ts";

/** Rows that are looked at for 15 ms each, every second of which matches. */
function slow(count: number) {
  const rows = Array.from({ length: count }, (_, id) => ({ id }));
  const session = {
    all: async (_: string, params: readonly unknown[]) => {
      const [most, from] = params.slice(-2) as [number, number];
      return rows.slice(from, from + most);
    },
  } as unknown as SqlSession;
  const matches = (row: { readonly id?: unknown }) => {
    for (const until = performance.now() + 15; performance.now() < until; );
    return (row.id as number) % 2 === 0;
  };
  return { session, verify: { together: 20, matches } };
}

test("others have their turn while many rows are looked at", async () => {
  const { session, verify } = slow(30);
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const page = { limit: 5, offset: 2 };
  const listing = { columns: "id", from: "rows", bytes: "0", order: "id" };
  const found = await pageOf(session, listing, new Conditions(), page, verify);
  expect(found.map(({ id }) => id)).toEqual([4, 6, 8, 10, 12]);
  expect(await countOf(session, listing, new Conditions(), verify)).toBe(15);
  isOver = true;
  expect(turns).toBeGreaterThan(10);
});
