/** Tickets: codes, sessions, links. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Ticket } from "../records.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

const ticket = (given: Partial<Ticket> = {}): Ticket => ({
  kind: "code",
  hash: randomUUID(),
  owner: "a",
  data: "{}",
  ...given,
});

export function ticketsSuite({ records, again, edit }: RecordsSite): void {
  describe("tickets", () => {
    test("are found by kind and hash, until they are removed", async () => {
      const { tickets } = records();
      const one = ticket({ data: '{"x":1}' });
      await tickets.put(one, 60_000);
      expect(await tickets.get("code", one.hash)).toEqual(one);
      expect(await tickets.get("session", one.hash)).toBeUndefined();
      await tickets.remove("session", one.hash);
      expect(await tickets.get("code", one.hash)).toEqual(one);
      await tickets.remove("code", one.hash);
      expect(await tickets.get("code", one.hash)).toBeUndefined();
    });

    test("are taken by one of many, across processes", async () => {
      const one = ticket();
      await records().tickets.put(one, 60_000);
      const other = await again();
      const taken = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 ? records() : other).tickets.take("code", one.hash),
        ),
      );
      await other.close();
      expect(taken.filter(Boolean)).toEqual([one]);
    });

    test("that have expired are not there, and a sweep leaves the others", async () => {
      const { tickets } = records();
      const [old, young] = [ticket(), ticket()];
      await tickets.put(old, 60_000);
      await tickets.put(young, 60_000);
      await edit(`UPDATE dw_srv_tickets SET expires_at = 1 WHERE hash = '${old.hash}'`);
      expect(await tickets.get("code", old.hash)).toBeUndefined();
      expect(await tickets.take("code", old.hash)).toBeUndefined();
      await tickets.sweep();
      expect(await tickets.get("code", young.hash)).toEqual(young);
      await edit(`UPDATE dw_srv_tickets SET expires_at = 9999999999999 WHERE hash = '${old.hash}'`);
      expect(await tickets.get("code", old.hash)).toBeUndefined();
    });
  });
}
