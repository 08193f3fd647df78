/** whatever a call looks like, it gets one result and the model gets another turn. */
import type { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { callTool, fault, type Reply, type ScriptedCall, say } from "../../testing/index.ts";
import { anyTool, ask, onThread, outline, resultsOf, scripted } from "../fixtures/agents.ts";
import { type Expected, type FaultRow, proveRow, WAYS } from "../fixtures/fault-row.ts";

/** Tools that ran, with their arguments. */
const ran: unknown[] = [];
beforeEach(() => {
  ran.length = 0;
});

function recording(name: string, schema: unknown) {
  const body = (args: unknown): string => {
    ran.push([name, args]);
    return `${name} ran`;
  };
  return tool(body as never, { name, description: `The tool ${name}.`, schema } as never);
}

const pay = recording(
  "pay",
  z.object({ amount: z.number().optional(), to: z.object({ iban: z.string() }).optional() }),
);
const strict = recording("strict", z.strictObject({ amount: z.number() }));
const asyncChecked = recording(
  "async_checked",
  z.object({ n: z.number().refine(async (n) => n > 5, "must be above 5") }),
);
const throwingSchema = recording(
  "throwing_schema",
  z.object({}).refine(() => {
    throw new Error("no such table in /home/ann/db.sqlite");
  }),
);
const JSON_SCHEMA = {
  type: "object",
  properties: {
    amount: { type: "number" },
    to: { type: "object", properties: { iban: { type: "string" } } },
  },
  required: ["amount"],
  additionalProperties: false,
};
const byJson = recording("by_json", JSON_SCHEMA);
const brokenSchema = recording("broken_schema", { type: "object", properties: { a: { $ref: "#/nowhere" } } });
const tools = [pay, strict, asyncChecked, throwingSchema, byJson, brokenSchema];

const fine: Expected = { failed: false, text: "steady is fine" };

/** The call alone: a turn of nothing but unusable calls goes back to the model. */
function refused(name: string, turn: Reply, text: RegExp): FaultRow {
  return { name, turn, tools, expected: [{ text }], also: () => expect(ran).toEqual([]) };
}

function refusedCall(name: string, call: ScriptedCall, text: RegExp): FaultRow {
  return refused(name, { toolCalls: [call] }, text);
}

const R22: readonly FaultRow[] = [
  refused(
    "JSON that breaks off",
    fault.malformedCall({ name: "pay", args: '{"amount": 1' }),
    /not valid JSON/,
  ),
  refused("JSON that is none", fault.malformedCall({ name: "pay", args: "amount=1" }), /not valid JSON/),
  refusedCall("a string", { name: "pay", args: "all of it" }, /must be a JSON object, but were a string/),
  refusedCall("an array", { name: "pay", args: [1] }, /must be a JSON object, but were an array/),
  refusedCall("null", { name: "pay", args: null }, /must be a JSON object, but were null/),
  refusedCall("a number", { name: "pay", args: 7 }, /must be a JSON object, but were a number/),
  refused(
    "cut off at the output limit",
    fault.length(callTool("pay", { amount: 1 })),
    /cut off at the model/,
  ),
  {
    name: "a broken call beside a sound one",
    turn: { toolCalls: [{ name: "steady" }, { name: "pay", rawArgs: "{" }] },
    tools,
    expected: [fine, { text: /not valid JSON/ }],
    also: () => expect(ran).toEqual([]),
  },
  {
    name: "two calls, the last cut off at the output limit",
    turn: fault.length({ toolCalls: [{ name: "steady" }, { name: "pay", args: { amount: 1 } }] }),
    tools,
    expected: [fine, { text: /cut off/ }],
    also: () => expect(ran).toEqual([]),
  },
];

const R23: readonly FaultRow[] = [
  refusedCall("an unknown tool", { name: "fly" }, /no tool 'fly'.*The tools are: .*pay.*steady/),
  refusedCall("the wrong case", { name: "Pay" }, /no tool 'Pay'\. Did you mean 'pay'\?/),
  refusedCall("an empty name", { name: "" }, /names no tool/),
  refusedCall("a blank name", { name: "  " }, /names no tool/),
  refusedCall("a name with spaces", { name: "pay all" }, /no tool 'pay all'/),
  refusedCall("a name in another script", { name: "zahlen für alle" }, /no tool 'zahlen für alle'/),
  refusedCall("a very long name", { name: "x".repeat(5_000) }, /^.{0,400}$/s),
  ...["__proto__", "constructor", "toString"].map((name) =>
    refusedCall(`the name ${name}`, { name }, new RegExp(`no tool '${name}'`)),
  ),
];

const HUGE = "x".repeat(10_000_000);
const PIECES = Array(1_200_000).fill("1234567");
/** LangChain parses all of the arguments again with every chunk. */
const chunkSize = 4_000_000;
const R24: readonly FaultRow[] = [
  refusedCall(
    "a zod schema",
    { name: "pay", args: { amount: "1" } },
    /'pay' are not valid[\s\S]*expected number[\s\S]*amount/,
  ),
  refusedCall("a nested field", { name: "pay", args: { to: { iban: 5 } } }, /expected string[\s\S]*to\.iban/),
  refusedCall("a missing field", { name: "strict", args: {} }, /expected number[\s\S]*amount/),
  refusedCall("an extra key", { name: "strict", args: { amount: 1, tip: 2 } }, /"tip"/),
  refusedCall("an asynchronous check", { name: "async_checked", args: { n: 1 } }, /must be above 5[\s\S]*n/),
  refusedCall("a check that throws", { name: "throwing_schema" }, /'throwing_schema' are not valid/),
  refusedCall("a JSON schema", { name: "by_json", args: { amount: "1" } }, /amount: .*number/),
  refusedCall("a JSON schema's missing field", { name: "by_json", args: {} }, /amount/),
  refusedCall("a JSON schema's extra key", { name: "by_json", args: { amount: 1, tip: 2 } }, /tip/),
  refusedCall("a JSON schema that is broken", { name: "broken_schema", args: { a: 1 } }, /\$ref/),
  {
    ...refusedCall(
      "10 MB of arguments",
      { name: "pay", args: { note: HUGE } },
      /too long: 1\d{7} characters/,
    ),
    chunkSize,
    also: (state) => {
      expect(ran).toEqual([]);
      expect(JSON.stringify(state.messages).length).toBeLessThan(10_000);
    },
  },
  {
    ...refusedCall("10 MB in many pieces", { name: "pay", args: { list: PIECES } }, /too long/),
    chunkSize,
  },
  {
    name: "an extra key the schema does not mind",
    turn: callTool("pay", { amount: 1, tip: 2 }),
    tools,
    expected: [{ failed: false, text: "pay ran" }],
    also: () => expect(ran).toEqual([["pay", { amount: 1 }]]),
  },
];

const twice = [
  { name: "steady", id: "same" },
  { name: "steady", id: "same" },
];
const steadyCall = (id: string | null): FaultRow["turn"] => callTool("steady", {}, id);
const R25: readonly FaultRow[] = [
  { name: "two calls with one id", turn: { toolCalls: twice }, expected: [fine, fine] },
  {
    name: "a broken and a sound call with one id",
    turn: {
      toolCalls: [
        { name: "steady", id: "a" },
        { name: "pay", id: "a", rawArgs: "{" },
      ],
    },
    tools,
    expected: [fine, { text: /not valid JSON/ }],
  },
];
const R26: readonly FaultRow[] = [
  { name: "no id", turn: steadyCall(null), expected: [fine] },
  { name: "an empty id", turn: steadyCall(""), expected: [fine] },
  { name: "an id no provider takes", turn: steadyCall("a b/c:ü"), expected: [fine] },
  { name: "a very long id", turn: steadyCall("i".repeat(200)), expected: [fine] },
  {
    name: "three calls without ids",
    turn: { toolCalls: [1, 2, 3].map(() => ({ name: "steady", id: null })) },
    expected: [fine, fine, fine],
  },
];

describe.each(WAYS)("R-22 arguments that are no JSON object, %s", (way) => {
  test.each(R22)("$name", (fault) => proveRow(fault, way));
});
describe.each(WAYS)("R-23 a tool that does not exist, %s", (way) => {
  test.each(R23)("$name", (fault) => proveRow(fault, way));
});
describe.each(WAYS)("R-24 arguments that do not fit the schema, %s", (way) => {
  test.each(R24)("$name", (fault) => proveRow(fault, way));
});
describe.each(WAYS)("R-25 ids that are used twice, %s", (way) => {
  test.each(R25)("$name", (fault) => proveRow(fault, way));
});
describe.each(WAYS)("R-26 ids that are missing or unusable, %s", (way) => {
  test.each(R26)("$name", (fault) => proveRow(fault, way));
});

describe("R-25 ids across turns", () => {
  test("an id used in an earlier turn is replaced, and each call has its own result", async () => {
    const { agent, model } = scripted(
      [callTool("count", { n: 1 }, "same"), callTool("count", { n: 2 }, "same"), say("done")],
      { tools: [anyTool("count", ({ n }) => `result ${n}`)], checkpointer: new MemorySaver() },
    );
    const state = await agent.invoke(ask(), onThread("t"));
    expect(resultsOf(state.messages).map((result) => result.content)).toEqual(["result 1", "result 2"]);
    expect(outline(state.messages)).toEqual([
      "human Go.",
      "ai → count",
      "tool count ok",
      "ai → count",
      "tool count ok",
      "ai done",
    ]);
    expect(model.violations).toEqual([]);
  });

  test("also when the earlier turn belongs to an earlier run, loaded from the saver", async () => {
    const checkpointer = new MemorySaver();
    const options = { tools: [anyTool("count", ({ n }) => `result ${n}`)], checkpointer };
    const turnOf = (n: number) => [callTool("count", { n }, "same"), say(`done ${n}`)];
    await scripted(turnOf(1), options).agent.invoke(ask(), onThread("t"));
    const second = scripted(turnOf(2), options);
    const state = await second.agent.invoke(ask(), onThread("t"));
    expect(resultsOf(state.messages).map((result) => result.content)).toEqual(["result 1", "result 2"]);
    expect(second.model.violations).toEqual([]);
  });

  test("content blocks that repeat the calls agree with the ids the calls were given", async () => {
    const content = [
      { type: "text", text: "Two." },
      { type: "tool_use", id: "same", name: "steady", input: {} },
      { type: "tool_use", id: "same", name: "steady", input: {} },
    ];
    const { agent, model } = scripted([{ content: content as never, toolCalls: twice }, say("done")], {
      tools: [anyTool("steady", () => "fine")],
    });
    const state = await agent.invoke(ask());
    const message = state.messages[1] as AIMessage;
    const ids = message.tool_calls?.map((call) => call.id);
    expect(new Set(ids).size).toBe(2);
    const blocks = message.content as { type: string; id?: string }[];
    expect(blocks.filter((block) => block.type === "tool_use").map((block) => block.id)).toEqual(ids);
    expect(model.violations).toEqual([]);
  });
});
