/** replies that break off or say nothing. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { callTool, fault, type Reply, type ScriptedTurn, say } from "../../testing/index.ts";
import { type AgentState, anyTool, ask, onThread, outline, scripted } from "../fixtures/agents.ts";
import type { AgentGraph } from "../graph/agent-graph.ts";

const whole = { amount: 12_345, to: "Ann" };
/** Six characters a chunk: the head of the call, five pieces of arguments, the end. */
const CHUNK = 6;
const CUTS = [1, 2, 3, 4, 5];

/** Every way to run an agent that streams the model. */
const STREAMS: Record<string, (agent: AgentGraph, config: object) => Promise<unknown>> = {
  "stream messages": async (agent, config) => {
    for await (const _ of await agent.stream(ask(), { ...config, streamMode: "messages" }));
  },
  "stream all modes": async (agent, config) => {
    const streamMode = ["values", "updates", "messages", "custom"];
    for await (const _ of await agent.stream(ask(), { ...config, streamMode }));
  },
  "events v2": async (agent, config) => {
    for await (const _ of agent.streamEvents(ask(), { ...config, version: "v2" }));
  },
  "events v3": async (agent, config) => {
    const run = await agent.streamEvents(ask(), { ...config, version: "v3" });
    await run.output;
  },
};

function payer(...script: readonly (Reply | Error)[]) {
  const payments: unknown[] = [];
  const pay = anyTool("pay", (args) => {
    payments.push(args);
    return "paid";
  });
  return { payments, ...scripted(script, { tools: [pay], checkpointer: new MemorySaver() }, CHUNK) };
}

async function stateOf(agent: AgentGraph): Promise<AgentState> {
  return (await agent.getState(onThread("t"))).values;
}

/** Some providers repeat calls in the content: then each of them once. */
function expectOneBlockPerCall(messages: readonly BaseMessage[]): void {
  for (const { content, tool_calls: calls } of messages.filter((message) => AIMessage.isInstance(message))) {
    const blocks = Array.isArray(content) ? content.filter(({ type }) => /^tool_(use|call)$/.test(type)) : [];
    if (blocks.length > 0) expect(blocks.map(({ id }) => id)).toEqual(calls?.map(({ id }) => id));
  }
}

const cut = (after: number, silently: boolean, turn: ScriptedTurn = callTool("pay", whole)): Reply =>
  fault.cutStream({ after, silently, turn });

describe.each(Object.entries(STREAMS))("R-21 a stream cut inside a call's JSON, %s", (_, run) => {
  test.each(CUTS)("with an error after %i chunks: nothing runs, the model is asked again", async (after) => {
    const { agent, model, payments } = payer(cut(after, false), callTool("pay", whole), say("done"));
    await run(agent, onThread("t"));
    expect(payments).toEqual([whole]);
    expect(model.callCount).toBe(3);
    const { messages } = await stateOf(agent);
    expect(outline(messages)).toEqual(["human Go.", "ai → pay", "tool pay ok", "ai done"]);
  });

  test.each(CUTS)("silently after %i chunks: nothing runs, the model is told", async (after) => {
    const { agent, model, payments } = payer(cut(after, true), callTool("pay", whole), say("done"));
    await run(agent, onThread("t"));
    expect(payments).toEqual([whole]);
    expect([model.callCount, model.violations]).toEqual([3, []]);
    const { messages } = await stateOf(agent);
    expectOneBlockPerCall(messages);
    expect(outline(messages).slice(1)).toEqual([
      "ai → pay",
      "tool pay failed",
      "ai → pay",
      "tool pay ok",
      "ai done",
    ]);
  });
});

describe("R-21 more about cuts", () => {
  const run = STREAMS["stream messages"] as (typeof STREAMS)[string];

  test("a call that arrived whole before the cut runs, the one after it does not", async () => {
    const two = {
      toolCalls: [
        { name: "pay", args: whole },
        { name: "pay", args: { amount: 2 } },
      ],
    };
    const { agent, payments } = payer(cut(8, true, two), say("done"));
    await run(agent, onThread("t"));
    expect(payments).toEqual([whole]);
    expect(outline((await stateOf(agent)).messages).slice(2, 4)).toEqual(["tool pay ok", "tool pay failed"]);
  });

  test("a whole call without arguments runs, streamed or not", async () => {
    const turn = { toolCalls: [{ name: "pay", rawArgs: "" }] };
    const { agent, payments } = payer(turn, say("done"));
    await run(agent, onThread("t"));
    expect(payments).toEqual([{}]);
  });

  test("cuts without an end are a typed error, and the thread goes on from there", async () => {
    const cuts = [1, 2, 3].map((after) => cut(after, false));
    const { agent, payments } = payer(...cuts, callTool("pay", whole), say("done"));
    await expect(run(agent, onThread("t"))).rejects.toMatchObject({ code: "MODEL_CUT_OFF" });
    expect(payments).toEqual([]);
    const state = await agent.invoke(null, onThread("t"));
    expect(outline(state.messages)).toEqual(["human Go.", "ai → pay", "tool pay ok", "ai done"]);
    expect(payments).toEqual([whole]);
  });

  test("an answer that says no is not asked for again", async () => {
    const { agent, model } = payer(fault.status(400));
    await expect(run(agent, onThread("t"))).rejects.toMatchObject({ status: 400 });
    expect(model.callCount).toBe(1);
  });
});

const metadata = (responseMetadata: object, text = "half a"): ScriptedTurn => ({
  text,
  responseMetadata: responseMetadata as Record<string, unknown>,
});

type OutcomeRow = [name: string, reply: Reply, kind: string, detail?: RegExp];
const OUTCOMES: readonly OutcomeRow[] = [
  ["an empty reply", fault.empty(), "empty", /empty/],
  ["a blank reply", say(" \n"), "empty"],
  ["an empty list of blocks", { content: [] }, "empty"],
  ["only thinking", fault.onlyThinking(), "empty", /thought/],
  ["the output limit", fault.length(), "length", /output limit/],
  ["the output limit with no words yet", fault.length(""), "length"],
  ["Anthropic's output limit", metadata({ stop_reason: "max_tokens" }), "length"],
  ["Gemini's output limit", metadata({ finishReason: "MAX_TOKENS" }), "length"],
  ["the Responses API's limit", metadata({ incomplete_details: { reason: "max_output_tokens" } }), "length"],
  ["a content filter", fault.contentFilter(), "content_filter"],
  ["a content filter after some words", fault.contentFilter("So far"), "content_filter"],
  ["Gemini's safety filter", metadata({ finishReason: "SAFETY" }, ""), "content_filter", /safety/],
  ["a refusal", fault.refusal("I will not."), "refusal", /I will not\./],
  ["Anthropic's refusal", metadata({ stop_reason: "refusal" }, ""), "refusal"],
  ["a plain reply", say("done"), "done"],
];

describe.each(["invoked", "streamed"] as const)("R-30 a run says how it ended, %s", (way) => {
  test.each<OutcomeRow>(OUTCOMES)("%s", async (_, reply, kind, detail) => {
    const { agent, model } = scripted([callTool("work"), reply, say("Better now.")], {
      tools: [anyTool("work", () => "worked")],
      checkpointer: new MemorySaver(),
    });
    const state = await runFor(agent, way);
    expect(state.outcome?.kind).toBe(kind);
    if (detail) expect(state.outcome?.detail).toMatch(detail);
    const next = await agent.invoke(ask("And now?"), onThread("t"));
    expect(next.outcome).toEqual({ kind: "done" });
    expect(next.messages.at(-1).content).toBe("Better now.");
    expect([model.callCount, model.violations]).toEqual([3, []]);
  });
});

async function runFor(agent: AgentGraph, way: "invoked" | "streamed"): Promise<AgentState> {
  if (way === "invoked") return agent.invoke(ask(), onThread("t"));
  let state: unknown;
  const stream = await agent.stream(ask(), { ...onThread("t"), streamMode: ["values", "messages"] });
  for await (const [mode, chunk] of stream) if (mode === "values") state = chunk;
  return state as AgentState;
}
