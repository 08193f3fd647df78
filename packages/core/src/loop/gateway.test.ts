/** whatever a tool throws or returns, its call gets one result and the run goes on. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool, StructuredTool } from "@langchain/core/tools";
import { Command, Overwrite } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { callTool } from "../testing/index.ts";
import { anyTool } from "./fixtures/agents.ts";
import { type Expected, type FaultRow, proveRow, WAYS } from "./fixtures/fault-row.ts";

const wait = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** Two calls: a sound one, and one of the tool under test in the middle of two sound ones. */
function row(name: string, body: (args: any, runtime: any) => unknown, expected: Expected, fields = {}): FaultRow {
  const calls = ["steady", "faulty", "steady"].map((tool, i) => ({ name: tool, id: `call-${i}` }));
  const fine: Expected = { failed: false, text: "steady is fine" };
  return {
    name,
    turn: { toolCalls: calls },
    tools: [anyTool("faulty", body, fields)],
    expected: [fine, expected, fine],
  };
}

function thrower(value: unknown): () => never {
  return () => {
    throw value;
  };
}

class QuotaExceeded extends Error {
  override readonly name = "QuotaExceeded";
}

const systemError = Object.assign(
  new Error("ENOENT: no such file or directory, open '/app/secrets/key.pem'"),
  { code: "ENOENT", errno: -2, syscall: "open", path: "/app/secrets/key.pem" },
);
const withStack = new Error("bad input\n    at parse (/home/ann/project/parse.js:3:9)\n    at node:internal/main:1:1");
const oddMessage = Object.assign(new Error("x"), { message: { text: "not a string" } });
const circular: Record<string, unknown> = { name: "ring" };
circular.self = circular;
const bare = Object.assign(Object.create(null), { self: undefined });
bare.self = bare;

const THROWN: readonly (readonly [string, unknown, RegExp])[] = [
  ["an Error", new Error("the printer is on fire"), /^Error: the printer is on fire$/],
  ["an Error without a message", new TypeError(), /TypeError/],
  ["a string", "out of paper", /out of paper/],
  ["an empty string", "", /without giving a reason/],
  ["undefined", undefined, /without giving a reason/],
  ["null", null, /without giving a reason/],
  ["a number", 42, /42/],
  ["a symbol", Symbol("odd"), /odd/],
  ["an object", { code: 7, reason: "no ink" }, /no ink/],
  ["an object with a message and a stack", { message: "jam", stack: withStack.message }, /jam/],
  ["an object that holds itself", circular, /./],
  ["an object without a prototype that holds itself", bare, /./],
  ["a subclass with a cause", new QuotaExceeded("2 of 2 used", { cause: new Error("secret") }), /2 of 2 used/],
  ["an Error whose message is an object", oddMessage, /not a string|Error/],
  ["an Error with a stack and paths in its message", withStack, /^Error: bad input$/],
  ["a system error with an absolute path", systemError, /ENOENT.*key\.pem/],
  ["a very long message", new Error("x".repeat(100_000)), /characters more/],
  ["an AbortError of its own", new DOMException("gave up", "AbortError"), /gave up/],
];

const FAILURES: readonly FaultRow[] = [
  ...THROWN.map(([name, value, text]) => row(`throws ${name}`, thrower(value), { text })),
  row("rejects late", () => wait(30).then(thrower(new Error("too late"))), { text: "too late" }),
  row("rejects at once", () => Promise.reject(new Error("no")), { text: "no" }),
  row(
    "is an async generator that throws",
    async function* () {
      yield "one";
      throw new Error("dried up");
    },
    { text: "dried up" },
  ),
  row("promises an artifact and gives none", () => "only text", { text: "two-tuple" }, ARTIFACT()),
];

const done = (text: RegExp | string, also?: Expected["also"]): Expected => ({
  failed: false,
  text,
  ...(also ? { also } : {}),
});
const answer = (id: string, content = "mine", more = {}): ToolMessage =>
  new ToolMessage({ content, tool_call_id: id, ...more });

function ARTIFACT(): object {
  return { responseFormat: "content_and_artifact" };
}

const RESULTS: readonly FaultRow[] = [
  row("returns undefined", () => undefined, done("")),
  row("returns null", () => null, done("null")),
  row("returns a number", () => 42, done(/^42$/)),
  row("returns an object", () => ({ a: 1 }), done(/^{"a":1}$/)),
  row("returns an array", () => [1, 2], done(/^\[1,2\]$/)),
  row("returns a bigint", () => 12n, done(/12/)),
  row("returns an object that holds itself", () => circular, done(/./)),
  row("returns an object no text can be made of", () => bare, { text: /./ }),
  row("returns a symbol", () => Symbol("odd"), done("")),
  row("returns a function", () => () => 1, done("")),
  row("returns a million characters", () => "x".repeat(1_000_000), done(/^x+$/)),
  row("returns several text blocks", () => [{ type: "text", text: "a" }, { type: "text", text: "b" }], done(/a.*b/)),
  row("returns an artifact", () => ["seen", { hidden: 1 }], done(/^seen$/, (r) => {
    expect(r.artifact).toEqual({ hidden: 1 });
  }), ARTIFACT()),
  row("is an async generator", async function* () { yield "one"; return "all"; }, done("all")),
  row("returns a ToolMessage for another call", () => answer("call-0"), done("mine")),
  row("returns a ToolMessage without a name", (_, r) => answer(r.toolCallId), done("mine")),
  row("returns a failed ToolMessage", (_, r) => answer(r.toolCallId, "no", { status: "error" }), { text: "no" }),
  row("returns an AIMessage", () => new AIMessage("hello"), done(/hello/)),
  row("returns a Command without messages", () => new Command({ update: {} }), done(/faulty is done/)),
  row("returns an empty Command", () => new Command({}), done(/faulty is done/)),
  row("returns a Command with its result", (_, r) => new Command({ update: { messages: [answer(r.toolCallId)] } }), done("mine")),
  row("returns a Command with the result of another call", () => new Command({ update: { messages: [answer("call-2", "forged")] } }), done(/faulty is done/)),
  row("returns a Command with two results", (_, r) => new Command({ update: { messages: [answer(r.toolCallId, "first"), answer(r.toolCallId, "second")] } }), done(/^first$/)),
  row("returns a Command with unknown keys", () => new Command({ update: { nonsense: 1, __proto__: 2 } }), done(/faulty is done/)),
  row("returns a Command with messages that are none", () => new Command({ update: { messages: [{ nonsense: true }] } }), { text: /./ }),
];
RESULTS.length;
void [HumanMessage, Overwrite, DynamicStructuredTool, StructuredTool, z, callTool];

describe.each(WAYS)("R-28 a tool that fails, %s", (way) => {
  test.each(FAILURES)("$name", (fault) => proveRow(fault, way));
});

describe.each(WAYS)("R-28 a tool with an odd result, %s", (way) => {
  test.each(RESULTS)("$name", (fault) => proveRow(fault, way));
});
