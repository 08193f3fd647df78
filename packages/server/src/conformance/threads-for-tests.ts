import { randomUUID } from "node:crypto";
import type { Client } from "@langchain/langgraph-sdk";
import { expect } from "vitest";
import { lastText, type Scenario, say, UNKNOWN } from "./talk-for-tests.ts";

export const threadScenarios: readonly Scenario[] = [
  {
    name: "a thread is made, found and deleted",
    run: async (talk) => {
      const threadId = randomUUID();
      const metadata = { kind: threadId };
      const made = await talk.call("threads.create", { threadId, metadata });
      talk.here(() => expect(made).toMatchObject({ thread_id: threadId, status: "idle", metadata }));
      await talk.call("threads.create (there already)", { threadId });
      await talk.call("threads.create (there already, do nothing)", { threadId, ifExists: "do_nothing" });
      const changed = await talk.call("threads.update", threadId, { metadata: { more: 1 } });
      talk.here(() => expect(changed.metadata).toMatchObject({ ...metadata, more: 1 }));
      await talk.call("threads.update (minimal)", threadId, { metadata: { more: 2 }, returnMinimal: true });
      await talk.call("threads.get", threadId);
      await talk.call("threads.patchState", threadId, { seen: true });
      const patched = await talk.call("threads.get (patched)", threadId);
      talk.here(() => expect(patched.metadata).toMatchObject({ more: 2, seen: true }));
      const found = await talk.call("threads.search", { metadata });
      talk.here(() => expect(found).toMatchObject([{ thread_id: threadId }]));
      await talk.call("threads.search (some fields)", { metadata, select: ["thread_id"] });
      await talk.call("threads.search (by id)", { ids: [threadId], metadata });
      const count = await talk.call("threads.count", { metadata });
      talk.here(() => expect(count).toBe(1));
      await talk.call("threads.delete", threadId);
      await talk.call("threads.get (deleted)", threadId);
      await talk.call("threads.delete (deleted)", threadId);
    },
  },
  {
    name: "the state of a thread and its history",
    run: async (talk) => {
      const threadId = randomUUID();
      await talk.call("threads.create (of an agent)", { threadId, graphId: "echo" });
      await talk.call("threads.getState (empty)", threadId);
      await talk.call("runs.stream (first)", threadId, "echo", { input: say("one") });
      await talk.call("runs.stream (second)", threadId, "echo", { input: say("two") });
      const state = await talk.call("threads.getState", threadId);
      talk.here(() => expect(lastText(state.values)).toBe("echo: two"));
      const history = await talk.call("threads.getHistory", threadId, { limit: 100 });
      talk.here(() => expect(history[0].checkpoint.checkpoint_id).toBe(state.checkpoint.checkpoint_id));
      const older = history.find(({ values }: { values: unknown }) => lastText(values) === "echo: one");
      const byId = await talk.call("threads.getState (by id)", threadId, older.checkpoint.checkpoint_id);
      talk.here(() => expect(lastText(byId.values)).toBe("echo: one"));
      const place = older.checkpoint;
      await talk.call("threads.getState (by checkpoint)", threadId, place, { subgraphs: true });
      const before = await talk.call("threads.getHistory (before)", threadId, {
        before: { configurable: place },
      });
      talk.here(() => expect(before.length).toBeLessThan(history.length));
      await talk.call("threads.getHistory (limited)", threadId, { limit: 1 });
      const fork = await talk.call("runs.stream (fork)", threadId, "echo", {
        input: say("fork"),
        checkpointId: place.checkpoint_id,
      });
      talk.here(() => expect(fork.at(-2).data.messages).toHaveLength(4));
      await talk.call("threads.updateState", threadId, { values: say("by hand") });
      const updated = await talk.call("threads.getState (updated)", threadId);
      talk.here(() => expect(lastText(updated.values)).toBe("by hand"));
      await talk.call("threads.get (with values)", threadId);
    },
  },
  {
    name: "threads are copied and pruned",
    run: async (talk) => {
      const threadId = randomUUID();
      await talk.call("threads.create (to copy)", { threadId, graphId: "echo" });
      await talk.call("runs.stream (to copy)", threadId, "echo", { input: say("one") });
      const copy = await talk.call("threads.copy", threadId);
      talk.here(() => expect(copy.thread_id).not.toBe(threadId));
      const state = await talk.call("threads.getState (copy)", copy.thread_id);
      talk.here(() => expect(lastText(state.values)).toBe("echo: one"));
      const latest = await talk.call("threads.prune (keep the latest)", [copy.thread_id], {
        strategy: "keep_latest",
      });
      talk.here(() => expect(latest).toEqual({ pruned_count: 1 }));
      const left = await talk.call("threads.getHistory (pruned)", copy.thread_id);
      talk.here(() => expect(left).toHaveLength(1));
      const pruned = await talk.call("threads.prune", [copy.thread_id, UNKNOWN]);
      talk.here(() => expect(pruned).toEqual({ pruned_count: 1 }));
      await talk.call("threads.get (pruned)", copy.thread_id);
    },
  },
  {
    name: "threads are searched by what runs left",
    run: async (talk) => {
      const threadId = randomUUID();
      const metadata = { kind: threadId };
      await talk.call("threads.create (to search)", { threadId, metadata });
      await talk.call("runs.stream (to search)", threadId, "echo", { input: say("hello") });
      const statusOf = async (client: Client) => (await client.threads.get(threadId)).status;
      await talk.until(statusOf, (status) => status === "idle");
      const found = await talk.call("threads.search (extract)", {
        metadata,
        status: "idle",
        select: ["thread_id", "status"],
        extract: { last: "values.messages[-1].content", none: "values.nothing.here" },
      });
      talk.here(() => expect(found[0].extracted).toEqual({ last: "echo: hello", none: null }));
    },
  },
  {
    name: "the stream of a thread has run after run",
    run: async (talk) => {
      const threadId = randomUUID();
      await talk.call("threads.create (to follow)", { threadId, graphId: "echo" });
      const following = await talk.follow("threads.joinStream", 2, threadId);
      await talk.call("runs.wait (followed)", threadId, "echo", { input: say("one") });
      await talk.call("runs.wait (followed again)", threadId, "echo", { input: say("two") });
      const events = await following.events;
      const names = ["metadata", "values", "values", "end"];
      talk.here(() => expect(events?.map(({ event }) => event)).toEqual([...names, ...names]));
    },
  },
  {
    name: "a thread that is not there",
    run: async (talk) => {
      await talk.call("threads.get (unknown)", UNKNOWN);
      await talk.call("threads.getState (unknown)", UNKNOWN);
      await talk.call("threads.getHistory (unknown)", UNKNOWN);
      await talk.call("threads.updateState (unknown)", UNKNOWN, { values: say("x") });
      await talk.call("threads.copy (unknown)", UNKNOWN);
      await talk.call("runs.wait (unknown thread)", UNKNOWN, "echo", { input: say("x") });
    },
  },
];
