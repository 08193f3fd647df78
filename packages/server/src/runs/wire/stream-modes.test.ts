/** Events of a run for readers, mode by mode. */

import { eventData, parseEventName, type StreamMode } from "@deepwright/protocol";
import { ToolMessage } from "@langchain/core/messages";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { callTool, say } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../records/records.ts";
import {
  agentOf,
  begin,
  eventsOf,
  namesOf,
  OWNER,
  openSite,
  simpleTool,
  userSays,
} from "../service-for-tests.ts";

const MODES: readonly StreamMode[] = [
  "values",
  "updates",
  "messages",
  "messages-tuple",
  "custom",
  "events",
  "debug",
  "tasks",
  "checkpoints",
  "tools",
];

function talking() {
  const note = simpleTool("note", (_, runtime) => {
    runtime.writer?.({ step: 1 });
    return "noted";
  });
  return agentOf(
    ({ messages }) =>
      ToolMessage.isInstance(messages.at(-1))
        ? say("That is noted, and here are more words.")
        : callTool("note"),
    { tools: [note] },
  ).agent;
}

/** Every event has the shape the protocol says. */
function check(events: readonly RunEvent[]): void {
  for (const { event, data } of events) {
    const { kind } = parseEventName(event);
    const schema = eventData[kind as keyof typeof eventData];
    expect(schema, `an event '${event}'`).toBeDefined();
    const parsed = schema.safeParse(JSON.parse(data));
    expect(parsed.error?.issues, `${event}: ${data.slice(0, 300)}`).toBeUndefined();
    expect(data).not.toMatch(/"__(?:proto__|pregel\w*|deepwright\w*)":/);
    // What happens inside is shown as it is.
    if (kind !== "events") expect(data).not.toContain('"_reminders":');
  }
}

describe("stream modes", () => {
  test("all at once, each in the shape of the protocol", async () => {
    const site = await openSite({ agent: talking() });
    const run = await begin(site, "t1", { input: userSays("hello"), stream_mode: [...MODES] });
    const events = await eventsOf(site, run.run_id);
    check(events);
    const kinds = new Set(namesOf(events));
    for (const kind of [
      "values",
      "updates",
      "messages",
      "messages/partial",
      "messages/complete",
      "custom",
      "events",
    ])
      expect(kinds).toContain(kind);
    for (const kind of ["debug", "tasks", "checkpoints", "messages/metadata", "tools"])
      expect(kinds).toContain(kind);
  });

  test("each alone brings its own events and no others", async () => {
    const site = await openSite({ agent: talking() });
    for (const mode of MODES) {
      const run = await begin(site, `t-${mode}`, { input: userSays("hello"), stream_mode: mode });
      const events = await eventsOf(site, run.run_id);
      check(events);
      const own = mode === "messages-tuple" ? "messages" : mode;
      const kinds = [...new Set(namesOf(events).slice(1, -1))];
      expect(kinds.length, mode).toBeGreaterThan(0);
      for (const kind of kinds)
        expect(kind === own || (mode === "messages" && kind.startsWith("messages/"))).toBe(true);
    }
  });

  test("messages grow piece by piece and are complete once", async () => {
    const site = await openSite({ agent: talking() });
    const run = await begin(site, "t1", { input: userSays("hello"), stream_mode: "messages" });
    const events = await eventsOf(site, run.run_id);
    const texts = events
      .filter(({ event }) => event === "messages/partial")
      .map(({ data }) => JSON.parse(data)[0].content as string)
      .filter((text) => text !== "");
    expect(texts.length).toBeGreaterThan(1);
    for (let i = 1; i < texts.length; i += 1) expect(texts[i]).toContain(texts[i - 1]);
    const complete = events
      .filter(({ event }) => event === "messages/complete")
      .flatMap(({ data }) => JSON.parse(data));
    expect(new Set(complete.map(({ id }) => id)).size).toBe(complete.length);
    expect(complete.at(-1)).toMatchObject({ type: "ai", content: "That is noted, and here are more words." });
    expect(complete.map(({ type }) => type)).toContain("tool");
  });

  test("of graphs inside, with their namespace, when they are wanted", async () => {
    const { agent } = agentOf(({ messages }) => {
      const first = messages.find((message) => message.getType() === "human") as any;
      if (first.text === "the task") return say("child says so");
      if (ToolMessage.isInstance(messages.at(-1))) return say("parent is done");
      return callTool("task", { description: "the task", subagent_type: "general-purpose" });
    }, {});
    const site = await openSite({ agent });
    const modes: StreamMode[] = ["values", "updates", "messages-tuple"];
    const open = await begin(site, "t1", {
      input: userSays("go"),
      stream_mode: modes,
      stream_subgraphs: true,
    });
    const events = await eventsOf(site, open.run_id);
    check(events);
    const inner = namesOf(events).filter((name) => name.includes("|"));
    for (const mode of ["values", "updates", "messages"])
      expect(
        inner.some((name) => new RegExp(`^${mode}\\|tools:[^|]+$`).test(name)),
        mode,
      ).toBe(true);
    const own = events
      .filter(({ event }) => event === "messages")
      .map(({ data }) => JSON.parse(data)[0])
      .filter(({ type }) => type === "AIMessageChunk")
      .map(({ content }) => content);
    expect(own.join("")).toContain("parent is done");
    expect(own.join("")).not.toContain("child says so");
    const closed = await begin(site, "t2", { input: userSays("go"), stream_mode: modes });
    expect(namesOf(await eventsOf(site, closed.run_id)).some((name) => name.includes("|"))).toBe(false);
  });

  test("a graph that is no agent of ours works the same", async () => {
    const State = Annotation.Root({
      count: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
    });
    const graph = new StateGraph(State)
      .addNode("one", () => ({ count: 1 }))
      .addNode("two", () => ({ count: 2 }))
      .addEdge("__start__", "one")
      .addEdge("one", "two")
      .addEdge("two", "__end__");
    const site = await openSite({ agent: graph.compile(), factory: () => graph });
    for (const assistant_id of ["agent", "factory"]) {
      const run = await begin(site, assistant_id, {
        assistant_id,
        input: { count: 10 },
        stream_mode: "updates",
      });
      const events = await eventsOf(site, run.run_id);
      expect(events.slice(1, -1).map(({ data }) => JSON.parse(data))).toEqual([
        { one: { count: 1 } },
        { two: { count: 2 } },
      ]);
      expect(await site.runs.wait(OWNER, run.run_id)).toEqual({ count: 13 });
    }
  });

  test("SV-12 and secrets: text is data, and what the environment hides stays hidden", async () => {
    const text = "a\n\nevent: evil\ndata: {}\n\n and key-1234567890";
    const site = await openSite(
      { agent: agentOf([say(text)]).agent },
      { environment: { SOME_TOKEN: "key-1234567890" } },
    );
    const run = await begin(site, "t1", { input: JSON.parse('{"messages":"hi","__proto__":{"evil":1}}') });
    const events = await eventsOf(site, run.run_id);
    expect(namesOf(events)).not.toContain("evil");
    expect(JSON.stringify(events)).not.toContain("key-1234567890");
    expect(JSON.stringify(events)).toContain("[SOME_TOKEN]");
    expect(events.every(({ data }) => !data.includes("\n"))).toBe(true);
  });
});
