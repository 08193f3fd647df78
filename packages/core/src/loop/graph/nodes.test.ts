/** `updateState(…, asNode)`: an update in a node's name leads where that node would have led. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command, MemorySaver, Overwrite } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { say } from "../../testing/index.ts";
import { type AgentOptions, anyTool, onThread, outline, resultsOf, scripted } from "../fixtures/agents.ts";

const T = onThread("t");
const calls = (...names: string[]): AIMessage =>
  new AIMessage({ content: "", tool_calls: names.map((name, i) => ({ name, args: {}, id: `call-${i}` })) });
const words = new AIMessage("That is all.");
const result = new ToolMessage({ content: "looked", tool_call_id: "call-0", name: "look" });
const hello = new HumanMessage("Hello.");

const hook = () => undefined;
const hooked = createMiddleware({
  name: "Hooked",
  beforeAgent: hook,
  beforeModel: hook,
  afterModel: hook,
  afterAgent: hook,
}) as never;

interface Row {
  readonly name: string;
  readonly options?: AgentOptions;
  /** Writes before the run, in the name of the input. */
  readonly given?: readonly unknown[];
  readonly asNode: string;
  readonly messages: readonly unknown[];
  readonly next: readonly string[];
}

const gate: AgentOptions = { interruptOn: { pay: true } };
const hooks: AgentOptions = { middleware: [hooked] };
const both: AgentOptions = { ...gate, ...hooks };

const ROWS: readonly Row[] = [
  { name: "the input", asNode: "__start__", messages: [hello], next: ["model_request"] },
  {
    name: "the input, with hooks",
    options: hooks,
    asNode: "__start__",
    messages: [hello],
    next: ["before_agent"],
  },
  { name: "before_agent", options: hooks, asNode: "before_agent", messages: [], next: ["before_model"] },
  { name: "before_model", options: hooks, asNode: "before_model", messages: [], next: ["model_request"] },
  { name: "a reply with words", asNode: "model_request", messages: [words], next: [] },
  {
    name: "a reply with calls",
    asNode: "model_request",
    messages: [calls("look", "look")],
    next: ["tools", "tools"],
  },
  {
    name: "a reply with a gated call",
    options: gate,
    asNode: "model_request",
    messages: [calls("look", "pay")],
    next: ["approval"],
  },
  {
    name: "a reply with no gated call",
    options: gate,
    asNode: "model_request",
    messages: [calls("look")],
    next: ["tools"],
  },
  {
    name: "a reply and its result",
    asNode: "model_request",
    messages: [calls("look"), result],
    next: ["model_request"],
  },
  {
    name: "a reply and one of two results",
    asNode: "model_request",
    messages: [calls("look", "look"), result],
    next: ["tools"],
  },
  {
    name: "a reply, with hooks",
    options: hooks,
    asNode: "model_request",
    messages: [calls("look")],
    next: ["after_model"],
  },
  {
    name: "after_model with calls",
    options: hooks,
    asNode: "after_model",
    messages: [calls("look")],
    next: ["tools"],
  },
  {
    name: "after_model with a gated call",
    options: both,
    asNode: "after_model",
    messages: [calls("pay")],
    next: ["approval"],
  },
  {
    name: "after_model with words",
    options: hooks,
    asNode: "after_model",
    messages: [words],
    next: ["after_agent"],
  },
  {
    name: "approval, which decides nothing about calls that were made before",
    options: gate,
    given: [hello, calls("pay", "look")],
    asNode: "approval",
    messages: [],
    next: ["approval"],
  },
  {
    name: "tools",
    given: [hello, calls("look")],
    asNode: "tools",
    messages: [result],
    next: ["model_request"],
  },
  {
    name: "tools, with hooks",
    options: hooks,
    given: [hello, calls("look")],
    asNode: "tools",
    messages: [result],
    next: ["before_model"],
  },
  { name: "after_agent", options: hooks, asNode: "after_agent", messages: [words], next: [] },
];

function agentFor(options: AgentOptions = {}) {
  const tools = [anyTool("look", () => "looked"), anyTool("pay", () => "paid")];
  return scripted(() => say("done"), { tools, checkpointer: new MemorySaver(), ...options });
}

describe("an update as", () => {
  test.each(ROWS)("$name", async ({ options, given = [hello], asNode, messages, next }) => {
    const { agent } = agentFor(options);
    if (asNode !== "__start__") await agent.updateState(T, { messages: given }, "__start__");
    await agent.updateState(T, { messages }, asNode);
    const snapshot = await agent.getState(T);
    expect([...snapshot.next].sort()).toEqual([...next].sort());
    expect(snapshot.values.messages.every((message: AIMessage) => Boolean(message.id))).toBe(true);
  });
});

describe("a run that goes on after an update", () => {
  test("runs the calls that were put into the model's mouth, then asks the model", async () => {
    const { agent, model } = agentFor();
    await agent.updateState(T, { messages: [hello, calls("look", "pay")] }, "model_request");
    const state = await agent.invoke(null, T);
    expect(outline(state.messages).slice(1)).toEqual([
      "ai → look pay",
      "tool look ok",
      "tool pay ok",
      "ai done",
    ]);
    expect([model.callCount, model.violations]).toEqual([1, []]);
  });

  test("asks a person about a gated call that was put into the model's mouth", async () => {
    const { agent } = agentFor(gate);
    await agent.updateState(T, { messages: [hello, calls("pay")] }, "model_request");
    const paused = await agent.invoke(null, T);
    expect(paused.__interrupt__?.[0]?.value.actionRequests).toMatchObject([{ name: "pay" }]);
    const state = await agent.invoke(new Command({ resume: { decisions: [{ type: "reject" }] } }), T);
    expect(resultsOf(state.messages)).toMatchObject([{ status: "error" }]);
  });

  test("a result given by hand is not run again", async () => {
    const { agent } = agentFor();
    await agent.updateState(T, { messages: [hello, calls("look")] }, "model_request");
    await agent.updateState(
      T,
      { messages: [new ToolMessage({ content: "by hand", tool_call_id: "call-0" })] },
      "tools",
    );
    const state = await agent.invoke(null, T);
    expect(resultsOf(state.messages).map((message) => message.content)).toEqual(["by hand"]);
    expect(outline(state.messages).at(-1)).toBe("ai done");
  });

  test("the whole list may be replaced", async () => {
    const { agent } = agentFor();
    await agent.invoke({ messages: [hello] }, T);
    await agent.updateState(T, { messages: new Overwrite([new HumanMessage("Anew.")]) }, "__start__");
    const state = await agent.invoke(null, T);
    expect(outline(state.messages)).toEqual(["human Anew.", "ai done"]);
  });

  test("a node that does not exist is refused", async () => {
    const { agent } = agentFor();
    await agent.invoke({ messages: [hello] }, T);
    await expect(agent.updateState(T, { messages: [] }, "nowhere")).rejects.toThrow(/nowhere/);
  });
});
