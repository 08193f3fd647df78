import { expect } from "vitest";
import { decodeHead, decodeRefs } from "../storage/refs.ts";
import type { Sql } from "./sql.ts";

/** Every object a thread's rows lead to is held by the thread, and every held object is led to. */
export async function expectHeldToBeNeeded(sql: Sql): Promise<void> {
  await sql.read(async (session) => {
    const objects = await session.all("SELECT id, head, owner FROM dw_objects");
    const heads = new Map(objects.map((row) => [row.id as number, decodeHead(row.head as Uint8Array).refs]));
    const shares = await session.all("SELECT thread, object FROM dw_shares");
    const held = [
      ...objects.map(({ owner, id }) => `${owner} ${id}`),
      ...shares.map((s) => `${s.thread} ${s.object}`),
    ];
    const rows = await session.all(
      "SELECT s.thread, c.refs FROM dw_checkpoints c JOIN dw_spaces s ON s.id = c.space",
    );
    const needed = new Set<string>();
    for (const { thread, refs } of rows) {
      const waiting = decodeRefs(refs as Uint8Array | null);
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        needed.add(`${thread} ${id}`);
        waiting.push(...(heads.get(id) ?? []));
      }
    }
    expect(held.sort()).toEqual([...needed].sort());
  });
}
