/** LangChain's humanInTheLoopMiddleware in our loop. (`interruptOn` is our own and tested elsewhere.) */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createMiddleware, humanInTheLoopMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, type Script, say, scriptedModel } from "../../testing/index.ts";

const ask = () => ({ messages: [new HumanMessage("Send it.")] });
const thread = { configurable: { thread_id: "approval" } };

function mailbox() {
  const sent: string[] = [];
  const send = tool(
    ({ to }) => {
      sent.push(to);
      return `sent to ${to}`;
    },
    { name: "send", description: "Sends a mail.", schema: z.object({ to: z.string() }) },
  );
  const look = tool(() => "looked", { name: "look", description: "Looks.", schema: z.object({}) });
  return { sent, tools: [send, look] };
}

function agentWith(script: Script, more: readonly ReturnType<typeof createMiddleware>[] = []) {
  const { sent, tools } = mailbox();
  const model = scriptedModel(script);
  const agent = createDeepAgent({
    model,
    tools,
    middleware: [...more, humanInTheLoopMiddleware({ interruptOn: { send: true } })],
    checkpointer: new MemorySaver(),
  });
  return { agent, model, sent };
}

const decide = (...decisions: unknown[]) => new Command({ resume: { decisions } });
const results = (messages: readonly unknown[]) =>
  messages.filter(ToolMessage.isInstance).map((message) => [message.text, message.status]);

describe("humanInTheLoopMiddleware", () => {
  test("a gated call waits, and the request tells what is asked", async () => {
    const { agent, sent } = agentWith([callTool("send", { to: "ann" }), say("done")]);
    const waiting = await agent.invoke(ask(), thread);
    expect(sent).toEqual([]);
    expect(waiting.__interrupt__).toHaveLength(1);
    expect(waiting.__interrupt__?.[0]?.value).toMatchObject({
      actionRequests: [{ name: "send", args: { to: "ann" } }],
      reviewConfigs: [{ actionName: "send", allowedDecisions: ["approve", "edit", "reject"] }],
    });
  });

  test("approve runs the call once", async () => {
    const { agent, sent, model } = agentWith([callTool("send", { to: "ann" }), say("done")]);
    await agent.invoke(ask(), thread);
    const result = await agent.invoke(decide({ type: "approve" }), thread);
    expect(sent).toEqual(["ann"]);
    expect(result.messages.at(-1)?.text).toBe("done");
    expect(result.__interrupt__).toBeUndefined();
    expect(model.callCount).toBe(2);
  });

  test("edit runs the call with the new arguments, and the thread remembers those", async () => {
    const { agent, sent, model } = agentWith([callTool("send", { to: "ann" }), say("done")]);
    await agent.invoke(ask(), thread);
    const editedAction = { name: "send", args: { to: "bob" } };
    const result = await agent.invoke(decide({ type: "edit", editedAction }), thread);
    expect(sent).toEqual(["bob"]);
    const asked = result.messages.filter(AIMessage.isInstance)[0];
    expect(asked?.tool_calls?.[0]?.args).toEqual({ to: "bob" });
    const seen = model.calls[1]?.messages.find(AIMessage.isInstance);
    expect(seen?.tool_calls?.[0]?.args).toEqual({ to: "bob" });
    const saved = (await agent.getState(thread)).values.messages.filter(AIMessage.isInstance)[0];
    expect(saved.tool_calls[0].args).toEqual({ to: "bob" });
  });

  test("reject answers the call with the reason and asks the model again", async () => {
    const { agent, sent } = agentWith([callTool("send", { to: "ann" }), say("I did not.")]);
    await agent.invoke(ask(), thread);
    const result = await agent.invoke(decide({ type: "reject", message: "Not her." }), thread);
    expect(sent).toEqual([]);
    expect(results(result.messages)).toEqual([["Not her.", "error"]]);
    expect(result.messages.at(-1)?.text).toBe("I did not.");
  });

  test("a rejection beside calls that need no approval leaves a valid thread", async () => {
    const { agent, sent, model } = agentWith([
      {
        toolCalls: [
          { name: "look", id: "l" },
          { name: "send", args: { to: "ann" }, id: "s" },
        ],
      },
      say("Understood."),
    ]);
    await agent.invoke(ask(), thread);
    const result = await agent.invoke(decide({ type: "reject" }), thread);
    expect(sent).toEqual([]);
    expect(result.messages.at(-1)?.text).toBe("Understood.");
    expect(model.violations).toEqual([]);
    const calls = result.messages.filter(AIMessage.isInstance).flatMap((message) => message.tool_calls ?? []);
    const answered = result.messages.filter(ToolMessage.isInstance).map((message) => message.tool_call_id);
    expect(answered.toSorted()).toEqual(calls.map((call) => call.id).toSorted());
  });

  test("calls that need no approval run beside an approved one", async () => {
    const { agent, sent } = agentWith([
      {
        toolCalls: [
          { name: "look", id: "l" },
          { name: "send", args: { to: "ann" }, id: "s" },
        ],
      },
      say("done"),
    ]);
    await agent.invoke(ask(), thread);
    const result = await agent.invoke(decide({ type: "approve" }), thread);
    expect(sent).toEqual(["ann"]);
    expect(results(result.messages).map(([text]) => text)).toEqual(["looked", "sent to ann"]);
  });

  test("hooks that ran before the question do not run again on the answer", async () => {
    const order: string[] = [];
    const noting = (name: string) =>
      createMiddleware({
        name,
        beforeModel: () => void order.push(`${name}.before`),
        afterModel: () => void order.push(`${name}.after`),
      });
    const { tools } = mailbox();
    const agent = createDeepAgent({
      model: scriptedModel([callTool("send", { to: "ann" }), say("done")]),
      tools,
      middleware: [
        noting("first"),
        humanInTheLoopMiddleware({ interruptOn: { send: true } }),
        noting("second"),
        noting("third"),
      ],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ask(), thread);
    const before = ["first.before", "second.before", "third.before"];
    expect(order).toEqual([...before, "third.after", "second.after"]);
    order.length = 0;
    await agent.invoke(decide({ type: "approve" }), thread);
    expect(order).toEqual(["first.after", ...before, "third.after", "second.after", "first.after"]);
  });

  test("what earlier hooks changed is there when the answer comes", async () => {
    const counting = createMiddleware({
      name: "counting",
      stateSchema: z.object({ turns: z.number().default(0) }),
      afterModel: (state) => ({ turns: state.turns + 1 }),
    });
    const { tools } = mailbox();
    const agent = createDeepAgent({
      model: scriptedModel([callTool("send", { to: "ann" }), say("done")]),
      tools,
      middleware: [humanInTheLoopMiddleware({ interruptOn: { send: true } }), counting],
      checkpointer: new MemorySaver(),
    });
    expect((await agent.invoke(ask(), thread)).turns).toBe(1);
    expect((await agent.invoke(decide({ type: "approve" }), thread)).turns).toBe(2);
  });
});
