/** whatever a tool throws or returns, its call gets one result and the run goes on. */
import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { Command, Overwrite, REMOVE_ALL_MESSAGES, Send } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { callTool, say } from "../../testing/index.ts";
import { anyTool, ask, resultsOf, scripted } from "../fixtures/agents.ts";
import { type Expected, type FaultRow, proveRow, WAYS } from "../fixtures/fault-row.ts";

type Body = (args: any, runtime: any) => unknown;

const wait = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** A call of the tool under test between two sound ones. */
function row(name: string, body: Body, expected: Expected, fields: object = {}): FaultRow {
  return rowOf(name, anyTool("faulty", body, fields), expected);
}

function rowOf(name: string, faulty: unknown, expected: Expected): FaultRow {
  const calls = ["steady", "faulty", "steady"].map((tool, i) => ({ name: tool, id: `call-${i}` }));
  const fine: Expected = { failed: false, text: /^steady is fine$/ };
  return { name, turn: { toolCalls: calls }, tools: [faulty], expected: [fine, expected, fine] };
}

function thrower(value: unknown): () => never {
  return () => {
    throw value;
  };
}

class QuotaExceeded extends Error {
  override readonly name = "QuotaExceeded";
}

const STACK = "bad input\n    at parse (/home/ann/project/parse.js:3:9)\n    at node:internal/main:1:1";
const noSuchFile = Object.assign(new Error("ENOENT: no such file or directory, open '/app/keys/key.pem'"), {
  code: "ENOENT",
  syscall: "open",
  path: "/app/keys/key.pem",
});
const oddMessage = Object.assign(new Error("x"), { message: { text: "no string" } });
const hostile = {
  get message(): string {
    throw new Error("do not look");
  },
};
const circular: Record<string, unknown> = { name: "ring" };
circular.self = circular;
/** Neither JSON nor String can make text of it. */
const textless = Object.create(null) as Record<string, unknown>;
textless.self = textless;
const ARTIFACT = { responseFormat: "content_and_artifact" };

const THROWN: readonly (readonly [string, unknown, RegExp])[] = [
  ["an Error", new Error("the printer is on fire"), /^Error: the printer is on fire$/],
  ["an Error without a message", new TypeError(), /TypeError/],
  ["a string", "out of paper", /out of paper/],
  ["an empty string", "", /without giving a reason/],
  ["undefined", undefined, /without giving a reason/],
  ["null", null, /without giving a reason/],
  ["a function", () => 1, /without giving a reason/],
  ["a number", 42, /42/],
  ["a symbol", Symbol("odd"), /odd/],
  ["an object", { code: 7, reason: "no ink" }, /no ink/],
  ["an object with a message and a stack", { message: "jam", stack: STACK }, /^Error: jam$/],
  ["an object that holds itself", circular, /without giving a reason/],
  ["an object no text can be made of", textless, /without giving a reason/],
  ["an object that throws when it is read", hostile, /without giving a reason/],
  ["a subclass with a cause", new QuotaExceeded("2 of 2", { cause: new Error("secret") }), /^Error: 2 of 2$/],
  ["an Error whose message is an object", oddMessage, /no string/],
  ["an Error with a stack in its message", new Error(STACK), /^Error: bad input$/],
  ["a system error with an absolute path", noSuchFile, /ENOENT.*'…\/key\.pem'/],
  ["a very long message", new Error("x".repeat(100_000)), /^.{4000,4100}characters more\)$/],
  ["an AbortError of its own", new DOMException("gave up", "AbortError"), /gave up/],
];

const FAILURES: readonly FaultRow[] = [
  ...THROWN.map(([name, value, text]) => row(`throws ${name}`, thrower(value), { text })),
  row("rejects late", () => wait(30).then(thrower(new Error("too late"))), { text: "too late" }),
  row("rejects at once", () => Promise.reject(new Error("no")), { text: "no" }),
  row("is an async generator that throws", dryingUp, { text: "dried up" }),
  row("promises an artifact and gives none", () => "only text", { text: "two-tuple" }, ARTIFACT),
  rowOf("is no LangChain tool and throws", handMade(thrower("no luck")), { text: "no luck" }),
  rowOf(
    "is no LangChain tool and returns what has no text",
    handMade(() => circular),
    { text: "circular" },
  ),
];

async function* dryingUp(): AsyncGenerator<string> {
  yield "one";
  throw new Error("dried up");
}

async function* counting(): AsyncGenerator<string, string> {
  yield "one";
  return "all";
}

/** The least that can be called a tool. */
function handMade(invoke: () => unknown): object {
  const schema = { type: "object", properties: {} };
  return { name: "faulty", description: "By hand.", schema, invoke: async () => invoke() };
}

const answer = (id: string, content = "mine", more: object = {}): ToolMessage =>
  new ToolMessage({ content, tool_call_id: id, ...more });
const command = (...messages: unknown[]): Command => new Command({ update: { messages } });

/** Values that the tool returned, and the text the model must read. */
const RETURNED: readonly (readonly [string, Body, RegExp])[] = [
  ["undefined", () => undefined, /^$/],
  ["null", () => null, /^null$/],
  ["a number", () => 42, /^42$/],
  ["an object", () => ({ a: 1 }), /^{"a":1}$/],
  ["an array", () => [1, 2], /^\[1,2\]$/],
  ["a bigint", () => 12n, /^12$/],
  ["an object that holds itself", () => circular, /./],
  ["a symbol", () => Symbol("odd"), /^$/],
  ["a function", () => () => 1, /^$/],
  ["a million characters", () => "x".repeat(1_000_000), /^x{1000}/],
  ["several text blocks", () => [text("a"), text("b")], /"a".*"b"/],
  ["the last value of an async generator", counting, /^all$/],
  ["a ToolMessage for another call", () => answer("call-0"), /^mine$/],
  ["a ToolMessage without an id", () => answer(""), /^mine$/],
  ["a ToolMessage without a name", (_, runtime) => answer(runtime.toolCallId), /^mine$/],
  ["an AIMessage", () => new AIMessage("hello"), /hello/],
  ["a Command without messages", () => new Command({ update: {} }), /faulty is done/],
  ["an empty Command", () => new Command({}), /faulty is done/],
  ["a Command with its result", (_, runtime) => command(answer(runtime.toolCallId)), /^mine$/],
  ["a Command with another call's result", () => command(answer("call-2", "forged")), /faulty is done/],
  ["a Command with two results", (_, { toolCallId: id }) => command(answer(id), answer(id, "no")), /^mine$/],
  ["a Command with unknown keys", () => new Command({ update: { nonsense: 1 } }), /faulty is done/],
  ["a Command that overwrites the messages", overwriting, /faulty is done/],
  ["a Command that removes and restores all messages", restoring, /faulty is done/],
];

function text(words: string): object {
  return { type: "text", text: words };
}

function overwriting(_: unknown, runtime: { state: { messages: unknown[] } }): Command {
  return new Command({ update: { messages: new Overwrite(runtime.state.messages) } });
}

function restoring(_: unknown, runtime: { state: { messages: unknown[] } }): Command {
  return command(new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), ...runtime.state.messages);
}

const RESULTS: readonly FaultRow[] = [
  ...RETURNED.map(([name, body, words]) => row(`returns ${name}`, body, { failed: false, text: words })),
  row("returns what has no text", () => textless, { text: /convert object to primitive/ }),
  row("returns an artifact", () => ["seen", { hidden: 1 }], ARTIFACT_SEEN(), ARTIFACT),
  row("returns a failed ToolMessage", () => answer("call-1", "no", { status: "error" }), { text: /^no$/ }),
  row("returns a Command with messages that are none", () => command({ nonsense: true }), {
    text: /are none/,
  }),
  row("returns a Command to nowhere", () => new Command({ goto: "nowhere" }), { text: /'nowhere'/ }),
  row("returns a Send to nowhere", () => new Command({ goto: new Send("nowhere", {}) }), {
    text: /'nowhere'/,
  }),
];

function ARTIFACT_SEEN(): Expected {
  const also = (result: ToolMessage): void => expect(result.artifact).toEqual({ hidden: 1 });
  return { failed: false, text: /^seen$/, also };
}

describe.each(WAYS)("R-28 a tool that fails, %s", (way) => {
  test.each(FAILURES)("$name", (fault) => proveRow(fault, way));
});

describe.each(WAYS)("R-28 a tool with an odd result, %s", (way) => {
  test.each(RESULTS)("$name", (fault) => proveRow(fault, way));
});

describe("R-28 results of one tool", () => {
  test("one message object returned for every call answers each of them", async () => {
    const always = new ToolMessage({ content: "the same", tool_call_id: "?", id: "constant" });
    const { agent, model } = scripted(
      [{ toolCalls: [{ name: "same" }, { name: "same" }] }, callTool("same"), say("done")],
      { tools: [anyTool("same", () => always)] },
    );
    const state = await agent.invoke(ask());
    const results = resultsOf(state.messages);
    expect(results.map((result) => result.content)).toEqual(["the same", "the same", "the same"]);
    expect(new Set(results.map((result) => result.id)).size).toBe(3);
    expect(always.tool_call_id).toBe("?");
    expect(model.violations).toEqual([]);
  });

  test("two commands of one turn may both replace the messages", async () => {
    const { agent } = scripted(
      [{ toolCalls: [{ name: "replace" }, { name: "replace" }, { name: "other" }] }, say("done")],
      { tools: [anyTool("replace", overwriting), anyTool("other", () => "other")] },
    );
    const state = await agent.invoke(ask());
    const words = resultsOf(state.messages).map((result) => result.content);
    expect(words).toEqual(["replace is done.", "replace is done.", "other"]);
  });

  test("a command's other messages stand behind all results of the turn", async () => {
    const { agent } = scripted([{ toolCalls: [{ name: "add" }, { name: "add" }] }, say("done")], {
      tools: [anyTool("add", () => command(new HumanMessage("note")))],
    });
    const state = await agent.invoke(ask());
    expect(state.messages.map((message: AIMessage) => message.type)).toEqual([
      ...["human", "ai", "tool", "tool", "human", "human", "ai"],
    ]);
  });

  test("a command that ends the run still says how it ended", async () => {
    const { agent, model } = scripted([callTool("stop")], {
      tools: [anyTool("stop", () => new Command({ goto: "__end__" }))],
    });
    const state = await agent.invoke(ask());
    expect(model.callCount).toBe(1);
    expect(state.outcome).toEqual({ kind: "done" });
  });

  test("a returnDirect tool ends the run, and a failed one gives the model another turn", async () => {
    const direct = anyTool("direct", ({ fail }) => (fail ? thrower(new Error("no"))() : "the answer"), {
      returnDirect: true,
    });
    const ended = scripted([callTool("direct")], { tools: [direct] });
    const state = await ended.agent.invoke(ask());
    expect(state.messages.at(-1)).toMatchObject({ type: "tool", content: "the answer" });
    expect([ended.model.callCount, state.outcome]).toEqual([1, { kind: "done" }]);
    const failed = scripted([callTool("direct", { fail: true }), say("sorry")], { tools: [direct] });
    expect((await failed.agent.invoke(ask())).messages.at(-1).content).toBe("sorry");
  });
});
