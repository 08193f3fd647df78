import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { type Scenario, say } from "./talk-for-tests.ts";

export const storeScenarios: readonly Scenario[] = [
  {
    name: "the store",
    run: async (talk) => {
      const top = randomUUID();
      await talk.call("store.putItem", [top, "a"], "k1", { text: "one", rank: 1 });
      await talk.call("store.putItem (another)", [top, "b"], "k2", { text: "two", rank: 2 });
      const item = await talk.call("store.getItem", [top, "a"], "k1");
      talk.here(() => expect(item).toMatchObject({ key: "k1", value: { text: "one" } }));
      await talk.call("store.getItem (unknown)", [top, "a"], "none");
      const found = await talk.call("store.searchItems", [top], { filter: { rank: 2 } });
      talk.here(() => expect(found.items).toMatchObject([{ key: "k2" }]));
      const spaces = await talk.call("store.listNamespaces", { prefix: [top] });
      talk.here(() => expect(spaces.namespaces).toHaveLength(2));
      await talk.call("store.deleteItem", [top, "a"], "k1");
      const gone = await talk.call("store.getItem (deleted)", [top, "a"], "k1");
      talk.here(() => expect(gone).toBeNull());
    },
  },
];

export const cronScenarios: readonly Scenario[] = [
  {
    name: "crons",
    run: async (talk) => {
      const threadId = randomUUID();
      await talk.call("threads.create (for crons)", { threadId });
      const cron = await talk.call("crons.create", "echo", { schedule: "0 3 * * *", input: say("hi") });
      talk.here(() => {
        expect(cron).toMatchObject({ schedule: "0 3 * * *", enabled: true, thread_id: null });
        expect(new Date(cron.next_run_date).getUTCHours()).toBe(3);
      });
      const onThread = await talk.call("crons.createForThread", threadId, "echo", {
        schedule: "*/5 * * * *",
        timezone: "Europe/Berlin",
        input: say("hi"),
      });
      talk.here(() => expect(onThread.thread_id).toBe(threadId));
      const count = await talk.call("crons.count");
      talk.here(() => expect(count).toBe(2));
      const found = await talk.call("crons.search", { threadId });
      talk.here(() => expect(found).toHaveLength(1));
      const changed = await talk.call("crons.update", cron.cron_id, {
        schedule: "0 4 * * *",
        enabled: false,
      });
      talk.here(() =>
        expect(changed).toMatchObject({ schedule: "0 4 * * *", enabled: false, next_run_date: null }),
      );
      await talk.call("crons.create (no schedule)", "echo", { schedule: "often", input: {} });
      await talk.call("crons.delete", cron.cron_id);
      await talk.call("crons.delete (of a thread)", onThread.cron_id);
    },
  },
];
