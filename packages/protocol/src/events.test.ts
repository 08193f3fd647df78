import { MemorySaver } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { asked, team } from "./fold/agents-for-tests.ts";
import { record } from "./fold/record-for-tests.ts";
import { eventData, formatEventName, isEventKind, isEventOfModes, parseEventName } from "./index.ts";

test("every event of a real run is one of the kinds, and its schema takes it", async () => {
  const modes = ["values", "updates", "messages", "custom", "tasks", "debug", "checkpoints"];
  const agent = team({ checkpointer: new MemorySaver(), interruptOn: { write_file: true } });
  const events = await record(agent, asked("Go"), { modes });
  const kinds = new Set<string>();
  for (const { event, data } of events) {
    const { kind } = parseEventName(event);
    kinds.add(kind);
    if (!isEventKind(kind)) throw new Error(`Unknown kind ${kind}.`);
    expect(eventData[kind].safeParse(data).error, event).toBeUndefined();
  }
  expect([...kinds]).toEqual(
    expect.arrayContaining(["metadata", "values", "updates", "messages", "tasks", "end"]),
  );
});

test("a name is a kind and a namespace", () => {
  for (const name of ["values", "updates|tools:1", "messages/partial|tools:1|model_request:2"]) {
    const { kind, namespace } = parseEventName(name);
    expect(formatEventName(kind, namespace)).toBe(name);
  }
  expect(parseEventName("messages|tools:1|agent:2")).toEqual({
    kind: "messages",
    namespace: ["tools:1", "agent:2"],
  });
});

test("a reader gets the modes it asked for, and what belongs to no mode", () => {
  expect(isEventOfModes("values|tools:1", ["values"])).toBe(true);
  expect(isEventOfModes("values", ["updates"])).toBe(false);
  expect(isEventOfModes("messages", ["messages"])).toBe(false);
  expect(isEventOfModes("messages", ["messages-tuple"])).toBe(true);
  expect(isEventOfModes("messages/partial", ["messages"])).toBe(true);
  for (const name of ["metadata", "error", "end", "steer", "follow-up", "replaced", "unknown"])
    expect(isEventOfModes(name, [])).toBe(true);
});
