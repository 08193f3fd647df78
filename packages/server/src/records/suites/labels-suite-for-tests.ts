/** Titles, searches by text, the archive and the trash. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { claimed, newThread, started } from "./facts-for-tests.ts";
import type { RecordsSite } from "./records-suite-for-tests.ts";

const PAGE = { limit: 10, offset: 0 };
const human = (content: unknown) => ({ type: "human", content });

export function labelsSuite({ records, edit }: RecordsSite): void {
  const noted = async (owner: string, messages: unknown[]) => {
    const threadId = await newThread(records(), owner);
    const head = await records().threads.head(owner, threadId);
    if (!head) throw new Error("no thread");
    await records().threads.note(head, { status: "idle", values: { messages }, interrupts: {} });
    return threadId;
  };
  const idsOf = async (owner: string, query: object) => {
    const found = await records().threads.search(owner, { ...PAGE, ...query });
    expect(await records().threads.count(owner, query)).toBe(found.length);
    return found.map(({ thread_id }) => thread_id).reverse();
  };

  describe("titles", () => {
    test("are the first line of the first message, until a client gives another", async () => {
      const owner = randomUUID();
      const { threads } = records();
      const id = await noted(owner, [human("\n  Bake bread\nand cake"), { type: "ai", content: "yes" }]);
      expect((await threads.head(owner, id))?.title).toBe("Bake bread");
      await threads.note((await threads.head(owner, id)) as never, {
        status: "idle",
        values: { messages: [human("summary")] },
        interrupts: {},
      });
      expect((await threads.head(owner, id))?.title).toBe("Bake bread");
      await threads.patch(owner, id, { title: "Sunday" });
      expect((await threads.get(owner, id))?.title).toBe("Sunday");
      await threads.patch(owner, id, { title: null });
      expect((await threads.get(owner, id))?.title).toBe("Bake bread");
    });

    test("of a thread whose first run has not ended come from its input", async () => {
      const owner = randomUUID();
      const id = await newThread(records(), owner);
      const input = { messages: [{ role: "user", content: [{ type: "text", text: "Plan a trip" }] }] };
      await started(records(), owner, id, { request: { assistant_id: "a", input } } as never);
      expect((await records().threads.head(owner, id))?.title).toBe("Plan a trip");
    });
  });

  test("a search finds all of its words in titles and messages, whatever their case; signs of patterns are letters", async () => {
    const owner = randomUUID();
    const bread = await noted(owner, [
      human("Bake BREAD"),
      { role: "assistant", content: "With Äpfel, 100%" },
    ]);
    const cake = await noted(owner, [human("bake cake_a")]);
    await records().threads.patch(owner, cake, { title: "Zucker" });
    expect(await idsOf(owner, { text: "bake" })).toEqual([bread, cake]);
    expect(await idsOf(owner, { text: "bread BAKE" })).toEqual([bread]);
    expect(await idsOf(owner, { text: "äpfel" })).toEqual([bread]);
    expect(await idsOf(owner, { text: "zucker cake" })).toEqual([cake]);
    expect(await idsOf(owner, { text: "100%" })).toEqual([bread]);
    expect(await idsOf(owner, { text: "%" })).toEqual([bread]);
    expect(await idsOf(owner, { text: "_" })).toEqual([cake]);
    expect(await idsOf(owner, { text: "\\ \u0000" })).toEqual([]);
    expect(await idsOf(owner, { text: "' OR 1=1 --" })).toEqual([]);
    expect(await idsOf(randomUUID(), { text: "bake" })).toEqual([]);
  });

  test("archived threads are found by asking for them, or for all", async () => {
    const owner = randomUUID();
    const [kept, away] = [await noted(owner, [human("a")]), await noted(owner, [human("b")])];
    await records().threads.patch(owner, away, { archived: true });
    expect(await idsOf(owner, { archived: true })).toEqual([away]);
    expect(await idsOf(owner, { archived: false })).toEqual([kept]);
    expect(await idsOf(owner, {})).toEqual([kept, away]);
    await records().threads.patch(owner, away, { archived: false });
    expect(await idsOf(owner, { archived: false })).toEqual([kept, away]);
  });

  test("a thread in the trash is listed there alone, and comes back with the expiry it had", async () => {
    const owner = randomUUID();
    const { threads } = records();
    const id = await noted(owner, [human("a")]);
    const expiresAt = Date.now() + 3_600_000;
    await threads.patch(owner, id, { expiresAt });
    const until = Date.now() + 86_400_000;
    for (const _ of [1, 2]) await threads.patch(owner, id, { trashedUntil: until });
    expect(await idsOf(owner, {})).toEqual([]);
    expect(await idsOf(owner, { trashed: true })).toEqual([id]);
    const [trashed] = await threads.search(owner, { ...PAGE, trashed: true });
    expect(trashed?.removed_at).toBe(new Date(until).toISOString());
    for (const _ of [1, 2]) await threads.patch(owner, id, { trashedUntil: null });
    expect(await idsOf(owner, {})).toEqual([id]);
    await edit(`UPDATE dw_srv_threads SET expires_at = expires_at - 86400000 WHERE thread_id = '${id}'`);
    expect((await threads.expired(1_000)).map(({ thread_id }) => thread_id)).toContain(id);
  });

  test("a run that ends leaves its words", async () => {
    const owner = randomUUID();
    const id = await newThread(records(), owner);
    await started(records(), owner, id);
    const claim = await claimed(records(), id);
    const values = { messages: [human("from a run")] };
    await records().runs.finish(claim, { status: "success", threadStatus: "idle", values }, []);
    expect(await idsOf(owner, { text: "from run" })).toEqual([id]);
  });
}
