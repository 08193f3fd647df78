/** JSON that a model, a tool or a caller brings is the same after a restart: data is never read as a mark. */
import { HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, InMemoryStore, interrupt } from "@langchain/langgraph";
import { type BaseCheckpointSaver, type BaseStore, emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { createDeepAgent } from "deepwright";
import { callTool, type Script, say, scriptedModel } from "deepwright/testing";
import fc from "fast-check";
import { createMiddleware } from "langchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { PostgresSaver } from "../postgres/index.ts";
import { describeValue } from "../saver/describe-for-tests.ts";
import { holds } from "../saver/property-for-tests.ts";
import { SharedMemorySaver } from "../saver/shared-memory-saver.ts";
import { SharedSaver } from "../saver/shared-saver.ts";
import { LOOK_ALIKES } from "../saver/values-for-tests.ts";
import { SqliteSaver } from "../sqlite/index.ts";
import { scratchFile } from "../sqlite/scratch-for-tests.ts";
import { PostgresStore } from "../store/postgres-store.ts";
import { SqliteStore } from "../store/sqlite-store.ts";
import { type TestDatabase, testDatabase } from "../test-support/postgres.ts";
import { anyJson, type JsonValue } from "./json-for-tests.ts";

interface Place {
  readonly saver: SharedSaver;
  readonly store: BaseStore;
  readonly close: () => Promise<void>;
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  memory: async () => {
    const saver = new SharedMemorySaver();
    return { saver, store: new InMemoryStore(), close: () => saver.close() };
  },
  SQLite: async () => {
    const path = scratchFile();
    const saver = await SqliteSaver.open(path);
    const store = await SqliteStore.open(path);
    return { saver, store, close: () => Promise.all([saver.close(), store.close()]).then(() => {}) };
  },
  Postgres: async () => {
    const database: TestDatabase = await testDatabase();
    const saver = await PostgresSaver.open(database.url);
    const store = await PostgresStore.open(database.url);
    const close = async () => {
      await Promise.all([saver.close(), store.close()]);
      await database.drop();
    };
    return { saver, store, close };
  },
};

/** LangChain takes lists for blocks of content. */
function answerOf(json: JsonValue): JsonValue {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json : { json };
}

/** Calls a tool that keeps its arguments, one that answers with the value, and one that asks a person. */
function agentOn(checkpointer: BaseCheckpointSaver, json: JsonValue, given: unknown[]) {
  const schema = z.object({ value: z.any() });
  const keep = tool(
    ({ value }) => {
      given.push(value);
      return [JSON.stringify({ value }), { value }];
    },
    { name: "keep", description: "Keeps.", schema, responseFormat: "content_and_artifact" },
  );
  const answer = tool(({ value }) => answerOf(value), { name: "answer", description: "Answers.", schema });
  const ask = tool(
    ({ value }) => {
      given.push(interrupt({ value }));
      return "asked";
    },
    { name: "ask", description: "Asks.", schema },
  );
  const turns = [
    callTool("keep", { value: json }, "call-keep"),
    callTool("answer", { value: json }, "call-answer"),
    callTool("write_file", { file_path: "/a.json", content: JSON.stringify(json) }, "call-file"),
    callTool("write_todos", { todos: [{ content: JSON.stringify(json), status: "pending" }] }, "call-todos"),
    callTool("ask", { value: json }, "call-ask"),
    say("done"),
  ];
  const script: Script = ({ messages }) => turns[messages.filter(({ type }) => type === "tool").length]!;
  const note = createMiddleware({ name: "note", stateSchema: z.object({ note: z.any().optional() }) });
  return createDeepAgent({
    model: scriptedModel(script),
    tools: [keep, answer, ask],
    middleware: [note],
    checkpointer,
  });
}

/** Everything of a state in which the value is, by its place. */
async function positionsOf(
  agent: ReturnType<typeof agentOn>,
  thread: string,
): Promise<Record<string, unknown>> {
  const { values, tasks } = (await agent.getState({ configurable: { thread_id: thread } })) as any;
  const results = values.messages.filter(({ type }: { type: string }) => type === "tool") as ToolMessage[];
  const result = (id: string) => results.find(({ tool_call_id }) => tool_call_id === id);
  const calls = values.messages.flatMap((message: any) => message.tool_calls ?? []);
  return {
    args: calls.filter(({ args }: any) => Object.hasOwn(args, "value")).map(({ args }: any) => args.value),
    artifact: result("call-keep")?.artifact?.value,
    content: JSON.parse(String(result("call-keep")?.content)).value,
    answer: JSON.parse(String(result("call-answer")?.content)),
    file: [values.files?.["/a.json"]?.content].flat().join("\n"),
    todo: values.todos?.[0]?.content,
    note: values.note?.value,
    message: values.messages[0].additional_kwargs.value,
    interrupts: tasks.flatMap((task: any) => task.interrupts.map(({ value }: any) => value.value)),
  };
}

function sorted(record: object | undefined): unknown {
  return Object.entries(record ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
}

describe.each(Object.entries(PLACES))("any JSON in %s", (_, open) => {
  let place: Place;
  let threads = 0;
  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.close());

  /** A saver that has not seen the thread. */
  const fresh = (): SharedSaver => new SharedSaver(place.saver.storage);

  async function checkAgent(json: JsonValue): Promise<void> {
    threads += 1;
    const given: unknown[] = [];
    const thread = `thread-${threads}`;
    const config = { configurable: { thread_id: thread } };
    const agent = agentOn(place.saver, json, given);
    const input = new HumanMessage({ content: "Begin.", additional_kwargs: { value: json } });
    await agent.invoke({ messages: [input], note: { value: json } } as never, config);
    const text = JSON.stringify(json);
    const waiting = {
      args: [json, json, json],
      artifact: json,
      content: json,
      answer: answerOf(json),
      file: text,
      todo: text,
      note: json,
      message: json,
      interrupts: [json],
    };
    const reloaded = agentOn(fresh(), json, given);
    expect(describeValue(await positionsOf(reloaded, thread))).toBe(describeValue(waiting));
    await reloaded.invoke(new Command({ resume: { value: json } }), config);
    expect(describeValue(given)).toBe(describeValue([json, { value: json }]));
    await reloaded.updateState(config, { note: { value: [json] } } as never);
    const last = await positionsOf(agentOn(fresh(), json, []), thread);
    expect(describeValue(last.note)).toBe(describeValue([json]));
  }

  async function checkMetadata(json: JsonValue, step: JsonValue): Promise<void> {
    const own = typeof json === "object" && json !== null && !Array.isArray(json) ? json : {};
    const metadata = { ...own, source: "update", parents: {}, value: json, step } as never;
    const checkpoint = emptyCheckpoint();
    const config = { configurable: { thread_id: "metadata", checkpoint_ns: "" } };
    await place.saver.put(config, checkpoint, metadata);
    const at = { configurable: { ...config.configurable, checkpoint_id: checkpoint.id } };
    const found = (await fresh().getTuple(at))?.metadata;
    expect(describeValue(sorted(found))).toBe(describeValue(sorted(metadata)));
  }

  async function checkStore(value: JsonValue): Promise<void> {
    await place.store.put(["any"], "key", { value });
    expect(describeValue((await place.store.get(["any"], "key"))?.value)).toBe(describeValue({ value }));
    const [found] = await place.store.search(["any"]);
    expect(describeValue(found?.value)).toBe(describeValue({ value }));
  }

  test("comes back from args, results, artifacts, files, todos, states and interrupts", async () => {
    await holds(fc.asyncProperty(anyJson, checkAgent), 20);
  });

  test("comes back from metadata, whatever its keys are, and from the store", async () => {
    await holds(fc.asyncProperty(anyJson, anyJson, checkMetadata), 40);
    await holds(fc.asyncProperty(anyJson, checkStore), 40);
  });

  test("comes back if it looks like a mark", async () => {
    const marks = LOOK_ALIKES as readonly JsonValue[];
    for (const json of [[...marks], ...marks.filter((mark) => JSON.stringify(mark).includes("lg_name"))])
      await checkAgent(json);
    for (const json of marks) await checkMetadata(json, json);
    for (const step of [null, "1", 1.5, [], {}]) await checkMetadata({}, step);
    for (const json of marks) await checkStore(json);
  });
});
