import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { expect } from "vitest";
import { lastText, type Scenario, say, type Talk, UNKNOWN } from "./talk-for-tests.ts";

const MODES = {
  values: ["values"],
  updates: ["updates"],
  messages: ["messages/complete", "messages/metadata", "messages/partial"],
  "messages-tuple": ["messages"],
  tasks: ["tasks"],
  checkpoints: ["checkpoints"],
  debug: ["debug"],
  custom: [],
} as const;

async function newThread(talk: Talk, note: string): Promise<string> {
  const threadId = randomUUID();
  await talk.call(`threads.create (${note})`, { threadId, graphId: "echo" });
  return threadId;
}

const untilRunning = (talk: Talk, threadId: string, runId: string) =>
  talk.until(
    async (client) => (await client.runs.get(threadId, runId)).status,
    (status) => status === "running",
  );

const untilAtRest = (talk: Talk, threadId: string) =>
  talk.until(
    async (client) => (await client.threads.get(threadId)).status ?? "not told",
    (status) => status !== "busy",
  );

const streams: readonly Scenario[] = Object.entries(MODES).map(([mode, names]) => ({
  name: `a stream in the mode ${mode}`,
  run: async (talk) => {
    const threadId = await newThread(talk, mode);
    const events: { id: string; event: string }[] = await talk.call(
      `runs.stream (${mode})`,
      threadId,
      "echo",
      {
        input: say("hi"),
        streamMode: mode,
      },
    );
    talk.here(() => {
      expect(events[0]?.event).toBe("metadata");
      expect(events.at(-1)?.event).toBe("end");
      expect([...new Set(events.slice(1, -1).map(({ event }) => event))].sort()).toEqual(names);
      expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, index) => index + 1));
    });
  },
}));

export const runScenarios: readonly Scenario[] = [
  ...streams,
  {
    name: "a message is an instance of LangChain's class",
    run: async (talk) => {
      const threadId = await newThread(talk, "instance");
      const input = { messages: [new HumanMessage("hi")] };
      const values = await talk.call("runs.wait (instance)", threadId, "echo", { input });
      talk.here(() => expect(lastText(values)).toBe("echo: hi"));
    },
  },
  {
    name: "a run is begun, looked at, joined and deleted",
    run: async (talk) => {
      const threadId = await newThread(talk, "to run on");
      const run = await talk.call("runs.create", threadId, "echo", { input: say("hi"), metadata: { a: 1 } });
      talk.here(() => expect(run).toMatchObject({ thread_id: threadId, metadata: { a: 1 } }));
      const values = await talk.call("runs.join", threadId, run.run_id);
      talk.here(() => expect(lastText(values)).toBe("echo: hi"));
      const ended = await talk.call("runs.get", threadId, run.run_id);
      talk.here(() => expect(ended.status).toBe("success"));
      const list = await talk.call("runs.list", threadId, { status: "success" });
      talk.here(() => expect(list).toHaveLength(1));
      await talk.call("runs.list (some fields)", threadId, { select: ["run_id"] });
      await talk.call("runs.delete", threadId, run.run_id);
      await talk.call("runs.get (deleted)", threadId, run.run_id);
    },
  },
  {
    name: "runs without a thread",
    run: async (talk) => {
      const events = await talk.call("runs.stream (no thread)", null, "echo", { input: say("hi") });
      talk.here(() => expect(lastText(events.at(-2).data)).toBe("echo: hi"));
      const values = await talk.call("runs.wait (no thread)", null, "echo", { input: say("hi") });
      talk.here(() => expect(lastText(values)).toBe("echo: hi"));
      await talk.call("runs.create (no thread)", null, "echo", { input: say("hi") });
      const batch = await talk.call("runs.createBatch", [
        { assistantId: "echo", input: say("a") },
        { assistantId: "echo", input: say("b") },
      ]);
      talk.here(() => expect(batch).toHaveLength(2));
    },
  },
  {
    name: "a stream is joined, and joined behind an event",
    run: async (talk) => {
      const threadId = await newThread(talk, "to join");
      const { run_id: runId } = await talk.call("runs.create (to join)", threadId, "echo", {
        input: say("wait 1000"),
        streamMode: ["values", "messages-tuple"],
        streamResumable: true,
      });
      const whole = await talk.call("runs.joinStream", threadId, runId, { lastEventId: "-1" });
      const lastEventId = whole[2].id;
      const rest = await talk.call("runs.joinStream (behind an event)", threadId, runId, { lastEventId });
      talk.here(() => expect(rest).toEqual(whole.slice(3)));
      await talk.call("runs.joinStream (one mode)", threadId, runId, {
        lastEventId: "-1",
        streamMode: "values",
      });
    },
  },
  {
    name: "runs are cancelled",
    run: async (talk) => {
      const threadId = await newThread(talk, "to cancel on");
      const start = async (note: string): Promise<string> => {
        const { run_id } = await talk.call(`runs.create (${note})`, threadId, "echo", {
          input: say("wait 60000"),
        });
        await untilRunning(talk, threadId, run_id);
        return run_id;
      };
      const first = await start("to cancel");
      await talk.call("runs.cancel", threadId, first, true);
      const cancelled = await talk.call("runs.get (cancelled)", threadId, first);
      talk.here(() => expect(cancelled.status).toBe("interrupted"));
      const second = await start("to roll back");
      await talk.call("runs.cancel (rollback)", threadId, second, true, "rollback");
      const third = await start("to cancel with others");
      await talk.call("runs.cancelMany", { threadId, runIds: [third] });
    },
  },
  {
    name: "two runs on one thread",
    run: async (talk) => {
      const threadId = await newThread(talk, "for two runs");
      const first = await talk.call("runs.create (at work)", threadId, "echo", { input: say("wait 60000") });
      await untilRunning(talk, threadId, first.run_id);
      const busy = await talk.call("threads.get (busy)", threadId);
      talk.here(() => expect(busy.status).toBe("busy"));
      await talk.call("threads.updateState (busy)", threadId, { values: say("x") });
      await talk.call("runs.create (reject)", threadId, "echo", {
        input: say("no"),
        multitaskStrategy: "reject",
      });
      const queued = await talk.call("runs.create (enqueue)", threadId, "echo", {
        input: say("later"),
        multitaskStrategy: "enqueue",
      });
      talk.here(() => expect(queued.status).toBe("pending"));
      await talk.call("runs.create (interrupt)", threadId, "echo", {
        input: say("now"),
        multitaskStrategy: "interrupt",
      });
      await talk.until(
        async (client) => lastText((await client.threads.getState(threadId)).values) ?? "nothing yet",
        (text) => text === "echo: now",
      );
      const ended = await talk.call("runs.get (interrupted)", threadId, first.run_id);
      talk.here(() => expect(ended.status).toBe("interrupted"));
    },
  },
  {
    name: "two runs on one thread, and no strategy",
    run: async (talk) => {
      const threadId = await newThread(talk, "for no strategy");
      const first = await talk.call("runs.create (still at work)", threadId, "echo", {
        input: say("wait 60000"),
      });
      await untilRunning(talk, threadId, first.run_id);
      await talk.call("runs.create (no strategy)", threadId, "echo", { input: say("later") });
      await talk.call("threads.delete (busy)", threadId);
    },
  },
  {
    name: "an interrupt is answered",
    run: async (talk) => {
      const threadId = await newThread(talk, "to be asked on");
      const asked = await talk.call("runs.stream (asks)", threadId, "echo", { input: say("ask") });
      talk.here(() => expect(asked.at(-2).data.__interrupt__).toHaveLength(1));
      await untilAtRest(talk, threadId);
      const thread = await talk.call("threads.get (interrupted)", threadId);
      talk.here(() => expect(Object.values(thread.interrupts).flat()).toHaveLength(1));
      await talk.call("threads.getState (interrupted)", threadId);
      const command = { resume: { decisions: [{ type: "approve" }] } };
      const done = await talk.call("runs.stream (answers)", threadId, "echo", { command });
      talk.here(() => expect(lastText(done.at(-2).data)).toBe("done: asked"));
      await talk.call("runs.stream (answers again)", threadId, "echo", { command });
    },
  },
  {
    name: "a graph inside the graph",
    run: async (talk) => {
      const threadId = await newThread(talk, "of a child");
      await talk.call("runs.stream (subgraphs)", threadId, "echo", {
        input: say("child hi"),
        streamMode: ["updates"],
        streamSubgraphs: true,
      });
      await talk.call("runs.stream (without subgraphs)", threadId, "echo", {
        input: say("child hi"),
        streamMode: ["updates"],
      });
    },
  },
  {
    name: "a run that fails",
    run: async (talk) => {
      const threadId = await newThread(talk, "to fail on");
      await talk.call("runs.stream (fails)", threadId, "echo", { input: say("fail") });
      await untilAtRest(talk, threadId);
      await talk.call("threads.get (failed)", threadId);
      await talk.call("runs.wait (fails)", threadId, "echo", { input: say("fail"), raiseError: false });
    },
  },
  {
    name: "runs that cannot be",
    run: async (talk) => {
      await talk.call("runs.create (unknown thread)", UNKNOWN, "echo", { input: say("hi") });
      await talk.call("runs.create (unknown agent)", null, "nothing", { input: say("hi") });
      const made = await talk.call("runs.wait (thread made for it)", randomUUID(), "echo", {
        input: say("hi"),
        ifNotExists: "create",
      });
      talk.here(() => expect(lastText(made)).toBe("echo: hi"));
      const threadId = await newThread(talk, "without runs");
      await talk.call("runs.get (unknown)", threadId, UNKNOWN);
      await talk.call("runs.cancel (unknown)", threadId, UNKNOWN);
    },
  },
];
